package clean

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// rightToLeftOverride makes the characters after it run from right to left (UAX #9), up to the next
// of directional or the end of the line.
const (
	rightToLeftOverride = "\u202e"
	directional         = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\n\r\u2028\u2029"
)

// Turned returns text as it is read where its direction is overridden: letters written backwards,
// which look right, escape those who search for words. It differs from s only if there are any. The
// directional characters stay in it, for Text to remove.
func Turned(s string) string {
	before, s, found := strings.Cut(s, rightToLeftOverride)
	if !found {
		return before
	}
	var out strings.Builder
	for out.WriteString(before); found; {
		var inside string
		inside, s, found = strings.Cut(s, rightToLeftOverride)
		end := strings.IndexAny(inside, directional)
		if end < 0 {
			end = len(inside)
		}
		out.WriteString(rightToLeftOverride)
		out.WriteString(Reversed(inside[:end]))
		out.WriteString(inside[end:])
	}
	return out.String()
}

// Reversed returns text backwards, unless it is of a script that is written from right to left.
func Reversed(s string) string {
	if RightToLeft(s) {
		return s
	}
	runes := []rune(s)
	slices.Reverse(runes)
	return string(runes)
}

// RightToLeft reports whether the first letter of s is of a script written from right to left.
func RightToLeft(s string) bool {
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf && (r < 'A' || r > 'Z' && r < 'a' || r > 'z'):
		case r >= 0x80 && r < 0xc0, r >= 0x2000 && r <= 0x2bff, r >= 0x1f000: // signs
		default:
			return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff
		}
	}
	return false
}
