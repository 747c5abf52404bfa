package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
)

// schemes begin what becomes a link.
var schemes = [...]string{"https://", "http://", "mailto:", "www."}

// nextURL is the next URL in s, as text[start:end]; start is -1 without one.
func nextURL(s string) (start, end int) {
	for from := 0; from < len(s); {
		at, scheme := -1, ""
		for _, sc := range schemes {
			if i := indexFold(s[from:], sc); i >= 0 && (at < 0 || i < at) {
				at, scheme = i, sc
			}
		}
		if at < 0 {
			return -1, 0
		}
		start = from + at
		end = start + urlLength(s[start:])
		before, _ := utf8.DecodeLastRuneInString(s[:start])
		if end-start > len(scheme) && (start == 0 || !unicode.In(before, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Nd)) {
			return start, end
		}
		from = start + len(scheme)
	}
	return -1, 0
}

// indexFold is strings.Index for a lower-case ASCII word, in either case.
func indexFold(s, word string) int {
	for from := 0; ; {
		i := strings.IndexAny(s[from:], word[:1]+strings.ToUpper(word[:1]))
		if i < 0 || from+i+len(word) > len(s) {
			return -1
		}
		from += i
		if strings.EqualFold(s[from:from+len(word)], word) {
			return from
		}
		from++
	}
}

// urlLength is how many bytes at the start of s belong to a URL. Marks that end a sentence, and brackets that
// were not opened in the URL, do not.
func urlLength(s string) int {
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
		if start < 0 || r.links.Full() {
			break
		}
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
