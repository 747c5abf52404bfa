package host

import (
	"slices"
	"strings"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/store"
)

// Part is what of a message goes to a program.
type Part struct {
	Title   string
	File    string // its name as a file
	Content []byte
	Reason  string // why the message does not have it, "" if it does
}

// Parts are the parts of a message.
type Parts []Part

// PartsOf returns the parts of a message, the one that a view shows first.
func PartsOf(m *message.Message, v render.View) Parts {
	text := Part{Title: "Text", File: "message.txt", Content: []byte(m.PlainText() + "\n")}
	html := Part{Title: "HTML source", File: "message.html", Content: []byte(m.HTML)}
	raw := Part{Title: "Raw message", File: "message.eml", Content: m.Raw}
	if m.HTML == "" {
		html.Reason = "This message has no HTML"
	}
	if m.Raw == nil {
		raw.Reason = "The service does not provide raw messages"
	}
	switch v {
	case render.HTML:
		return Parts{html, text, raw}
	case render.Headers, render.Raw:
		return Parts{raw, text, html}
	}
	return Parts{text, html, raw}
}

// First is the first part that the message has.
func (p Parts) First() Part {
	return p[slices.IndexFunc(p, func(p Part) bool { return p.Reason == "" })]
}

// Named is the part with a title.
func (p Parts) Named(title string) Part {
	return p[slices.IndexFunc(p, func(p Part) bool { return p.Title == title })]
}

// The variables in the environment of a program.
const (
	CodeVariable    = "MAYFLY_CODE"
	LinkVariable    = "MAYFLY_LINK"
	AddressVariable = "MAYFLY_ADDRESS" // of the inbox
	SubjectVariable = "MAYFLY_SUBJECT"
	FromVariable    = "MAYFLY_FROM" // the address of the sender
)

// maxValue is how long a value may be, in bytes: systems start no program with one of 128 KiB.
const maxValue = 32 << 10

// Variables are what a program is told of a message in the inbox with an address. A value that is too
// long is left empty.
func Variables(m *message.Message, address string) []string {
	found := store.Find(m)
	var environ []string
	for _, v := range [][2]string{
		{CodeVariable, found.Code}, {LinkVariable, found.Link.URL}, {AddressVariable, address},
		{SubjectVariable, render.Clean(m.Subject)}, {FromVariable, render.Clean(m.From.Addr)},
	} {
		if len(v[1]) > maxValue || strings.Contains(v[1], "\x00") {
			v[1] = ""
		}
		environ = append(environ, v[0]+"="+v[1])
	}
	return environ
}
