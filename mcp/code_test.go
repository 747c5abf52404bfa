package mcp_test

import (
	"testing"

	"mayfly/api/apitest"
)

// A word in capitals is no code, neither that of a message nor one beside it.
func TestWordsInCapitalsAreNoCodes(t *testing.T) {
	a := newAgent(t, apitest.Options{Extensions: true}, nil)
	for _, c := range []struct{ subject, text, code string }{
		{"WELCOME", "WELCOME\n\nThank you for joining ACME.", ""},
		{"BIG SALE at ACME", "SALE\n\nUP TO 50% OFF\n\nSHOP NOW", ""},
		{"Hello from ACME", "WELCOME\n\nYour verification code is 482913.\n\nACME", "482913"},
		{"WELCOME to ACME", "WELCOME\n\nYour verification code:\n\n482913\n\nACME\nBERLIN", "482913"},
		{"Your ACME code", "ACME\n\nYour code is\n\n482913\n\nSALE: use SAVE20 for 20% off", "482913"},
	} {
		inbox := a.inbox()
		m := a.deliver(inbox, apitest.Mail{From: "no-reply@acme.example", Subject: c.subject, Text: c.text})
		read := map[string]any{"code": ""}
		a.call("read_message", map[string]any{"inbox": inbox.ID, "message": m.ID}, &read)
		if read["code"] != c.code {
			t.Errorf("%q %q: code %q", c.subject, c.text, read["code"])
		}
		if c.code == "" {
			continue
		}
		var got map[string]any
		a.call("get_code", map[string]any{"inbox": inbox.ID}, &got)
		if others := got["others"]; got["code"] != c.code || others != nil {
			t.Errorf("%q %q: code %q, others %q", c.subject, c.text, got["code"], others)
		}
	}
}
