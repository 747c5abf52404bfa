package message

import (
	"errors"
	"strings"

	"mayfly/api"
	"mayfly/render"
	"mayfly/render/layout"
)

// Report describes a message and what was found in it: the object that the command line prints.
type Report struct {
	Message  any     `json:"message"`  // the API's object, as received if it was fetched
	Rendered string  `json:"rendered"` // the rich view at a width, without styles
	Code     *string `json:"code"`     // the one-time code, null without one
	Link     *string `json:"link"`     // the link that the message asks to follow, null without one
	Links    []Link  `json:"links"`
	Checks   []Check `json:"checks"`
}

// Link is a link of the body by its number.
type Link struct {
	N    int    `json:"n"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Check is something that a tester should look at.
type Check struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Where   string `json:"where"`
}

// Report returns the report, with the message rendered at width columns.
func (m *Message) Report(width int) Report {
	r := Report{Message: m.object, Rendered: m.Plain(render.Options{Width: width}), Links: m.Links(), Checks: m.Checks()}
	if m.object == nil {
		r.Message = m.described()
	}
	if code, ok := m.Mail().Code(); ok {
		r.Code = &code.Value
	}
	if link, ok := m.Mail().Confirm(); ok {
		r.Link = &link.URL
	}
	return r
}

// described returns an object of the API for a message without one.
func (m *Message) described() api.Message {
	object := api.Message{
		ID: m.ID, From: m.From.Addr, FromName: m.From.Name, To: m.Recipients(), Subject: m.Subject, Text: m.Text, HTML: m.HTML,
		ReceivedAt: m.ReceivedAt,
	}
	for _, a := range m.Attachments {
		object.Attachments = append(object.Attachments, api.Attachment{
			ID: a.ID, Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline, Size: int64(a.Size),
		})
	}
	return object
}

// Plain returns the rich view without styles and trailing spaces.
func (m *Message) Plain(o render.Options) string { return m.plain(render.Rich, o) }

// PlainText returns the text of the message, or else that of its HTML, cleaned for a terminal.
func (m *Message) PlainText() string {
	return m.plain(render.Text, render.Options{Width: layout.Unwrapped})
}

func (m *Message) plain(v render.View, o render.Options) string {
	var s strings.Builder
	for i, line := range m.Mail().Lines(v, o) {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(strings.TrimRight(line.Plain, " "))
	}
	return s.String()
}

// Source returns what the message has for the view Text, HTML or Raw, not cleaned: bodies are decoded to UTF-8,
// and a message without text has that of its HTML. The error is for people.
func (m *Message) Source(v render.View) (string, error) {
	source, what := string(m.Raw), "raw form"
	switch v {
	case render.HTML:
		source, what = m.HTML, "HTML part"
	case render.Text:
		if source, what = m.Text, "text"; strings.TrimSpace(source) == "" && m.HTML != "" {
			return m.Mail().Plain() + "\n", nil
		}
	}
	if source == "" {
		return "", errors.New("the message has no " + what)
	}
	return source, nil
}

// Contains reports whether the text of the message, as a reader sees it or as its plain text part has
// it, contains a text, in any case and whatever white space is between its words.
func (m *Message) Contains(part string) bool {
	words := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	var body strings.Builder
	for leaf := range m.Mail().Document().Leaves() {
		for _, span := range leaf.Spans {
			body.WriteString(span.Text)
		}
		body.WriteByte('\n')
	}
	return strings.Contains(words(body.String()), words(part)) || strings.Contains(words(m.Text), words(part))
}

// Links returns the links of the body, never nil.
func (m *Message) Links() []Link {
	links := []Link{}
	for _, l := range m.Mail().Links() {
		links = append(links, Link{l.N, l.Text, l.URL})
	}
	return links
}

// Checks returns what a tester should look at before the message is sent, never nil.
func (m *Message) Checks() []Check {
	checks := []Check{}
	for _, f := range m.Mail().Checks() {
		checks = append(checks, Check{f.ID, f.Level.String(), f.Message, f.Where})
	}
	return checks
}
