package command

import (
	"slices"
	"strings"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/store"
)

// part is what of a message goes to a program.
type part struct {
	title   string
	file    string // its name as a file
	content []byte
	reason  string // why the message does not have it, "" if it does
}

type parts []part

// partsOf returns the parts of a message, the one that a view shows first.
func partsOf(m *message.Message, v render.View) parts {
	text := part{title: "Text", file: "message.txt", content: []byte(m.PlainText() + "\n")}
	html := part{title: "HTML source", file: "message.html", content: []byte(m.HTML)}
	raw := part{title: "Raw message", file: "message.eml", content: m.Raw}
	if m.HTML == "" {
		html.reason = "This message has no HTML"
	}
	if m.Raw == nil {
		raw.reason = "The service does not provide raw messages"
	}
	switch v {
	case render.HTML:
		return parts{html, text, raw}
	case render.Headers, render.Raw:
		return parts{raw, text, html}
	}
	return parts{text, html, raw}
}

// first is the first part that the message has.
func (p parts) first() part {
	return p[slices.IndexFunc(p, func(p part) bool { return p.reason == "" })]
}

func (p parts) named(title string) part {
	return p[slices.IndexFunc(p, func(p part) bool { return p.title == title })]
}

// The variables in the environment of a program.
const (
	codeVariable    = "MAYFLY_CODE"
	linkVariable    = "MAYFLY_LINK"
	addressVariable = "MAYFLY_ADDRESS" // of the inbox
	subjectVariable = "MAYFLY_SUBJECT"
	fromVariable    = "MAYFLY_FROM" // the address of the sender
)

// maxValue is how long a value may be, in bytes: systems start no program with one of 128 KiB.
const maxValue = 32 << 10

// variables are what a program is told of a message in the inbox with an address. A value that is too
// long is left empty.
func variables(m *message.Message, address string) []string {
	found := store.Find(m)
	var environ []string
	for _, v := range [][2]string{
		{codeVariable, found.Code}, {linkVariable, found.Link.URL}, {addressVariable, address},
		{subjectVariable, render.Clean(m.Subject)}, {fromVariable, render.Clean(m.From.Addr)},
	} {
		if len(v[1]) > maxValue || strings.Contains(v[1], "\x00") {
			v[1] = ""
		}
		environ = append(environ, v[0]+"="+v[1])
	}
	return environ
}
