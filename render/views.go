package render

import (
	"bytes"
	"fmt"
	"strings"

	"mayfly/mail"
	"mayfly/render/clean"
	"mayfly/render/doc"
	"mayfly/render/layout"
)

// maxSource is how much of a source is shown, in bytes. All of it can be saved to a file.
const maxSource = 2 << 20

// view returns the document of a view.
func (m *Mail) view(v View) *doc.Document {
	switch v {
	case Text:
		if strings.TrimSpace(m.msg.Text) == "" {
			return source(m.plain())
		}
		return source(m.msg.Text)
	case HTML:
		if m.msg.HTML == "" {
			return note("The mail has no HTML part.")
		}
		return source(m.msg.HTML)
	case Headers:
		return m.headers()
	case Raw:
		if m.msg.Raw == nil {
			return note("There is no raw message: the service does not provide it.")
		}
		return source(string(bytes.ToValidUTF8(m.msg.Raw[:min(len(m.msg.Raw), maxSource+1)], []byte("\uFFFD"))))
	case Checks:
		return m.checkList()
	}
	return m.body
}

// source shows text as it is, with all its spaces.
func source(text string) *doc.Document {
	more := max(len(text)-maxSource, 0)
	text = strings.TrimRight(clean.Lines(text[:len(text)-more]), "\n ")
	d := &doc.Document{Blocks: []*doc.Block{{Kind: doc.Pre, Spans: []doc.Span{{Text: text}}}}}
	if more > 0 {
		d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Paragraph, Gap: true, Spans: []doc.Span{
			{Text: "Truncated: save the message to a file to see all of it.", Style: doc.Style{Italic: true}}}})
	}
	return d
}

// note is a line that is not from the mail.
func note(text string) *doc.Document {
	return &doc.Document{Blocks: []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: text, Style: doc.Style{Italic: true}}}}}}
}

// maxHeaders is how many header fields are shown.
const maxHeaders = 1000

// headers shows the header fields, or those known without the raw message.
func (m *Mail) headers() *doc.Document {
	fields := m.msg.Fields
	if len(fields) == 0 {
		from := m.msg.From.Addr
		if m.msg.From.Name != "" {
			from = m.msg.From.Name + " <" + from + ">"
		}
		fields = []mail.Field{{Name: "From", Value: from}, {Name: "To", Value: m.msg.Recipients()}, {Name: "Subject", Value: m.msg.Subject}}
	}
	d := &doc.Document{}
	for _, f := range fields[:min(len(fields), maxHeaders)] {
		d.Blocks = append(d.Blocks, field(f.Name, f.Value))
	}
	if more := len(fields) - maxHeaders; more > 0 {
		d.Blocks = append(d.Blocks, field("…", fmt.Sprintf("%d more", more)))
	}
	return d
}

func field(name, value string) *doc.Block {
	const maxValue = 64 << 10
	return &doc.Block{Kind: doc.Paragraph, Spans: []doc.Span{
		{Text: clean.Line(name) + ":", Style: doc.Style{Bold: true}},
		{Text: " " + clean.Line(strings.ToValidUTF8(value[:min(len(value), maxValue)], "\uFFFD"))},
	}}
}

// checkList lists the findings of the checks.
func (m *Mail) checkList() *doc.Document {
	findings := m.Checks()
	if len(findings) == 0 {
		return note("No problems were found.")
	}
	d := &doc.Document{}
	for _, f := range findings {
		text := clean.Line(f.Message)
		if f.Where != "" {
			text += " (" + clean.Line(f.Where) + ")"
		}
		d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Item, Marker: levelMark(f.Level.String()), Children: []*doc.Block{
			{Kind: doc.Paragraph, Spans: []doc.Span{
				{Text: f.Level.String(), Style: doc.Style{Bold: true}}, {Text: "  " + text + "  "}, {Text: f.ID, Style: doc.Style{Italic: true}},
			}},
		}})
	}
	return d
}

func levelMark(level string) string {
	switch level {
	case "error":
		return "✕"
	case "warning":
		return "!"
	}
	return "·"
}

// lay lays out a view.
func (m *Mail) lay(v View, o Options) []Line {
	opts := layout.Options{Width: o.Width, Theme: o.Theme, Unfold: true}
	if v == Rich {
		opts.Hidden, opts.Unfold, opts.Links = o.Hidden, o.Unfold, o.Links
		opts.Images, opts.Image = o.Images, m.image
	}
	return layout.Lay(m.view(v), opts)
}
