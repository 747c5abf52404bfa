package term

import (
	"cmp"
	"encoding/binary"
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
	if !hasRightToLeft(rows) {
		return rows
	}
	var out strings.Builder
	for row := range strings.Lines(rows) {
		if hasRightToLeft(row) {
			row = keepPlaces(row)
		}
		out.WriteString(row)
	}
	return out.String()
}

// hasRightToLeft reports whether a text has words from right to left. It reads every frame: what is ASCII is skipped, and only
// what may begin such a letter in UTF-8 is looked up.
func hasRightToLeft(text string) bool {
	const high = 0x8080808080808080
	for i := 0; i < len(text); i++ {
		for i+8 < len(text) && binary.LittleEndian.Uint64([]byte(text[i:i+8]))&high == 0 {
			i += 8
		}
		if c := text[i]; c >= 0xd6 && (c <= 0xe0 || c >= 0xef) {
			if r, _ := utf8.DecodeRuneInString(text[i:]); direction(r) < 0 {
				return true
			}
		}
	}
	return false
}

// keepPlaces puts marks around the parts of a row.
func keepPlaces(row string) string {
	var out strings.Builder
	kept := 0           // bytes of row that are written
	from, to := -1, 0   // the part
	spaces := 0         // after it
	right, left := 0, 0 // letters in it, by direction
	first := 0          // direction of its first
	end := func() {
		if right > 0 {
			before, after := leftToRightMark, leftToRightMark
			if right >= left || first < 0 { // as in a label before an address
				before, after = before+rightToLeftEmbedding, popDirection+after
			}
			out.WriteString(row[kept:from] + before + row[from:to] + after)
			kept = to
		}
		from, spaces, right, left, first = -1, 0, 0, 0, 0
	}
	var state byte
	for i := 0; i < len(row); {
		seq, width, n, next := ansi.DecodeSequence(row[i:], state, nil)
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
			d := direction(r)
			first = cmp.Or(first, d)
			switch {
			case d < 0:
				right++
			case d > 0:
				left++
			}
		}
	}
	end()
	return out.String() + row[kept:]
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
