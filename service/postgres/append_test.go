package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// A delivery that waits for a key's row blocks neither those for other keys nor callers that give
// up behind it.
func TestBlockedDeliveryBlocksNoOtherKeys(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{Timeout: time.Minute})
	stuck, free := create(t, s, 1, time.Hour), create(t, s, 2, time.Hour)
	free.ID, free.KeyID, free.Address = "inbox_other", "key_other", "other@x.test"
	if err := s.CreateInbox(t.Context(), free); err != nil {
		t.Fatal(err)
	}
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	if _, err := tx.Exec(t.Context(), "SELECT FROM owners WHERE key_id = $1 FOR NO KEY UPDATE", stuck.KeyID); err != nil {
		t.Fatal(err)
	}

	first := make(chan error, 1)
	go func() { first <- deliver(t.Context(), s, stuck, "first") }()
	await(t, "the first delivery waits in the database", func() bool {
		return count(t, s, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
	})
	for range 3 * committers {
		if err := deliver(t.Context(), s, free, "x"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() { second <- deliver(ctx, s, stuck, "second") }()
	await(t, "the second delivery waits", func() bool { return s.any.deliveries.length() == 1 })
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
	for in, want := range map[service.Inbox]int{stuck: 1, free: 3 * committers} {
		if got := len(messages(t, s, in)); got != want {
			t.Errorf("%s has %d messages, want %d", in.ID, got, want)
		}
	}
}

// While another session has a row locked, only mail that needs the row is refused, and none of the
// rest of its group.
func TestLockedRowRefusesOnlyItsKey(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]string{
		"owner": "SELECT FROM owners WHERE key_id = 'key_0' FOR UPDATE",
		"inbox": "SELECT FROM inboxes WHERE id = 'inbox_0' FOR UPDATE",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A third of the timeout bounds the wait for a lock.
			s := open(t, pgtest.Database(t), Options{Timeout: 3 * time.Second})
			var inboxes []service.Inbox
			for n := range 2 * committers {
				in := service.Inbox{ID: fmt.Sprint("inbox_", n), KeyID: fmt.Sprint("key_", n), Address: fmt.Sprint(n, "@x.test"), CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
				if err := s.CreateInbox(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				inboxes = append(inboxes, in)
			}
			tx, err := s.pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.WithoutCancel(t.Context()))
			if _, err := tx.Exec(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0; "+held); err != nil {
				t.Fatal(err)
			}
			var group []*delivery
			add := func(to ...service.Inbox) {
				d := &delivery{Append: service.Append{Received: day}, size: 1, packed: pack([]byte("x")), done: make(chan error, 1)}
				for _, in := range to {
					d.Messages = append(d.Messages, service.NewMessage{KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 10, To: in.Address})
				}
				group = append(group, d)
			}
			last := len(inboxes) - 1
			for _, in := range inboxes[:last] {
				add(in)
			}
			add(inboxes[1], inboxes[2])
			add(inboxes[last], inboxes[0])
			s.commit(s.pool, group)
			for i, d := range group {
				refused := i == 0 || i == len(group)-1
				if err := <-d.done; (err != nil) != refused || refused && service.ErrorCode(err) != service.Unavailable {
					t.Errorf("delivery %d ends with %v", i, err)
				}
			}
			for i, in := range inboxes {
				want := 1
				switch i {
				case 0, last:
					want = 0
				case 1, 2:
					want = 2
				}
				if n := len(messages(t, s, in)); n != want {
					t.Errorf("%s has %d messages, want %d", in.ID, n, want)
				}
			}
		})
	}
}
