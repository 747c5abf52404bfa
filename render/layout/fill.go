package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
)

// fill passes the text of a leaf to the wrapper.
func (l *layouter) fill(b *doc.Block) {
	at := 0 // bytes of the leaf's text
	for i := 0; i < len(b.Spans); {
		s := &b.Spans[i]
		if s.Link == 0 && !s.Button {
			p := l.pen(b, s)
			l.pad(b, i, -1, p)
			l.run(b, s, at)
			l.pad(b, i, 1, p)
			at += len(s.Text)
			i++
			continue
		}
		from, j := at, i
		for j < len(b.Spans) && b.Spans[j].Link == s.Link && b.Spans[j].Button == s.Button {
			at += len(b.Spans[j].Text)
			j++
		}
		l.imagesIn(b, max(from, at-1), i == 0)
		l.pics.after = false
		if s.Button {
			l.button(b, b.Spans[i:j])
		} else {
			l.link(b, b.Spans[i:j])
		}
		i = j
	}
	l.imagesIn(b, at, false)
	l.pics.after = false
}

// run passes a span to the wrapper, and draws the images in it. at is the offset of its text in the
// leaf.
func (l *layouter) run(b *doc.Block, s *doc.Span, at int) {
	l.imagesIn(b, at, at == 0)
	if l.replaced(s) {
		return
	}
	part := *s
	for end := at + len(s.Text); ; {
		offset, more := l.nextImage(b, end)
		if more {
			part.Text = s.Text[len(s.Text)-(end-at) : len(s.Text)-(end-offset)]
		} else {
			part.Text = s.Text[len(s.Text)-(end-at):]
		}
		if l.pics.after {
			part.Text = strings.TrimLeft(part.Text, "\n") // the line has ended
		}
		if part.Text != "" {
			l.pics.after = false
			l.span(b, &part, l.pen(b, s))
		}
		if !more {
			return
		}
		at = offset
		l.imagesIn(b, at, false)
	}
}

// sentence is how many spaces the text of an image has that is no name.
const sentence = 3

// pen returns how a span is drawn.
func (l *layouter) pen(b *doc.Block, s *doc.Span) pen {
	style := s.Style
	if b.Kind == doc.Heading {
		style.Bold, style.Italic = true, style.Italic || b.Level > 2
		if b.Level <= 2 && style.Role == doc.Own && style.Color.Grey() && !style.Background.Set && l.ink.fill == 0 {
			style.Role = doc.Bright
		}
	}
	dim := l.dim
	if s.Image > 0 { // a wide one, one that may be, and a sentence may say what the mail is about
		im := &l.doc.Images[s.Image-1]
		dim = dim || s.Text != im.Alt || im.Width > 0 && im.Width < mailWidth/2 && strings.Count(s.Text, " ") < sentence
	}
	p := l.ink.pen(style, b.Background, dim)
	if l.dim && s.Link > 0 && s.Image == 0 && style.Color.Set && !style.Color.Grey() { // a link has some of its hue
		p.fg = l.ink.readable(mix(style.Color, l.ink.shown(p.fg), .5), l.ink.back, minContrast)
	}
	return p
}

// span passes a run of text to the wrapper.
func (l *layouter) span(b *doc.Block, s *doc.Span, p pen) {
	text := s.Text
	if s.Style.Sup || s.Style.Sub {
		text = raised(text, s.Style.Sub)
	}
	l.wrap.text(text, p, s.Link)
}

// pad puts a space of the colour of a filled run beside it, unless it is in the middle of a word.
func (l *layouter) pad(b *doc.Block, i, side int, p pen) {
	if p.bg == 0 {
		return
	}
	if next := i + side; next >= 0 && next < len(b.Spans) {
		beside := &b.Spans[next]
		r, _ := utf8.DecodeRuneInString(beside.Text)
		if side < 0 {
			r, _ = utf8.DecodeLastRuneInString(beside.Text)
		}
		if beside.Style.Background == b.Spans[i].Style.Background || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return
		}
	}
	l.wrap.put(piece{" ", 0, 1, 1, p, l.wrap.base, b.Spans[i].Link})
}

// link passes a link to the wrapper: underlined, with its number after it. One around several blocks,
// or that leads nowhere, is underlined where the message underlines it.
func (l *layouter) link(b *doc.Block, spans []doc.Span) {
	n := spans[0].Link
	target := &l.doc.Links[n-1]
	for i := range spans {
		p := l.pen(b, &spans[i])
		if !spans[0].Continues && !target.Nowhere {
			p.attrs |= underline
		}
		l.span(b, &spans[i], p)
	}
	if !spans[0].Continues {
		l.number(n)
	}
}

// number writes the number of a link after it, and at its first occurrence its warning. What leads
// nowhere has no number.
func (l *layouter) number(n int) {
	if n == 0 || l.doc.Links[n-1].Nowhere {
		return
	}
	digits := raised(itoa(n), false)
	l.wrap.put(piece{digits, 0, int32(len(digits)), utf8.RuneCountInString(digits), l.ink.dim(), l.wrap.base, n})
	if target := &l.doc.Links[n-1]; target.Warning != "" && !l.warned[n] {
		l.warned[n] = !l.measuring
		l.wrap.text(" ‹"+target.Warning+"›", l.ink.role(doc.Warning), 0)
	}
}

// button passes a button to the wrapper: a filled label that is not broken if it fits on a line.
func (l *layouter) button(b *doc.Block, spans []doc.Span) {
	n := spans[0].Link
	var text strings.Builder
	for i := range spans {
		text.WriteString(strings.ReplaceAll(spans[i].Text, "\n", " "))
	}
	words := strings.Join(strings.Fields(text.String()), " ")
	width := stringWidth(words) + 4
	label, edge := l.ink.button(spans[0].Style)
	left, right := "▐", "▌"
	if label.bg == 0 && label.attrs&reverse == 0 {
		left, right = "[", "]"
	}
	if width+len(itoa(n)) > l.wrap.width {
		label.attrs |= underline
		l.wrap.text(words, label, n)
		l.number(n)
		return
	}
	l.wrap.object()
	whole := " " + words + " "
	l.wrap.put(piece{left, 0, int32(len(left)), 1, edge, l.wrap.base, n})
	l.wrap.put(piece{whole, 0, int32(len(whole)), width - 2, label, l.wrap.base, n})
	l.wrap.put(piece{right, 0, int32(len(right)), 1, edge, l.wrap.base, n})
	l.number(n)
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹"

// raised returns superscript or subscript characters for digits and signs that have them.
func raised(s string, below bool) string {
	const plain = "0123456789+-=()"
	set := []rune(superscripts + "⁺⁻⁼⁽⁾")
	if below {
		set = []rune("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
	}
	if len(s) > 8 || strings.Trim(s, plain) != "" {
		return s
	}
	return strings.Map(func(r rune) rune { return set[strings.IndexRune(plain, r)] }, s)
}
