package render

import (
	"strings"

	"mayfly/render/doc"
	"mayfly/render/find"
	"mayfly/render/html"
	"mayfly/render/markdown"
	"mayfly/render/text"
)

// bodies reads the parts of a message: the body that is shown, and the text part beside it, nil when there is none.
func bodies(m Message) (body, beside *doc.Document) {
	if strings.TrimSpace(m.Text) != "" {
		beside = textBody(m)
	}
	if strings.TrimSpace(m.HTML) == "" {
		if beside == nil {
			return &doc.Document{}, nil
		}
		return beside, nil
	}
	body = html.Read(m.HTML)
	if beside != nil && addsNothing(body, beside) {
		return beside, nil
	}
	if len(body.Blocks) == 0 {
		if d := html.Unended(m.HTML); len(d.Blocks) > 0 {
			return d, nil
		}
	}
	return body, beside
}

// textBody reads the text part, as Markdown where it is.
func textBody(m Message) *doc.Document {
	declared := strings.EqualFold(m.TextType, "text/markdown")
	if !declared && (m.HTML != "" || !markdown.Is(m.Text)) {
		return text.Read(m.Text, text.Options{Flowed: m.Flowed, DelSp: m.DelSp})
	}
	if d, ok := markdown.Read(m.Text, markdown.Options{KeepLines: !declared}); ok {
		return d
	}
	d := text.Read(m.Text, text.Options{Flowed: m.Flowed, DelSp: m.DelSp})
	if declared && d.Simplified == "" {
		d.Simplified = "the Markdown is shown as text: it is too long or too deep"
	}
	return d
}

// addsNothing reports whether the HTML has neither look nor words that the text has not.
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

// search finds the code and the link, and sets a code that stands alone apart.
func (m *Mail) search() {
	m.found = find.Find(find.Input{
		Subject: Clean(m.msg.Subject), Preheader: m.body.Preheader, From: m.msg.From, Doc: m.body, Text: m.beside,
	})
	if m.found.CodeOK {
		setApart(m.body.Blocks, squeeze(m.found.Codes[0].Value))
	}
}

// setApart makes a code block of each block that is the code and nothing else.
func setApart(blocks []*doc.Block, code string) {
	for _, b := range blocks {
		switch b.Kind {
		case doc.Paragraph, doc.Heading:
			if isCode(b, code) {
				b.Kind = doc.Code
			}
		case doc.Row:
			if text := strings.ReplaceAll(b.Text(), "\t", ""); squeeze(text) == code {
				style := firstStyle(b)
				*b = doc.Block{Kind: doc.Code, Gap: b.Gap, Order: firstOrder(b), Spans: []doc.Span{{Text: strings.TrimSpace(text), Style: style}}}
				continue
			}
			setApart(b.Children, code)
		default:
			setApart(b.Children, code)
		}
	}
}

func isCode(b *doc.Block, code string) bool {
	for _, s := range b.Spans {
		if s.Link > 0 || s.Image > 0 {
			return false
		}
	}
	text := b.Text()
	if len(text) > 40 || squeeze(text) != code {
		return false
	}
	b.Spans = []doc.Span{{Text: strings.Join(strings.Fields(text), " "), Style: b.Spans[0].Style}}
	return true
}

func firstStyle(b *doc.Block) doc.Style {
	for c := b; ; c = c.Children[0] {
		if len(c.Spans) > 0 {
			return c.Spans[0].Style
		}
		if len(c.Children) == 0 {
			return doc.Style{}
		}
	}
}

func firstOrder(b *doc.Block) int {
	for c := b; ; c = c.Children[0] {
		if c.Order > 0 || len(c.Children) == 0 {
			return c.Order
		}
	}
}

// squeeze is a code without what only parts its characters.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '\u00a0' || r == '\n' || r == '–' {
			return -1
		}
		return r
	}, s)
}
