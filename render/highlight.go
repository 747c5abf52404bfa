package render

import (
	"strings"

	"golang.org/x/net/html"

	"mayfly/render/doc"
)

// The colours of the HTML source.
const (
	tagRole     = doc.Accent
	nameRole    = doc.Warning // of an attribute or a property
	valueRole   = doc.Good
	commentRole = doc.Secondary
)

// highlighter cuts HTML into runs of one role, by the tokenizer that browsers' rules are written
// for: it has no rules of its own that a hostile source could confuse, and takes no more than one
// pass.
type highlighter struct{ lines [][]doc.Span }

// maxColoured is how much of a source is coloured, in bytes.
const maxColoured = 256 << 10

// highlight returns the lines of cleaned HTML as coloured spans.
func highlight(source string) [][]doc.Span {
	h := &highlighter{lines: make([][]doc.Span, 1, 1+strings.Count(source, "\n"))}
	rest := ""
	if len(source) > maxColoured {
		end := max(0, strings.LastIndexAny(source[:maxColoured], "<\n"))
		source, rest = source[:end], source[end:]
	}
	h.tokens(source)
	h.add(rest, doc.Own)
	return h.lines
}

// tokens adds each token of HTML.
func (h *highlighter) tokens(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	at, style := 0, false
	for {
		token := z.Next()
		raw := source[at : at+len(z.Raw())]
		at += len(raw)
		switch token {
		case html.ErrorToken:
			h.add(source[at-len(raw):], doc.Own)
			return
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			style = token == html.StartTagToken && string(name) == "style"
			h.tag(raw)
		case html.TextToken:
			if style {
				h.css(raw)
			} else {
				h.add(raw, doc.Own)
			}
		default: // a comment or a doctype
			h.add(raw, commentRole)
		}
	}
}

// add adds text, which may be of several lines.
func (h *highlighter) add(text string, r doc.Role) {
	for more := true; more; {
		var line string
		line, text, more = strings.Cut(text, "\n")
		if last := len(h.lines) - 1; line != "" {
			h.lines[last] = append(h.lines[last], doc.Span{Text: line, Style: doc.Style{Role: r}})
		}
		if more {
			h.lines = append(h.lines, nil)
		}
	}
}

// tag adds a tag with its attributes.
func (h *highlighter) tag(raw string) {
	n := strings.IndexAny(raw, " \n/>")
	if n < 0 || strings.HasPrefix(raw, "</") {
		n = len(raw)
	}
	h.add(raw[:n], tagRole)
	for raw = raw[n:]; raw != ""; raw = raw[n:] {
		switch n = strings.IndexAny(raw, "=>"); {
		case n < 0:
			n = len(raw)
			h.add(raw, tagRole)
		case raw[n] == '>':
			n++
			h.add(raw[:n-1], nameRole)
			h.add(">", tagRole)
		default:
			h.add(raw[:n], nameRole)
			h.add("=", doc.Own)
			raw = raw[n+1:]
			n = valueEnd(raw)
			h.add(raw[:n], valueRole)
		}
	}
}

// valueEnd is where the value of an attribute ends.
func valueEnd(s string) int {
	from, ends, past := len(s)-len(strings.TrimLeft(s, " \n")), " \n>", 0
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		ends, past = s[from:from+1], 1
		from++
	}
	if end := strings.IndexAny(s[from:], ends); end >= 0 {
		return from + end + past
	}
	return len(s)
}

// css adds a style sheet: selectors, names and values of properties, comments.
func (h *highlighter) css(s string) {
	for s != "" {
		if strings.HasPrefix(s, "/*") {
			n := len(s)
			if end := strings.Index(s[2:], "*/"); end >= 0 {
				n = end + 4
			}
			h.add(s[:n], commentRole)
			s = s[n:]
			continue
		}
		n := strings.IndexAny(s, "{};")
		end := n + 1
		if n < 0 {
			n, end = len(s), len(s)
		}
		if comment := strings.Index(s[:n], "/*"); comment >= 0 {
			n, end = comment, comment
		}
		name, value, declares := strings.Cut(s[:n], ":")
		switch {
		case n < end && s[n] == '{':
			h.add(s[:n], tagRole)
		case declares:
			h.add(name, nameRole)
			h.add(":", doc.Own)
			h.add(value, valueRole)
		default:
			h.add(s[:n], doc.Own)
		}
		h.add(s[n:end], doc.Own)
		s = s[end:]
	}
}
