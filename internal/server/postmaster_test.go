package server_test

import (
	"errors"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/service"
)

// Mail for the postmaster, with and without a domain, is kept for the operator, and nobody else.
func TestPostmaster(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Domains = []string{"one.test", "two.test"}
	s := start(t, c)
	for _, test := range []struct {
		to   string
		code int
	}{
		{"postmaster", 250},
		{"Postmaster@one.test", 250},
		{"postmaster@TWO.test.", 250},
		{"postmaster@three.test", 550},
		{"postmaster+x@one.test", 550},
		{"abuse@one.test", 550},
	} {
		if code := smtpCode(send(s.SMTPAddr(), test.to, "to "+test.to)); code != test.code {
			t.Errorf("mail to %s is answered with %d, want %d", test.to, code, test.code)
		}
	}
	if _, err := newClient(t, s).CreateInbox(t.Context(), api.CreateInbox{Username: "postmaster"}); !errors.Is(err, api.ErrInvalid) {
		t.Errorf("an inbox postmaster: %v", err)
	}
	check := func(t *testing.T) {
		a := openAdmin(t, c.Store)
		list, err := a.Postmaster(t.Context())
		must(t, err)
		if len(list) != 3 {
			t.Fatalf("there are %d messages: %+v", len(list), list)
		}
		all := ""
		for _, m := range list {
			raw, err := a.PostmasterRaw(t.Context(), m.ID)
			must(t, err)
			all += string(raw)
			if m.From != "from@sender.example" || m.Size != int64(len(raw)) || !strings.Contains(string(raw), "Subject: "+m.Subject+"\r\n") {
				t.Errorf("message %+v is %q", m, raw)
			}
		}
		if !strings.Contains(all, "to postmaster\r\n") {
			t.Errorf("the messages are %q", all)
		}
		for _, id := range []string{"msg_none", "../keys", service.NewMessageID(1)} {
			if _, err := a.PostmasterRaw(t.Context(), id); service.ErrorCode(err) != service.NotFound {
				t.Errorf("message %q: %v", id, err)
			}
		}
	}
	t.Run("running", check)
	must(t, s.Shutdown(t.Context()))
	t.Run("not running", check)
}

// With catch-all, the application under test may send to any postmaster.
func TestPostmasterOfCatchAll(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.InMemory, c.OwnKey, c.CatchAll = true, true, true
	s := start(t, c)
	for _, to := range []string{"postmaster", "postmaster@one.test", "postmaster@three.test"} {
		if code := smtpCode(send(s.SMTPAddr(), to, "hi")); code != 250 {
			t.Errorf("mail to %s is answered with %d", to, code)
		}
	}
	if list, err := client(t, s, s.Key()).Inboxes(t.Context()); err != nil || len(list.Inboxes) != 2 {
		t.Errorf("inboxes %+v, %v", list, err)
	}
}
