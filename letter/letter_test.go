package letter_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/letter"
	"mayfly/render"
)

const raw = "From: Acme <no-reply@acme.example>\r\nTo: ada@mail.test, bob@mail.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n" +
	"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\nX-Other: kept\r\n\r\nYour verification code is 482913.\r\n"

func TestARawMessageTellsEverything(t *testing.T) {
	m := letter.FromRaw([]byte(raw))
	if m.From != "no-reply@acme.example" || m.FromName != "Acme" || m.To != "ada@mail.test, bob@mail.test" || m.Subject != "Grüße" {
		t.Errorf("%+v", m)
	}
	if m.TextType != "text/plain" || !m.Flowed || !m.DelSp || string(m.Raw) != raw || !strings.Contains(m.Text, "482913") {
		t.Errorf("%+v", m)
	}
	if len(m.Headers) != 5 || m.Headers[4] != (render.Header{Name: "X-Other", Value: "kept"}) {
		t.Errorf("%+v", m.Headers)
	}
}

func TestWhatTheAPITellsGoesBeforeTheRawMessage(t *testing.T) {
	received := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	m := letter.Letter{
		Message: api.Message{From: "envelope@acme.example", To: "ada+tag@mail.test", Subject: "S", ReceivedAt: received},
		Raw:     []byte(raw),
	}.Content()
	if m.From != "envelope@acme.example" || m.To != "ada+tag@mail.test" || m.Subject != "S" || !m.ReceivedAt.Equal(received) || !m.Flowed {
		t.Errorf("%+v", m)
	}
}

func TestFetchWithAndWithoutRawMessages(t *testing.T) {
	for _, extensions := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			service := apitest.New(apitest.Options{Extensions: extensions})
			defer service.Close()
			client := service.Client(api.Options{})
			inbox, err := service.Create("ada", time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			sent, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "S", Text: "text", Raw: []byte(raw)})
			if err != nil {
				t.Fatal(err)
			}
			l, err := letter.Fetch(t.Context(), client, inbox.ID, sent.ID)
			if err != nil || l.Message.Text != "text" || (string(l.Raw) == raw) != extensions {
				t.Errorf("with extensions %v: %+v, %v", extensions, l, err)
			}
		})
	}
}
