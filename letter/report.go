package letter

import (
	"strings"

	"mayfly/render"
)

// Report is what is made of one message: the object that the command line and the MCP server print.
type Report struct {
	Message  any     `json:"message"`  // the whole object of the API, as received
	Rendered string  `json:"rendered"` // the rich view at a width, without styles
	Code     *string `json:"code"`     // the one-time code, null without one
	Link     *string `json:"link"`     // the link that the message is for, null without one
	Links    []Link  `json:"links"`
	Checks   []Check `json:"checks"`
}

// Link is a link of the body by its number.
type Link struct {
	N    int    `json:"n"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Check is what a tester should look at.
type Check struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Where   string `json:"where"`
}

// NewReport reports on a message that was opened, rendered at width columns. The message is marshalled as it stands.
func NewReport(message any, mail *render.Mail, width int) Report {
	r := Report{Message: message, Rendered: Plain(mail.Lines(render.Rich, render.Options{Width: width}))}
	if code, ok := mail.Code(); ok {
		r.Code = &code.Value
	}
	if link, ok := mail.Confirm(); ok {
		r.Link = &link.URL
	}
	r.Links = make([]Link, 0, len(mail.Links()))
	for _, l := range mail.Links() {
		r.Links = append(r.Links, Link{l.N, l.Text, l.URL})
	}
	r.Checks = []Check{}
	for _, f := range mail.Checks() {
		r.Checks = append(r.Checks, Check{f.ID, f.Level.String(), f.Message, f.Where})
	}
	return r
}

// Plain is the text of lines without styles and without spaces at the ends.
func Plain(lines []render.Line) string {
	var s strings.Builder
	for i, line := range lines {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(strings.TrimRight(line.Plain, " "))
	}
	return s.String()
}
