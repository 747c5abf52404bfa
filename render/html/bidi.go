package html

import (
	"slices"
	"strings"

	"mayfly/render/doc"
)

// The characters that override the direction of those that follow, and that end it (UAX #9).
const (
	rightToLeftOverride = "\u202e"
	popDirection        = "\u202c"
)

// turned returns text as it is read where its direction is overridden, and counts it: letters
// written backwards, which look right, escape those who search for words.
func (b *builder) turned(s string, whole bool) string {
	if whole {
		return b.reversed(s)
	}
	before, s, found := strings.Cut(s, rightToLeftOverride)
	if !found {
		return before
	}
	var out strings.Builder
	for out.WriteString(before); found; {
		var inside, outside string
		inside, s, found = strings.Cut(s, rightToLeftOverride)
		inside, outside, _ = strings.Cut(inside, popDirection)
		out.WriteString(b.reversed(inside))
		out.WriteString(outside)
	}
	return out.String()
}

// reversed returns text backwards, unless it is of a script that is written from right to left.
func (b *builder) reversed(s string) string {
	if strings.TrimSpace(s) == "" || doc.RightToLeft(s) {
		return s
	}
	b.doc.Reversed++
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}
