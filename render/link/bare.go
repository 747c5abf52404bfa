package link

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// schemes are the beginnings of URLs in running text.
var schemes = [...]string{"https://", "http://", "mailto:", "www."}

// Bare finds the first URL in running text: s[start:end], and its href. start is -1 if there is
// none.
func Bare(s string) (start, end int, href string) {
	for i := 0; i < len(s); i++ {
		scheme := schemeAt(s[i:])
		if scheme == 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if n := urlLength(s[i:]); n > scheme && (i == 0 || !unicode.In(before, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Nd)) {
			href = s[i : i+n]
			if scheme == len("www.") {
				href = "http://" + href
			}
			return i, i + n, href
		}
		i += scheme - 1
	}
	return -1, 0, ""
}

// schemeAt returns the length of the scheme at the start of s, in upper or lower case; 0 if there
// is none.
func schemeAt(s string) int {
	switch s[0] | 0x20 {
	case 'h', 'm', 'w':
		for _, scheme := range schemes {
			if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
				return len(scheme)
			}
		}
	}
	return 0
}

// maxURL bounds the length of a URL, in bytes.
const maxURL = 16 << 10

// urlLength returns how many bytes at the start of s belong to a URL. Punctuation that ends a
// sentence, and brackets not opened within the URL, do not.
func urlLength(s string) int {
	s = s[:min(len(s), maxURL)]
	end := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("<>\"`\u00a0\u3000「」『』（）。、，", r) ||
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) // sentences continue without a space
	})
	if end < 0 {
		end = len(s)
	}
	if i := strings.Index(s[:end], "]("); i > 0 {
		end = i // [URL](URL)
	}
	// Closing brackets and quotes at its end that were not opened in it belong to the text around
	// it.
	closing := map[rune]int{
		')': strings.Count(s[:end], ")") - strings.Count(s[:end], "("), ']': strings.Count(s[:end], "]") - strings.Count(s[:end], "["),
		'}': strings.Count(s[:end], "}") - strings.Count(s[:end], "{"), '\'': strings.Count(s[:end], "'") % 2,
	}
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		switch {
		case strings.ContainsRune(".,;:!?*’”»…|", r):
		case closing[r] > 0:
			closing[r]--
		default:
			return end
		}
		end -= size
	}
	return 0
}
