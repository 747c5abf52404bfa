package text

import (
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/link"
)

// openURL reports whether a text ends within a URL.
func openURL(s string) bool {
	word := s[strings.LastIndexAny(s, " <(\n")+1:]
	if len(word) < 20 {
		return false
	}
	start, end, _ := link.Bare(word)
	return start >= 0 && end >= len(word)-1
}

// continuesURL reports whether next continues the URL at the end of text: always within angle
// brackets (RFC 3986, appendix C), else if the line was full and next begins like part of a URL.
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

// spans splits text into URLs and what is between them.
func (r *reader) spans(text string) []doc.Span {
	var spans []doc.Span
	add := func(s string, n int) {
		if s != "" {
			spans = append(spans, doc.Span{Text: s, Link: n, Style: doc.Style{Size: 16}})
		}
	}
	for text != "" {
		start, end, href := link.Bare(text)
		if start < 0 || r.parts >= maxSpans {
			break
		}
		r.parts += 2
		url := text[start:end]
		n := r.links.Add(href)
		if n > 0 {
			r.links.AddText(n, url)
		}
		add(text[:start], 0)
		add(url, n)
		text = text[end:]
	}
	add(text, 0)
	return spans
}
