package render

import (
	"slices"
	"strings"
	"time"

	"mayfly/internal/mail"
	"mayfly/render/calendar"
	"mayfly/render/doc"
	"mayfly/render/find"
	"mayfly/render/html"
	"mayfly/render/markdown"
	"mayfly/render/text"
)

// reader reads and searches bodies. Tests replace it to count.
type reader struct {
	html func(source string) *doc.Document
	text func(mail.Message) *doc.Document
	find func(find.Input) find.Parts
}

var reading = reader{html.Read, textBody, find.Find}

// read reads the bodies that differ from those of before, then chooses and searches the one to
// show.
func (m *Mail) read(before *Mail) {
	if !blank(m.msg.Text) {
		if m.text = before.text; m.text == nil || !sameText(m.msg, before.msg) {
			m.text = m.reader.text(m.msg)
		}
	}
	if !blank(m.msg.HTML) {
		if m.html = before.html; m.html == nil || m.msg.HTML != before.msg.HTML {
			m.html = m.reader.html(m.msg.HTML)
		}
	}
	if before.body != nil && m.text == before.text && m.html == before.html && m.msg.Subject == before.msg.Subject && m.msg.From == before.msg.From {
		m.body, m.found = before.body, before.found
		return
	}
	m.body = m.shown()
	m.search()
}

// invited returns the body with the first invitation that comes with it, as a block at its beginning.
func (m *Mail) invited() *doc.Document {
	i := slices.IndexFunc(m.msg.Attachments, func(a mail.Attachment) bool { return a.Calendar() && a.Content != nil })
	if i < 0 {
		return m.body
	}
	b := calendar.Block(m.msg.Attachments[i].Content, time.Local)
	if b == nil {
		return m.body
	}
	rich := *m.body
	rich.Blocks = append([]*doc.Block{b}, m.body.Blocks...)
	if len(m.body.Blocks) > 0 {
		first := *m.body.Blocks[0]
		first.Gap, rich.Blocks[1] = true, &first
	}
	return &rich
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// sameText reports whether textBody would read both messages alike.
func sameText(a, b mail.Message) bool {
	return a.Text == b.Text && declaredMarkdown(a) == declaredMarkdown(b) && a.Flowed == b.Flowed && a.DelSp == b.DelSp &&
		(a.HTML == "") == (b.HTML == "")
}

// shown returns the body for the rich view.
func (m *Mail) shown() *doc.Document {
	switch {
	case m.html == nil && m.text == nil:
		return &doc.Document{}
	case m.html == nil || m.text != nil && addsNothing(m.html, m.text):
		return m.text
	}
	return m.html
}

// textBody reads the text part, as Markdown if it is.
func textBody(m mail.Message) *doc.Document {
	declared := declaredMarkdown(m)
	if !declared && (m.HTML != "" || !markdown.Is(m.Text)) {
		return text.Read(m.Text, text.Options{Flowed: m.Flowed, DelSp: m.DelSp})
	}
	if d, ok := markdown.Read(m.Text, markdown.Options{Plain: !declared}); ok {
		return d
	}
	d := text.Read(m.Text, text.Options{Flowed: m.Flowed, DelSp: m.DelSp})
	if declared && d.Simplified == "" {
		d.Simplified = "the Markdown is shown as text: it is too long or too deeply nested"
	}
	return d
}

func declaredMarkdown(m mail.Message) bool { return strings.EqualFold(m.TextType, "text/markdown") }

// addsNothing reports whether the HTML has the words of the text and no styling.
func addsNothing(h, t *doc.Document) bool {
	if len(h.Blocks) == 0 {
		return true
	}
	if len(h.Images) > 0 || len(h.Hidden) > 0 {
		return false
	}
	for leaf := range h.Leaves() {
		if leaf.Kind != doc.Paragraph || leaf.Boxed {
			return false
		}
		for _, s := range leaf.Spans {
			st := s.Style
			if st.Bold || st.Italic || st.Mono || st.Strike || st.Color.Set || st.Background.Set || s.Button ||
				s.Link > 0 && !strings.Contains(h.Links[s.Link-1].URL, strings.TrimSpace(s.Text)) {
				return false
			}
		}
	}
	return words(h) == words(t)
}

func words(d *doc.Document) string { return strings.Join(strings.Fields(d.Text()), "") }

// search finds the code and the link, and makes a block of a code that stands alone.
func (m *Mail) search() {
	in := find.Input{Subject: Clean(m.msg.Subject), Preheader: m.body.Preheader, Doc: m.body}
	if m.html != nil && m.text != nil {
		in.Preheader, in.Doc, in.Text = m.html.Preheader, m.html, m.text
	}
	m.found = m.reader.find(in)
	if m.body == m.text && in.Text != nil {
		m.found.Result = m.found.Text // the HTML adds nothing
	}
	if !m.found.CodeOK {
		return
	}
	if blocks, found := codeBlocks(m.body.Blocks, squeeze(m.found.Codes[0].Value)); found {
		body := *m.body
		body.Blocks = blocks
		m.body = &body
	}
}

// codeBlocks turns each block that contains just the code into a code block, and reports whether
// there was one. It changes copies.
func codeBlocks(blocks []*doc.Block, code string) (_ []*doc.Block, found bool) {
	for i, b := range blocks {
		c := codeBlock(b, code)
		if c == nil {
			continue
		}
		if !found {
			blocks, found = slices.Clone(blocks), true
		}
		blocks[i] = c
	}
	return blocks, found
}

// codeBlock returns a copy of b with the code in a block of its own, nil if it has none.
func codeBlock(b *doc.Block, code string) *doc.Block {
	switch b.Kind {
	case doc.Paragraph, doc.Heading:
		if !isCode(b, code) {
			return nil
		}
		c := *b
		c.Kind, c.Spans = doc.Code, []doc.Span{{Text: strings.Join(strings.Fields(b.Text()), " "), Style: b.Spans[0].Style}}
		return &c
	case doc.Row:
		if text := strings.ReplaceAll(b.Text(), "\t", ""); squeeze(text) == code {
			leaf := b.First()
			return &doc.Block{Kind: doc.Code, Gap: b.Gap, Align: leaf.Align, RTL: leaf.RTL, Order: leaf.Order, Spans: []doc.Span{{Text: strings.TrimSpace(text), Style: leaf.Spans[0].Style}}}
		}
	}
	children, found := codeBlocks(b.Children, code)
	if !found {
		return nil
	}
	c := *b
	c.Children = children
	return &c
}

func isCode(b *doc.Block, code string) bool {
	text := b.Text()
	return len(text) <= 40 && squeeze(text) == code &&
		!slices.ContainsFunc(b.Spans, func(s doc.Span) bool { return s.Link > 0 || s.Image > 0 })
}

// squeeze removes the separators within a code.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\n' || r == '–' {
			return -1
		}
		return r
	}, s)
}
