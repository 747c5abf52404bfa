package html

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
	"mayfly/render/link"
)

// paragraph collects the text between two breaks, with white space collapsed, as runs of one style.
type paragraph struct {
	b      *builder
	buf    []byte
	spans  []run
	space  bool    // there is white space before the next word
	room   float32 // px between the last word and the next one besides, of margins and padding
	lines  int     // line breaks before the next word
	ends   bool    // a filled run ends before the next word
	pre    bool    // some of it keeps its spaces
	column int     // of such text, for tabs
	first  css.Style
	// images is how many of the document's images come before it.
	images int
}

// run is a span whose text is buf[start:end].
type run struct {
	start, end int
	style      doc.Style
	link       int
	element    int // of the link
	button     bool
	image      int
}

// text appends the text of a node.
func (p *paragraph) text(s string, f *frame) {
	if f.style.WhiteSpace == css.Pre {
		p.preformatted(s, f)
		return
	}
	for s != "" {
		i := 0
		for i < len(s) && isSpace(s[i]) {
			if s[i] == '\n' && f.style.WhiteSpace == css.PreLine {
				p.lineBreak()
			}
			i++
		}
		if i > 0 {
			p.space = true
			s = s[i:]
		}
		for i = 0; i < len(s) && !isSpace(s[i]); i++ {
		}
		if i > 0 {
			p.word(s[:i], f)
			s = s[i:]
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// preformatted appends text whose spaces and newlines matter.
func (p *paragraph) preformatted(s string, f *frame) {
	p.pre = true
	p.writeSpace(f)
	column := strings.Repeat(" ", p.column%8)
	s = clean.ExpandTabs(column + p.transform(s, &f.style))[len(column):]
	p.append(s, f, 0)
	p.column += utf8.RuneCountInString(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		p.column = utf8.RuneCountInString(s[i+1:])
	}
}

// word appends text without white space.
func (p *paragraph) word(s string, f *frame) {
	lead := ""
	if len(p.spans) == 0 || p.lines > 0 {
		lead = s[:len(s)-len(strings.TrimLeft(s, blank))]
	}
	s = lead + narrow(s[len(lead):])
	if s == "" {
		return
	}
	p.separate(s, f.style.Size)
	s = p.transform(s, &f.style)
	p.writeSpace(f)
	p.append(s, f, 0)
}

// transform changes the case of letters as a style asks for, by the rules of their language. A URL in the text leads
// elsewhere in capitals.
func (p *paragraph) transform(s string, style *css.Style) string {
	if style.Transform == css.AsWritten || strings.Contains(s, "://") || strings.HasPrefix(s, "www.") {
		return s
	}
	lang := language.Make(style.Lang)
	if style.Transform == css.Lowercase {
		return cases.Lower(lang).String(s)
	}
	upper := cases.Upper(lang)
	if style.Transform == css.Uppercase {
		return upper.String(s)
	}
	before, _ := utf8.DecodeLastRune(p.buf)
	within := !p.space && p.lines == 0 && len(p.spans) > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before))
	var out strings.Builder
	for _, r := range s {
		letter := string(r)
		if !within {
			letter = upper.String(letter)
		}
		if out.WriteString(letter); r != '\'' && r != '’' {
			within = unicode.In(r, unicode.L, unicode.M, unicode.N)
		}
	}
	return out.String()
}

// Space in font sizes: what separates words, and beside what that is small, as between links next to each other.
const (
	wordGap = .18
	farGap  = .8
)

// separate makes a word of its own of what follows some room, unless it is, or follows, a mark that
// stands at a word.
func (p *paragraph) separate(next string, size float32) {
	if p.room == 0 || p.room < wordGap*size {
		return
	}
	before, _ := utf8.DecodeLastRune(p.buf)
	after, _ := utf8.DecodeRuneInString(next)
	joins := unicode.In(before, unicode.Ps, unicode.Pi, unicode.Zs) || unicode.In(after, unicode.Pe, unicode.Pf, unicode.Zs) ||
		strings.ContainsRune(".,;:!?…", after)
	p.space = p.space || !joins
}

// blank is a space that HTML keeps. More than two in a row are layout that a terminal does without,
// except at the start of a line, where they are indentation.
const blank = "\u00a0"

// narrow shortens longer runs of blanks to two.
func narrow(s string) string {
	for strings.Contains(s, blank+blank+blank) {
		s = strings.ReplaceAll(s, blank+blank+blank, blank+blank)
	}
	return s
}

// writeSpace writes the white space and line breaks before the next word.
func (p *paragraph) writeSpace(f *frame) {
	ends, far := p.ends, p.room >= farGap*f.style.Size && !f.style.RTL
	p.ends, p.room = false, 0
	if p.lines > 1 && len(p.buf) > 0 && !p.pre {
		// An empty line splits a paragraph.
		p.flush()
	}
	if len(p.spans) == 0 {
		p.start(f)
		p.lines, p.space = 0, false
		return
	}
	white := strings.Repeat("\n", p.lines)
	if p.lines > 0 {
		p.column = 0
	}
	if white == "" && p.space && p.buf[len(p.buf)-1] != '\n' {
		white = " "
		if last := &p.spans[len(p.spans)-1]; far && last.image == 0 && !last.button && !f.button && !ends &&
			!clean.RightToLeft(string(p.buf[last.start:])) { // terminals reorder text between wide spaces
			white = blank + blank + white
		}
	}
	p.lines, p.space = 0, false
	if white == "" {
		return
	}
	last := &p.spans[len(p.spans)-1]
	joins := last.link == f.link && last.button == f.button && last.image == 0 && !ends
	if !joins || last.style.Underline && !f.style.Underline {
		// White space between a link, an underlined or a filled run and what follows belongs to neither.
		between := run{start: len(p.buf), style: last.style}
		between.style.Underline, between.style.Strike, between.style.Background = false, false, doc.Color{}
		if joins {
			between.link, between.button = last.link, last.button
		}
		p.spans = append(p.spans, between)
		last = &p.spans[len(p.spans)-1]
	}
	p.buf = append(p.buf, white...)
	last.end = len(p.buf)
}

// start notes the style of the block in which the paragraph begins.
func (p *paragraph) start(f *frame) {
	p.first = f.style
	for i := len(p.b.frames) - 1; i > 0; i-- {
		at := &p.b.frames[i]
		if at.flow {
			p.first.Text, p.first.RTL, p.first.Auto, p.first.Background = at.style.Text, at.style.RTL, at.style.Auto, at.style.Background
			break
		}
	}
}

// append adds text in the style of f.
func (p *paragraph) append(s string, f *frame, image int) {
	style := f.spanStyle()
	start, element := len(p.buf), 0
	if f.link > 0 {
		p.b.anchor.add(p.b, f.link, s)
		element = p.b.anchors
	}
	p.buf = append(p.buf, s...)
	if n := len(p.spans); n > 0 {
		last := &p.spans[n-1]
		if p.b.bounds.plain() {
			style, image = last.style, last.image
		}
		if last.style == style && last.link == f.link && last.button == f.button && last.image == image {
			last.end = len(p.buf)
			return
		}
	}
	p.b.bounds.spans++
	p.spans = append(p.spans, run{start, len(p.buf), style, f.link, element, f.button, image})
}

// edge separates an inline box from the word beside it if it has padding, margin or a border
// there, or a box of its own.
func (p *paragraph) edge(s *css.Style, edge int) {
	room := s.Padding[edge].Px(s.Size, 0) + s.Margin[edge].Px(s.Size, 0)
	p.ends = p.ends || s.OwnBackground
	p.room += room
	if s.Display != css.Inline && (s.OwnBackground || s.Border || room >= wordGap*s.Size || s.Width.IsSet()) {
		p.space = true
	}
}

// lineBreak handles a br element.
func (p *paragraph) lineBreak() {
	if len(p.spans) == 0 {
		p.b.blankLine(lineHeight(&p.b.top().style.Inherited))
		return
	}
	p.lines++
	p.space = false
}

// spanStyle returns the visible part of the style of text in an element.
func (f *frame) spanStyle() doc.Style {
	s := &f.style
	return doc.Style{
		Bold: s.Bold, Italic: s.Italic, Underline: s.Underline, Strike: s.Strike, Mono: s.Mono, Sup: s.Sup, Sub: s.Sub,
		Color: s.Color, Background: f.fill, Size: s.Size, Spacing: s.Spacing,
	}
}

// flush ends the paragraph and adds it as a leaf, if it has visible text.
func (p *paragraph) flush() {
	if len(p.spans) == 0 {
		p.space, p.room, p.lines, p.images = false, 0, 0, len(p.b.doc.Images)
		return
	}
	b := p.b
	// The first line break at the end of a block takes no line.
	height := lineHeight(&p.first.Inherited)
	extra := float32(max(p.lines-1, 0)) * height
	block := p.block()
	p.placeImages(block)
	p.buf, p.spans, p.space, p.room, p.lines, p.pre, p.column = p.buf[:0], p.spans[:0], false, 0, 0, false, 0
	if block == nil {
		b.blankLine(height + extra)
		return
	}
	b.leaf(block, &p.first.Inherited)
	b.space += extra
}

// block returns the leaf, or nil if it has no visible text.
func (p *paragraph) block() *doc.Block {
	text := string(p.buf)
	from := len(text) - len(strings.TrimLeft(text, " \n\u00a0"))
	to := len(strings.TrimRight(text, " \n\u00a0"))
	if from >= to {
		return nil
	}
	l := &doc.Block{}
	if p.pre {
		l.Kind, from = doc.Pre, strings.LastIndexByte(text[:from], '\n')+1 // its first line keeps its indentation
	}
	p.describe(l, text)
	l.Spans = p.cut(text, from, to)
	return l
}

// describe sets the alignment, direction and background of a leaf.
func (p *paragraph) describe(l *doc.Block, text string) {
	script := clean.RightToLeft(text)
	rtl := p.first.RTL || p.first.Auto && script
	l.RTL = rtl || script
	if l.Align = p.first.Text.Within(rtl); l.RTL != rtl && l.Align != doc.Center { // the side is that of the markup's direction
		l.Align = doc.End - l.Align
	}
	canvas := p.b.canvas
	if back := p.first.Background; back.Set && !css.Same(back, canvas) && !(css.Same(back, css.White) && (!canvas.Set || luma(canvas) > .3)) {
		l.Background = back
	}
	if !p.pre {
		for _, r := range p.spans {
			n := r.end - r.start
			switch {
			case r.image > 0:
			case r.style.Bold:
				p.b.weight[r.style.Size] += n / 4
			default:
				p.b.weight[r.style.Size] += n
			}
		}
	}
}

// cut makes spans from text[from:to].
func (p *paragraph) cut(text string, from, to int) []doc.Span {
	spans := make([]doc.Span, 0, len(p.spans))
	for _, r := range p.spans {
		start, end := max(r.start, from), min(r.end, to)
		if start >= end {
			continue
		}
		spans = p.span(spans, r, text[start:end])
	}
	return spans
}

// span adds the text of a run to the spans of a leaf. Bare URLs become links, as in any mail
// client.
func (p *paragraph) span(spans []doc.Span, r run, text string) []doc.Span {
	one := doc.Span{Text: text, Style: r.style, Link: r.link, Element: r.element, Button: r.button, Image: r.image}
	if r.link > 0 || r.image > 0 || !strings.Contains(text, "://") && !strings.Contains(text, "www.") {
		return append(spans, one)
	}
	for !p.b.bounds.plain() {
		start, end, href := link.Bare(one.Text)
		if start < 0 {
			break
		}
		before, url := one, one
		before.Text, url.Text, one.Text = one.Text[:start], one.Text[start:end], one.Text[end:]
		if url.Link = p.b.links.Add(href); url.Link > 0 {
			p.b.links.AddText(url.Link, url.Text)
			if l := p.b.links.At(url.Link); l.Order == 0 {
				l.Order = p.b.order + 1
			}
		}
		p.b.bounds.spans += 2
		if before.Text != "" {
			spans = append(spans, before)
		}
		spans = append(spans, url)
	}
	if one.Text != "" {
		spans = append(spans, one)
	}
	return spans
}
