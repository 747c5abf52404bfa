package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// What waits for one key's row stops neither the deliveries of others nor who gives up waiting behind it.
func TestDeliveriesOfOneKeyStopNoOthers(t *testing.T) {
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
	if _, err := tx.Exec(t.Context(), lockOwner, stuck.KeyID); err != nil {
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
	await(t, "the second delivery waits", func() bool { return s.deliveries.length() == 1 })
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up got %v", err)
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
