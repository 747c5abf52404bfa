package render

import (
	"mayfly/render/check"
	"mayfly/render/find"
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

func (m *Mail) check() []check.Finding { return nil }
