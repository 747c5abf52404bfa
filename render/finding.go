package render

import (
	"mayfly/internal/clean"
	"mayfly/internal/mail"
	"mayfly/render/check"
	"mayfly/render/find"
)

// Find returns the candidates for the code and the link, with the reasons for their scores.
func (m *Mail) Find() find.Result { return m.found.Result }

// Code returns the one-time code of the mail, if it has one.
func (m *Mail) Code() (find.Code, bool) {
	if !m.found.CodeOK {
		return find.Code{}, false
	}
	return m.found.Codes[0], true
}

// Codes returns the code and other candidates, the likeliest first.
func (m *Mail) Codes() []find.Code { return m.found.Codes }

// Confirm returns the link that the mail asks to follow, if there is one.
func (m *Mail) Confirm() (find.Link, bool) {
	if !m.found.LinkOK {
		return find.Link{}, false
	}
	return m.found.Links[0], true
}

// Checks returns what a tester should look at before the mail is sent.
func (m *Mail) Checks() []check.Finding { return m.checks() }

func (m *Mail) check() []check.Finding {
	in := check.Input{
		Subject: Clean(m.msg.Subject), ReceivedAt: m.msg.ReceivedAt,
		BodyOnly: m.msg.Raw == nil && m.msg.From == mail.Address{} && m.msg.To == nil && m.msg.Subject == "" && (m.msg.Text == "" || m.msg.HTML == ""),
	}
	if clean.Turned(m.msg.Subject) != m.msg.Subject {
		in.Reversed = append(in.Reversed, "subject")
	}
	if clean.Turned(m.msg.From.Name) != m.msg.From.Name {
		in.Reversed = append(in.Reversed, "sender")
	}
	if m.text != nil {
		in.Text = check.Part{Source: m.msg.Text, Doc: m.text, Found: m.found.Text}
	}
	if m.html != nil {
		in.HTML = check.Part{Source: m.msg.HTML, Doc: m.html, Found: m.found.Doc}
	}
	for _, f := range m.msg.Fields {
		in.Fields = append(in.Fields, check.Field{Name: f.Name, Value: Clean(f.Value)})
	}
	for _, d := range m.msg.Defects {
		in.Defects = append(in.Defects, Clean(d))
	}
	return check.Run(in)
}
