package render

import (
	"strings"

	"mayfly/render/check"
	"mayfly/render/doc"
	"mayfly/render/find"
	"mayfly/render/html"
)

// Find is what was found in the mail, with what may be a code or the link too, and why.
func (m *Mail) Find() find.Result { return m.found }

// Code is the one-time code of the mail.
func (m *Mail) Code() (find.Code, bool) {
	if !m.found.CodeOK {
		return find.Code{}, false
	}
	return m.found.Codes[0], true
}

// Codes are the code and those nearly as likely.
func (m *Mail) Codes() []find.Code { return m.found.Codes }

// Confirm is the link that the mail is for.
func (m *Mail) Confirm() (find.Link, bool) {
	if !m.found.LinkOK {
		return find.Link{}, false
	}
	return m.found.Links[0], true
}

// Checks are what a tester should look at before the mail is sent.
func (m *Mail) Checks() []check.Finding { return m.checks() }

// check reads both parts anew, each for itself: what is shown may be one of them only.
func (m *Mail) check() []check.Finding {
	in := check.Input{
		Subject: Clean(m.msg.Subject), ReceivedAt: m.msg.ReceivedAt,
		BodyOnly: m.msg.Headers == nil && m.msg.Raw == nil && m.msg.From+m.msg.To+m.msg.Subject == "" && (m.msg.Text == "" || m.msg.HTML == ""),
	}
	if strings.TrimSpace(m.msg.Text) != "" {
		in.Text = m.part(m.msg.Text, textBody(m.msg))
	}
	if strings.TrimSpace(m.msg.HTML) != "" {
		in.HTML = m.part(m.msg.HTML, html.Read(m.msg.HTML))
	}
	for _, f := range m.msg.Headers {
		in.Fields = append(in.Fields, check.Field{Name: f.Name, Value: Clean(f.Value)})
	}
	return check.Run(in)
}

func (m *Mail) part(source string, d *doc.Document) check.Part {
	found := find.Find(find.Input{Subject: Clean(m.msg.Subject), Preheader: d.Preheader, From: m.msg.From, Doc: d})
	return check.Part{Source: source, Doc: d, Found: found}
}
