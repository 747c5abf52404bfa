package term

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/text/unicode/bidi"
)

// Marks of the bidirectional algorithm (UAX #9) that take no cells. The isolates, which are newer, some terminals draw as boxes.
const (
	leftToRightMark      = "\u200e"
	rightToLeftEmbedding = "\u202b"
	popDirection         = "\u202c"
)

// KeepPlaces returns rows of the screen, which may have sequences, for terminals that reorder text, such as those of
// GNOME and KDE: to them, words from right to left in two columns or panes are one text, whose parts change places. It
// puts marks around each part with such words. Parts are divided by two spaces, or by what is drawn.
func KeepPlaces(rows string) string {
	if !strings.ContainsFunc(rows, func(r rune) bool { return direction(r) < 0 }) {
		return rows
	}
	var out strings.Builder
	kept := 0           // bytes of rows that are written
	from, to := -1, 0   // the part
	spaces := 0         // after it
	right, left := 0, 0 // letters in it, by direction
	end := func() {
		if right > 0 {
			before, after := leftToRightMark, leftToRightMark
			if right >= left {
				before, after = before+rightToLeftEmbedding, popDirection+after
			}
			out.WriteString(rows[kept:from] + before + rows[from:to] + after)
			kept = to
		}
		from, spaces, right, left = -1, 0, 0, 0
	}
	var state byte
	for i := 0; i < len(rows); {
		seq, width, n, next := ansi.DecodeSequence(rows[i:], state, nil)
		r, _ := utf8.DecodeRuneInString(seq)
		i, state = i+n, next
		switch {
		case r == '\n', r >= '─' && r <= '◿': // borders, bars, dots
			end()
		case width == 0:
		case r == ' ':
			if spaces++; spaces == 2 {
				end()
			}
		default:
			if spaces = 0; from < 0 {
				from = i - n
			}
			if to = i; r == '…' { // of a text that is cut, beside a time
				spaces = 1
			}
			switch d := direction(r); {
			case d < 0:
				right++
			case d > 0:
				left++
			}
		}
	}
	end()
	return out.String() + rows[kept:]
}

// direction is 1 of a letter that is read to the right, -1 of one that is read to the left, else 0.
func direction(r rune) int {
	p, _ := bidi.LookupRune(r)
	switch p.Class() {
	case bidi.L:
		return 1
	case bidi.R, bidi.AL:
		return -1
	}
	return 0
}
