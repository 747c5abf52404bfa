package message_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/fortest"
	"mayfly/internal/message"
)

const raw = "From: Acme <no-reply@acme.example>\r\nTo: ada@mail.test, bob@mail.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n" +
	"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\nX-Other: kept\r\n\r\nYour verification code is 482913.\r\n"

// service is one with a message, and counts what is asked of it.
type service struct {
	*apitest.Server
	client *api.Client
	inbox  api.Inbox
	sent   api.Message
}

var must = fortest.Must

func serve(t *testing.T, o apitest.Options, m apitest.Mail) service {
	s := service{Server: apitest.New(t, o)}
	s.client = s.Client(api.Options{Retries: -1})
	var err error
	s.inbox, err = s.Create("ada+tag", time.Hour)
	must(t, err)
	if s.sent, err = s.Deliver(s.inbox.Email, m); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s service) summary(t *testing.T) api.Summary {
	list, err := s.client.Messages(t.Context(), s.inbox.ID)
	must(t, err)
	return list.Messages[0]
}

// run has do work with a message in a service with and without raw messages.
func run(t *testing.T, do func(t *testing.T, s service, hasRaw bool)) {
	for _, hasRaw := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, apitest.Options{Extensions: hasRaw}, apitest.Mail{
				From: "envelope@acme.example", FromName: "Envelope", Subject: "S", Text: "Your verification code is 482913.\n", Raw: []byte(raw),
			})
			do(t, s, hasRaw)
		})
	}
}

func TestFetch(t *testing.T) {
	run(t, func(t *testing.T, s service, hasRaw bool) {
		m, err := message.Fetch(t.Context(), s.client, s.inbox.ID, s.sent.ID)
		if err != nil || (string(m.Raw) == raw) != hasRaw || m.Flowed != hasRaw {
			t.Fatalf("%+v, %v", m, err)
		}
		// What the service says goes before what the header says.
		if m.From.Addr != "envelope@acme.example" || m.Recipients() != s.inbox.Email || m.Subject != "S" || !m.ReceivedAt.Equal(s.sent.ReceivedAt) {
			t.Errorf("%+v", m)
		}
		if object, _ := json.Marshal(m.Report(40).Message); !strings.Contains(string(object), `"subject":"S"`) {
			t.Errorf("the object of the API: %s", object)
		}
	})
}

func TestTheRawFormAlone(t *testing.T) {
	run(t, func(t *testing.T, s service, hasRaw bool) {
		summary := s.summary(t)
		if _, err := s.client.Raw(t.Context(), s.inbox.ID, s.sent.ID); (err == nil) != hasRaw { // that there are none is known by now
			t.Fatal(err)
		}
		before := len(s.Requests())
		m, err := message.FetchRaw(t.Context(), s.client, s.inbox.ID, summary)
		if err != nil || (m.Raw != nil) != hasRaw || m.ID != s.sent.ID || !strings.Contains(m.Text, "482913") {
			t.Fatalf("%+v, %v", m, err)
		}
		if m.From.Addr != "envelope@acme.example" || (m.From.Name == "Envelope") != hasRaw || m.Subject != "S" || !m.ReceivedAt.Equal(s.sent.ReceivedAt) {
			t.Errorf("%+v", m)
		}
		if n := len(s.Requests()) - before; n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

func TestTheRawFormAddedLater(t *testing.T) {
	run(t, func(t *testing.T, s service, hasRaw bool) {
		object, err := message.FetchObject(t.Context(), s.client, s.inbox.ID, s.sent.ID)
		if err != nil || object.Raw != nil {
			t.Fatalf("%+v, %v", object, err)
		}
		m, err := object.WithRaw(t.Context(), s.client)
		if err != nil || (string(m.Raw) == raw) != hasRaw || m.Subject != "S" {
			t.Fatalf("%+v, %v", m, err)
		}
		s.FailIf(apitest.InternalError, -1, func(*http.Request) bool { return true })
		if _, err := object.WithRaw(t.Context(), s.client); (err != nil) != hasRaw {
			t.Errorf("a failure: %v", err)
		}
	})
}

func TestABodyIsNotReadAgainForTheRawForm(t *testing.T) {
	for text, same := range map[string]bool{
		"Content-Type: text/html\r\n\r\n<p>Hello":                   true,
		"Content-Type: text/plain\r\n\r\nHello":                     true,
		"Content-Type: text/plain; format=flowed\r\n\r\nHello \r\n": false, // the API does not say so
	} {
		synctest.Test(t, func(t *testing.T) {
			parsed := message.File("", "eml", text)
			s := serve(t, apitest.Options{Extensions: true}, apitest.Mail{Text: parsed.Text, HTML: parsed.HTML, Raw: []byte(text)})
			object, err := message.FetchObject(t.Context(), s.client, s.inbox.ID, s.sent.ID)
			must(t, err)
			before := object.Mail().Document()
			m, err := object.WithRaw(t.Context(), s.client)
			must(t, err)
			opened := m.Mail()
			if (opened.Document() == before) != same || m.Mail() != opened {
				t.Errorf("%q: the document is the same: %v, want %v", text, !same, same)
			}
		})
	}
}

func TestTheContentOfAttachments(t *testing.T) {
	for _, extensions := range []bool{true, false} { // fetched, or within the object
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, apitest.Options{Extensions: extensions}, apitest.Mail{Attachments: []api.Attachment{{Filename: "a.txt", Content: []byte("content")}}})
			m, err := message.FetchObject(t.Context(), s.client, s.inbox.ID, s.sent.ID)
			if err != nil || len(m.Attachments) != 1 || m.Attachments[0].Size != 7 {
				t.Fatalf("%+v, %v", m, err)
			}
			if got, err := m.Attachment(t.Context(), s.client, 0); err != nil || string(got.Content) != "content" {
				t.Errorf("%q, %v", got.Content, err)
			}
		})
	}
}
