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

// ReadingOrder returns s in reading order: runs with a right-to-left override are reversed. Words that are written backwards look
// right, and escape filters and searches. The result
// differs from s only if there are such words. Text removes the directional characters, which stay.
func ReadingOrder(s string) string {
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

// maxString bounds the control strings that are removed whole, in bytes. Of a longer or
// unterminated one only the introducer is removed, so that the text after it is not lost.
const maxString = 4096

// escape returns how many bytes from i on belong to the sequence introduced by the ESC before i.
func (c *cleaner) escape(i int) int {
	if i >= len(c.src) {
		return 0
	}
	switch b := c.src[i]; {
	case b == '[':
		return 1 + c.csi(i+1)
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		return 1 + c.controlString(i+1)
	case b >= ' ' && b <= '/': // intermediates and a final byte, as in ESC ( B
		for n := 1; n <= 4 && i+n < len(c.src); n++ {
			if f := c.src[i+n]; f >= '0' && f <= '~' {
				return n + 1
			} else if f < ' ' || f > '/' {
				return 0
			}
		}
		return 0
	case b >= '0' && b <= '~':
		return 1
	}
	return 0
}

// control is like escape, for the C1 control r that ends before i.
func (c *cleaner) control(r rune, i int) int {
	switch r {
	case 0x85: // next line
		c.put('\n', false)
	case 0x9b:
		return c.csi(i)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return c.controlString(i)
	}
	return 0
}

// csi returns the length of the parameters and final byte of a control sequence at i, or 0 if it is
// malformed.
func (c *cleaner) csi(i int) int {
	for n := 0; n < 64 && i+n < len(c.src); n++ {
		switch b := c.src[i+n]; {
		case b >= '@' && b <= '~':
			return n + 1
		case b < ' ' || b > '?':
			return 0
		}
	}
	return 0
}

// controlString returns the length of the control string at i with its terminator, or 0 if the line
// has no terminator.
func (c *cleaner) controlString(i int) int {
	s := c.src[i:min(len(c.src), i+maxString)]
	end := strings.IndexAny(s, "\a\x1b\u009c\n\r")
	if end < 0 {
		return 0
	}
	switch rest := s[end:]; {
	case rest[0] == '\a':
		return end + 1
	case strings.HasPrefix(rest, "\x1b\\"), strings.HasPrefix(rest, "\u009c"):
		return end + 2
	}
	return 0
}
