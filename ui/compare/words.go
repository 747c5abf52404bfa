package compare

import (
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
	"github.com/clipperhouse/uax29/v2/words"
)

// compareWords marks the words in which lines differ. Where lines have little in common, or there are none
// to compare them with, no word is marked: all of them differ.
func compareWords(before, after []string) [2][]line {
	a, b := tokens(before), tokens(after)
	diffs := lcs.DiffLines(a, b)
	var changed [2][]bool
	changed[0], changed[1] = make([]bool, len(a)), make([]bool, len(b))
	for _, d := range diffs {
		mark(changed[0][d.Start:d.End])
		mark(changed[1][d.ReplStart:d.ReplEnd])
	}
	if alike(a, changed[0]) && alike(b, changed[1]) {
		return [2][]line{runs(a, changed[0]), runs(b, changed[1])}
	}
	return [2][]line{whole(before), whole(after)}
}

func mark(tokens []bool) {
	for n := range tokens {
		tokens[n] = true
	}
}

// tokens are the words, spaces and signs of lines, as UAX #29 has them, with a newline after each line.
func tokens(lines []string) []string {
	var all []string
	for _, l := range lines {
		for w := words.FromString(l); w.Next(); {
			all = append(all, w.Value())
		}
		all = append(all, "\n")
	}
	return all
}

// alike reports whether at least a third of what is not space is unchanged.
func alike(tokens []string, changed []bool) bool {
	same, all := 0, 0
	for n, t := range tokens {
		if strings.TrimSpace(t) != "" {
			all += len(t)
			if !changed[n] {
				same += len(t)
			}
		}
	}
	return all > 0 && 3*same >= all
}

// runs joins tokens to lines of runs.
func runs(tokens []string, changed []bool) []line {
	var lines []line
	var l line
	for n, t := range tokens {
		if t == "\n" {
			lines, l = append(lines, l), nil
		} else {
			l = add(l, t, changed[n])
		}
	}
	return lines
}
