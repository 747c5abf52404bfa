package postgres

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// While somebody has the row of one key locked, the expired inboxes of all others go, however many the key has.
func TestLockedKeyKeepsItsInboxesAlone(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{Timeout: 4 * time.Second})
		for n := range 30 {
			in := service.Inbox{ID: fmt.Sprint("inbox_", n), KeyID: fmt.Sprint("key_", n%5), Address: fmt.Sprint(n, "@x.test"), CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
			if in.KeyID == "key_0" {
				in.ExpiresAt = day.Add(time.Minute) // first
			}
			check(t, s.CreateInbox(t.Context(), in, math.MaxInt))
		}
		v, err := s.serverOf(t.Context(), "key_0")
		check(t, err)
		tx, err := v.pool.Begin(t.Context())
		check(t, err)
		defer tx.Rollback(context.WithoutCancel(t.Context()))
		execute(t, tx, "SET LOCAL idle_in_transaction_session_timeout = 0")
		execute(t, tx, lockOwner, "key_0")
		swept := 0
		for range 30/4 + 1 {
			some, err := s.Sweep(t.Context(), day.Add(time.Hour), 4) // fewer than the locked key has
			check(t, err)
			swept += len(some.Inboxes)
		}
		if left := count(t, s, "SELECT count(*) FROM inboxes"); swept != 24 || left != 6 {
			t.Errorf("%d inboxes are removed and %d left, want 24 and the 6 of the locked key", swept, left)
		}
		check(t, tx.Rollback(t.Context()))
		if some, err := s.Sweep(t.Context(), day.Add(time.Hour), 100); err != nil || len(some.Inboxes) != 6 {
			t.Errorf("then %d are removed, %v", len(some.Inboxes), err)
		}
	})
}

// A process that stops in the middle of a sweep does not keep others from it for ever, and these say so.
func TestStoppedSweeperIsReplaced(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	var said bytes.Buffer
	stopped, s := open(t, url, Options{}), open(t, url, Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
	in := create(t, s, 1, time.Hour)
	conn, err := stopped.coordinator.Acquire(t.Context())
	check(t, err)
	defer conn.Release()
	check(t, lockSweep(t.Context(), conn, 2*time.Second))
	swept := func() int {
		t.Helper()
		some, err := s.Sweep(t.Context(), in.ExpiresAt, 10)
		check(t, err)
		return len(some.Inboxes)
	}
	if n := swept(); n != 0 {
		t.Errorf("two processes sweep: %d", n)
	}
	check(t, s.coordinator.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error { return s.reportLock(t.Context(), c, 0) }))
	if line := said.String(); !strings.Contains(line, "holds the lock") || !strings.Contains(line, fmt.Sprint("pid=", conn.Conn().PgConn().PID())) {
		t.Errorf("the log says %q", line)
	}
	await(t, "the session that does nothing has ended", func() bool { return swept() == 1 })
	if err := lockSweep(t.Context(), conn, time.Minute); err == nil {
		t.Error("the stopped process goes on")
	}
}

// The clock of a process's machine decides nothing.
func TestDatabaseTellsTheTime(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	behind := func() time.Duration {
		var now time.Time
		check(t, s.pool.QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now))
		return s.Now().Sub(now).Abs()
	}
	if d := behind(); d > 10*time.Second {
		t.Errorf("the time is %v beside the database's", d)
	}
	// What a process took for the time before it read the clock again.
	s.clock.last.Store(&reading{database: day.Add(3 * time.Hour), here: time.Now()})
	if d := s.Now().Sub(day.Add(3 * time.Hour)); d < 0 || d > time.Minute {
		t.Errorf("it goes on by %v", d)
	}
	check(t, s.readClock(t.Context(), s.pool))
	if d := behind(); d > 10*time.Second {
		t.Errorf("after reading the clock the time is %v beside it", d)
	}
	v := service.New(s, service.Options{Domains: []string{"x.test"}})
	_, k, err := v.CreateKey(t.Context(), "", service.Dev)
	check(t, err)
	s.clock.last.Store(&reading{database: day, here: time.Now()})
	in, err := v.CreateInbox(t.Context(), k, service.NewInbox{TTL: time.Hour})
	if err != nil || in.CreatedAt.Before(day) || in.CreatedAt.After(day.Add(time.Minute)) {
		t.Errorf("an inbox is made at %v, %v", in.CreatedAt, err)
	}
}
