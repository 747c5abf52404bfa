// Package text reads a plain text body into a document: paragraphs, lists, quotes, a signature,
// links. Tables, diffs and the like keep their spaces.
package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/link"
)

// Options are the parameters of the text part (RFC 3676).
type Options struct {
	Flowed bool // format=flowed: a line that ends in a space continues in the next one
	DelSp  bool // delsp=yes: that space is not part of the text
}

// Bounds on what is read. A longer text is cut, and the document says so.
const (
	maxText  = 1 << 20 // bytes
	maxLines = 30_000
	maxSpans = 20_000 // texts and URLs
	maxDepth = 24     // of quotes
)

// Read reads a plain text body. It never fails.
func Read(body string, o Options) *doc.Document {
	r := reader{doc: &doc.Document{}}
	if len(body) > maxText {
		body = body[:maxText]
		r.doc.Simplified = "the text is cut: it is longer than 1 MB"
	}
	turned := clean.ReadingOrder(body)
	if turned != body {
		r.doc.Reversed++
	}
	lines := split(clean.Text(turned), o)
	if len(lines) > maxLines {
		lines = lines[:maxLines]
		r.doc.Simplified = fmt.Sprintf("the text is cut: it has more than %d lines", maxLines)
	}
	rest, signature := cutSignature(lines)
	r.doc.Blocks = r.sections(rest, 0)
	if len(signature) > 0 {
		r.footer = true
		if children := r.sections(signature, 0); len(children) > 0 {
			r.doc.Blocks = append(r.doc.Blocks, &doc.Block{Kind: doc.Signature, Gap: true, Children: children})
		}
	}
	r.doc.Links = r.links.Finish()
	return r.doc
}

// reader makes blocks from lines.
type reader struct {
	doc    *doc.Document
	links  link.Set
	parts  int // spans so far
	order  int
	footer bool // below the signature's mark
}

// sections makes blocks from lines. Those quoted deeper than depth become quotes.
func (r *reader) sections(lines []line, depth int) []*doc.Block {
	var blocks []*doc.Block
	gap := false
	for i := 0; i < len(lines); {
		j := i
		deeper := lines[i].depth > depth
		for j < len(lines) && (lines[j].depth > depth) == deeper && (deeper || !lines[j].blank()) {
			j++
		}
		switch {
		case deeper && depth < maxDepth:
			if children := r.sections(lines[i:j], depth+1); len(children) > 0 {
				blocks = append(blocks, &doc.Block{Kind: doc.Quote, Gap: true, Quoted: depth + 1, Children: children})
			}
			gap = true
		case j > i:
			made := r.group(lines[i:j], depth)
			made[0].Gap = gap || made[0].Gap
			blocks = append(blocks, made...)
			gap = false
		default:
			gap = true
			j = i + 1
		}
		i = j
	}
	if len(blocks) > 0 {
		blocks[0].Gap = false
	}
	return blocks
}

// group makes blocks, at least one, from lines with no empty one between them.
func (r *reader) group(lines []line, depth int) []*doc.Block {
	if preformatted(lines) {
		var rows []string
		for _, l := range lines {
			rows = append(rows, l.text)
		}
		return []*doc.Block{r.leaf(doc.Pre, strings.Join(rows, "\n"), depth)}
	}
	var blocks []*doc.Block
	for i := 0; i < len(lines); {
		j := i + 1
		switch {
		case ruled(lines[i].text):
			blocks = append(blocks, &doc.Block{Kind: doc.Rule})
		case marker(lines[i].text) != "":
			list := &doc.Block{Kind: doc.List}
			for j = i; j < len(lines) && marker(lines[j].text) != ""; {
				from := j
				for j++; j < len(lines) && marker(lines[j].text) == "" && strings.HasPrefix(lines[j].text, " "); j++ {
				}
				list.Children = append(list.Children, r.item(marker(lines[from].text), lines[from:j], depth))
			}
			blocks = append(blocks, list)
		default:
			for j < len(lines) && !ruled(lines[j].text) && marker(lines[j].text) == "" {
				j++
			}
			blocks = append(blocks, r.leaf(doc.Paragraph, prose(lines[i:j]), depth))
		}
		i = j
	}
	return blocks
}

func (r *reader) item(mark string, lines []line, depth int) *doc.Block {
	first := lines[0]
	first.text = strings.TrimPrefix(strings.TrimLeft(first.text, " "), mark)
	all := append([]line{first}, lines[1:]...)
	if strings.ContainsAny(mark, "-*+") {
		mark = "•"
	}
	return &doc.Block{Kind: doc.Item, Marker: mark, Children: []*doc.Block{r.leaf(doc.Paragraph, prose(all), depth)}}
}

// leaf makes a block from text, and finds its links.
func (r *reader) leaf(kind doc.Kind, text string, depth int) *doc.Block {
	r.order++
	return &doc.Block{
		Kind: kind, Spans: r.spans(text), Order: r.order, Quoted: depth, InFooter: r.footer, RTL: clean.RightToLeft(text),
	}
}

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
