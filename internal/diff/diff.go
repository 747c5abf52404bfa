// Package diff finds how two texts differ, by words.
package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
	uax29 "github.com/clipperhouse/uax29/v2/words"
)

// Passage is adjacent lines that are the same in both texts, or that differ: those words are marked.
type Passage struct {
	Changed bool
	Lines   [2][]string // of both texts; without those of the second where they are equal
}

// Lines finds the passages in which two texts are equal and in which they differ. Mark marks words that differ in one of them,
// 0 or 1.
func Lines(before, after []string, mark func(text int, words string) string) []Passage {
	var all []Passage
	at := 0
	same := func(to int) {
		if at < to {
			all = append(all, Passage{Lines: [2][]string{before[at:to]}})
		}
	}
	for _, d := range lcs.DiffLines(before, after) {
		same(d.Start)
		at = d.End
		all = append(all, Passage{true, compareWords(before[d.Start:d.End], after[d.ReplStart:d.ReplEnd], mark)})
	}
	same(len(before))
	return all
}

// compareWords marks the words in which lines differ. Where lines have little in common, or there are none
// to compare them with, no word is marked: all of them differ.
func compareWords(before, after []string, mark func(int, string) string) [2][]string {
	a, b := words(before), words(after)
	changedA, changedB := make([]bool, len(a)), make([]bool, len(b))
	for _, d := range lcs.DiffLines(a, b) {
		for n := d.Start; n < d.End; n++ {
			changedA[n] = true
		}
		for n := d.ReplStart; n < d.ReplEnd; n++ {
			changedB[n] = true
		}
	}
	if alike(a, changedA) && alike(b, changedB) {
		return [2][]string{join(0, a, changedA, mark), join(1, b, changedB, mark)}
	}
	return [2][]string{before, after}
}

// words are the words, spaces and signs of lines, as UAX #29 has them, with a newline after each line.
func words(lines []string) []string {
	var all []string
	for _, l := range lines {
		for w := uax29.FromString(l); w.Next(); {
			all = append(all, w.Value())
		}
		all = append(all, "\n")
	}
	return all
}

// alike reports whether at least a third of what is not space is unchanged.
func alike(words []string, changed []bool) bool {
	same, all := 0, 0
	for n, w := range words {
		if strings.TrimSpace(w) != "" {
			all += len(w)
			if !changed[n] {
				same += len(w)
			}
		}
	}
	return all > 0 && 3*same >= all
}

// join joins words to lines.
func join(side int, words []string, changed []bool, mark func(int, string) string) []string {
	var text, run strings.Builder // run is the adjacent words that differ
	for n, w := range words {
		if changed[n] && w != "\n" {
			run.WriteString(w)
			continue
		}
		if run.Len() > 0 {
			text.WriteString(mark(side, run.String()))
		}
		text.WriteString(w)
		run.Reset()
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}
