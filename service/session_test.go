package service_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

type came struct {
	Client, Hello, TLS, Login, From string
	Recipients                      []struct{ Address, Refused string }
	More                            bool
	After                           int `json:"accepted_after_ms"`
	Number                          int `json:"message_number"`
}

// delivered delivers a message and returns its record as each of the recipients' keys reads it.
func delivered(t *testing.T, s *service.Service, d service.Delivery, readers map[string]service.Key) map[string]came {
	t.Helper()
	d.Raw, d.Connected = []byte(plainMail), time.Now().Add(-time.Minute)
	must(t, s.Deliver(t.Context(), d))
	all := map[string]came{}
	for inboxID, k := range readers {
		id := list(t, s, k, inboxID).Messages[0].ID
		record, err := s.Delivery(t.Context(), k, inboxID, id)
		must(t, err)
		var c came
		if err := json.Unmarshal(record, &c); err != nil || len(record) > 1024 {
			t.Fatalf("a record of %d bytes, %v: %s", len(record), err, record)
		}
		all[inboxID] = c
	}
	return all
}

func recipients(t *testing.T, s *service.Service, addresses ...string) (d service.Delivery) {
	t.Helper()
	for _, a := range addresses {
		if r, err := s.Recipient(t.Context(), "", a); err == nil {
			d.To = append(d.To, r)
		} else {
			r.Refused = string(service.ErrorCode(err))
			d.Refused = append(d.Refused, r)
		}
	}
	return d
}

// A key learns nothing of the recipients of other keys, whether they were accepted or refused.
func TestADeliveryNamesNobodyElsesRecipients(t *testing.T) {
	t.Parallel()
	s, a := start(t, service.Dev, service.Options{})
	b := createKey(t, s)
	ada, ann, bob, gone := create(t, s, a, "ada"), create(t, s, a, "ann"), create(t, s, b, "bob"), create(t, s, b, "gone")
	mine := create(t, s, a, "mine")
	must(t, s.DeleteInbox(t.Context(), b, gone.ID))
	must(t, s.DeleteInbox(t.Context(), a, mine.ID))
	d := recipients(t, s, ada.Address, bob.Address, ann.Address, gone.Address, mine.Address, "typo@x.test", "not an address")
	if len(d.To) != 3 || len(d.Refused) != 4 {
		t.Fatalf("to %v, refused %v", d.To, d.Refused)
	}
	d.From, d.Session = "a@b.test", service.Session{Client: "192.0.2.1:25", Hello: "EHLO app", Login: "ada", TLS: "TLS 1.3", Messages: map[string]int{a.ID: 3, b.ID: 1}}
	got := delivered(t, s, d, map[string]service.Key{ada.ID: a, ann.ID: a, bob.ID: b})
	for inboxID, want := range map[string]string{
		ada.ID: "[{mine@x.test not found} {typo@x.test not found} { invalid} {ada@x.test } {ann@x.test }] false",
		ann.ID: "[{mine@x.test not found} {typo@x.test not found} { invalid} {ada@x.test } {ann@x.test }] false",
		bob.ID: "[{gone@x.test not found} {typo@x.test not found} { invalid} {bob@x.test }] false",
	} {
		c := got[inboxID]
		if number := map[bool]int{true: 1, false: 3}[inboxID == bob.ID]; c.Number != number {
			t.Errorf("message %d of the session, want %d", c.Number, number)
		}
		if s := fmt.Sprint(c.Recipients, c.More); s != want {
			t.Errorf("%s, want %s", s, want)
		}
		if c.Client != "192.0.2.1:25" || c.Hello != "EHLO app" || c.Login != "ada" || c.TLS != "TLS 1.3" || c.From != "a@b.test" || c.After < 59_000 {
			t.Errorf("%+v", c)
		}
	}
	id := list(t, s, a, ada.ID).Messages[0].ID
	for _, test := range []struct {
		k         service.Key
		inbox, id string
	}{{b, ada.ID, id}, {a, ann.ID, id}, {a, ada.ID, id + "0"}, {a, ada.ID, ""}} {
		wantCode(t, fortest.Failure(s.Delivery(t.Context(), test.k, test.inbox, test.id)), service.NotFound)
	}
	must(t, s.DeleteMessages(t.Context(), a, ada.ID, id))
	wantCode(t, fortest.Failure(s.Delivery(t.Context(), a, ada.ID, id)), service.NotFound)
}
