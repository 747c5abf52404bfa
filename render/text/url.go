package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
)

// schemes begin what becomes a link.
var schemes = [...]string{"https://", "http://", "mailto:", "www."}

// nextURL is the next URL in s, as s[start:end]; start is -1 without one.
func nextURL(s string) (start, end int) {
	for i := 0; i < len(s); i++ {
		scheme := schemeAt(s[i:])
		if scheme == 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if n := urlLength(s[i:]); n > scheme && (i == 0 || !unicode.In(before, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Nd)) {
			return i, i + n
		}
		i += scheme - 1
	}
	return -1, 0
}

// schemeAt is the length of the scheme that s begins with, in any case; 0 without one.
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

// urlLength is how many bytes at the start of s belong to a URL. Marks that end a sentence, and brackets that
// were not opened in the URL, do not.
func urlLength(s string) int {
	s = s[:min(len(s), maxURL)]
	end := strings.IndexFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("<>\"`\u00a0\u3000「」『』（）。、，", r) ||
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) // sentences go on without a space
	})
	if end < 0 {
		end = len(s)
	}
	if i := strings.Index(s[:end], "]("); i > 0 {
		end = i // [URL](URL)
	}
	for end > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		switch {
		case strings.ContainsRune(".,;:!?'*_~’”»…|", r) && !(r == '_' || r == '~'):
		case r == ')' && strings.Count(s[:end], "(") < strings.Count(s[:end], ")"):
		case r == ']' && strings.Count(s[:end], "[") < strings.Count(s[:end], "]"):
		case r == '}':
		default:
			return end
		}
		end -= size
	}
	return 0
}

// openURL reports text that ends within a URL.
func openURL(s string) bool {
	word := s[strings.LastIndexAny(s, " <(\n")+1:]
	if len(word) < 20 {
		return false
	}
	start, end := nextURL(word)
	return start >= 0 && end >= len(word)-1
}

// continuesURL reports whether next goes on with the URL that text ends in: within angle brackets always
// (RFC 3986, appendix C), else when the line was full and the next begins with what only a URL has.
func continuesURL(text, next string) bool {
	word, _, _ := strings.Cut(next, " ")
	if word == "" || strings.Contains(word, "://") {
		return false
	}
	if open := strings.LastIndexByte(text, '<'); open >= 0 && !strings.Contains(text[open:], ">") && strings.Contains(word, ">") {
		return true
	}
	if utf8.RuneCountInString(text) < 65 || word != next {
		return false
	}
	return strings.HasSuffix(text, "=") || strings.ContainsAny(word, "/=&%?_") || strings.ContainsAny(word, "0123456789") && len(word) > 8
}

// spans takes text apart at its URLs.
func (r *reader) spans(text string) []doc.Span {
	var spans []doc.Span
	add := func(s string, n int) {
		if s != "" {
			spans = append(spans, doc.Span{Text: s, Link: n, Style: doc.Style{Size: 16}})
		}
	}
	for text != "" {
		start, end := nextURL(text)
		if start < 0 || r.parts >= maxSpans {
			break
		}
		r.parts += 2
		url := text[start:end]
		href := url
		if len(url) > 4 && strings.EqualFold(url[:4], "www.") {
			href = "http://" + url
		}
		n := r.links.Add(href)
		if n > 0 {
			r.links.Say(n, url)
		}
		add(text[:start], 0)
		add(url, n)
		text = text[end:]
	}
	add(text, 0)
	return spans
}
