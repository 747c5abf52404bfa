package postgres

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(b) // never fails
	return b
}

// A mail for many inboxes of a key is stored once, and goes with the last of them, wherever they are by then.
func TestBodyIsStoredOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		raw := noise(2 << 20)
		var inboxes []service.Inbox
		for n := range 100 {
			inboxes = append(inboxes, create(t, s, n, time.Hour+time.Duration(n%3)*time.Hour))
		}
		a := service.Append{Received: day, Raw: raw}
		for _, in := range inboxes {
			a.Messages = append(a.Messages, service.NewMessage{KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 30, To: in.Address})
		}
		check(t, s.Append(t.Context(), a))
		wants := func(rows, shared int) {
			t.Helper()
			if n, bytes := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)+" WHERE shared > 0"), count(t, s, "SELECT coalesce(sum(length(raw)), 0) FROM "+allMessages(t, s)); n != rows || bytes/len(raw) != rows {
				t.Errorf("%d bodies with %d bytes, want %d", n, bytes, rows)
			}
			if n := count(t, s, "SELECT coalesce(sum(shared), 0) FROM "+allMessages(t, s)); n != shared {
				t.Errorf("%d messages share them, want %d", n, shared)
			}
		}
		wants(1, 100)
		reads := func(in service.Inbox) {
			t.Helper()
			if m, err := s.Message(t.Context(), in, 1); err != nil || !bytes.Equal(m.Raw, raw) {
				t.Errorf("%s has %d bytes, %v", in.ID, len(m.Raw), err)
			}
		}
		reads(inboxes[0])
		reads(inboxes[2])
		check(t, s.DeleteMessages(t.Context(), inboxes[5], ""))
		check(t, s.DeleteMessages(t.Context(), inboxes[8], messages(t, s, inboxes[8])[0].ID))
		wants(1, 98)
		check(t, s.DeleteInbox(t.Context(), inboxes[11].KeyID, inboxes[11].ID))
		check(t, fortest.Failure(s.Sweep(t.Context(), day, 1000)))
		wants(1, 97)
		// Two are extended, past the end of the body's slot.
		for _, in := range inboxes[:2] {
			check(t, fortest.Failure(s.ExtendInbox(t.Context(), in.KeyID, in.ID, day, day.Add(48*time.Hour))))
		}
		check(t, fortest.Failure(s.Sweep(t.Context(), slotOf(inboxes[2]).ends().Add(dropAfter), 1000)))
		wantPartitions(t, s, 1)
		wants(1, 2)
		reads(inboxes[0])
		check(t, s.DeleteMessages(t.Context(), inboxes[0], ""))
		reads(inboxes[1])
		check(t, s.DeleteMessages(t.Context(), inboxes[1], ""))
		if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// A mail of 25 MB to inboxes of several keys, which is permitted, is stored, however little time other operations have.
func TestLargestMailIsStored(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{Timeout: time.Second})
	a := service.Append{Received: day, Raw: noise(25 << 20)}
	for n := range 3 {
		in := service.Inbox{ID: fmt.Sprint("inbox_", n), KeyID: fmt.Sprint("key_", n), Address: fmt.Sprint(n, "@x.test"), CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
		check(t, s.CreateInbox(t.Context(), in, math.MaxInt))
		a.Messages = append(a.Messages, service.NewMessage{KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 30, To: in.Address})
	}
	check(t, s.Append(t.Context(), a))
}
