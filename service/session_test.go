package service_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"mayfly/service"
)

// came is the record of a delivery.
type came struct {
	Client, Hello, TLS, Login, From string
	Recipients                      []string
	MoreRecipients                  int `json:"more_recipients"`
	Refused                         []struct{ Address, Reply string }
	MoreRefused                     int       `json:"more_refused"`
	ConnectedAt                     time.Time `json:"connected_at"`
	ReceivedAt                      time.Time `json:"received_at"`
}

// delivered delivers a message and returns its record as each of the recipients' keys reads it.
func delivered(t *testing.T, s *service.Service, d service.Delivery, readers map[string]service.Key) map[string]came {
	t.Helper()
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

func recipients(t *testing.T, s *service.Service, addresses ...string) (to []service.Recipient, refused []service.Refusal) {
	t.Helper()
	for _, a := range addresses {
		if r, err := s.Recipient(t.Context(), a); err == nil {
			to = append(to, r)
		} else {
			refused = append(refused, service.Refusal{Recipient: r, Reply: string(service.ErrorCode(err))})
		}
	}
	return to, refused
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
	to, refused := recipients(t, s, ada.Address, bob.Address, ann.Address, gone.Address, mine.Address, "typo@x.test", "not an address")
	if len(to) != 3 || len(refused) != 4 {
		t.Fatalf("to %v, refused %v", to, refused)
	}
	got := delivered(t, s, service.Delivery{From: "a@b.test", To: to, Raw: []byte(plainMail), Session: service.Session{
		Client: "192.0.2.1", Hello: "EHLO app", Login: "ada", TLS: "TLS 1.3", Refused: refused,
	}}, map[string]service.Key{ada.ID: a, ann.ID: a, bob.ID: b})
	for inboxID, want := range map[string]string{
		ada.ID: "[ada@x.test ann@x.test] 0 [{mine@x.test not found} {typo@x.test not found} { invalid}] 0",
		ann.ID: "[ada@x.test ann@x.test] 0 [{mine@x.test not found} {typo@x.test not found} { invalid}] 0",
		bob.ID: "[bob@x.test] 0 [{gone@x.test not found} {typo@x.test not found} { invalid}] 0",
	} {
		c := got[inboxID]
		if s := fmt.Sprint(c.Recipients, c.MoreRecipients, c.Refused, c.MoreRefused); s != want {
			t.Errorf("%s, want %s", s, want)
		}
		if c.Client != "192.0.2.1" || c.Hello != "EHLO app" || c.Login != "ada" || c.TLS != "TLS 1.3" || c.From != "a@b.test" || c.ReceivedAt.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	id := list(t, s, a, ada.ID).Messages[0].ID
	for _, test := range []struct {
		k         service.Key
		inbox, id string
	}{{b, ada.ID, id}, {a, ann.ID, id}, {a, ada.ID, id + "0"}, {a, ada.ID, ""}} {
		wantCode(t, failure(s.Delivery(t.Context(), test.k, test.inbox, test.id)), service.NotFound)
	}
	must(t, s.DeleteMessages(t.Context(), a, ada.ID, id))
	wantCode(t, failure(s.Delivery(t.Context(), a, ada.ID, id)), service.NotFound)
}

// What is cut off from lists is counted.
func TestADeliveryCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{})
	var addresses []string
	var first service.Inbox
	for n := range 30 {
		if in := create(t, s, k, fmt.Sprint("inbox-number-", n)); n == 0 {
			first = in
		}
		addresses = append(addresses, fmt.Sprintf("inbox-number-%d@x.test", n), fmt.Sprintf("unknown-number-%d@x.test", n))
	}
	to, refused := recipients(t, s, addresses...)
	c := delivered(t, s, service.Delivery{From: "a@b.test", To: to, Raw: []byte(plainMail), Session: service.Session{Refused: refused, MoreRefused: 7}},
		map[string]service.Key{first.ID: k})[first.ID]
	if len(c.Recipients) == 0 || len(c.Refused) == 0 || len(c.Recipients)+c.MoreRecipients != 30 || len(c.Refused)+c.MoreRefused != 37 {
		t.Errorf("%+v", c)
	}
}
