package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// open opens a store that is closed at the end of the test. It creates slots only when they are
// needed: the tables for a month would take most of the time of a test.
func open(t *testing.T, url string, o Options) *Store {
	t.Helper()
	o.noSlotsAhead = true
	s, err := Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func count(t *testing.T, s *Store, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := s.pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

var day = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

func create(t *testing.T, s *Store, n int, life time.Duration) service.Inbox {
	t.Helper()
	in := service.Inbox{
		ID: fmt.Sprintf("inbox_%d", n), KeyID: "key_a", Address: fmt.Sprintf("%d@x.test", n), CreatedAt: day, ExpiresAt: day.Add(life),
	}
	if err := s.CreateInbox(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in
}

func deliver(ctx context.Context, s *Store, in service.Inbox, raw string) error {
	return s.Append(ctx, service.Append{Received: in.CreatedAt, Raw: []byte(raw), Messages: []service.NewMessage{{
		KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 30, To: in.Address, From: "a@b.example",
	}}})
}

func messages(t *testing.T, s *Store, in service.Inbox) []service.Summary {
	t.Helper()
	list, err := s.Messages(t.Context(), in, 1<<40, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEachStepOfTheSchemaIsAppliedOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	stores := make([]*Store, 8)
	var starting sync.WaitGroup
	for i := range stores {
		starting.Go(func() {
			s, err := Open(t.Context(), url, Options{noSlotsAhead: true})
			if err != nil {
				t.Error(err)
				return
			}
			stores[i] = s
		})
	}
	starting.Wait()
	for _, s := range stores {
		if s == nil {
			continue
		}
		if n := count(t, s, "SELECT count(*) FROM schema_steps"); n != len(migrations) {
			t.Errorf("the schema has %d steps, want %d", n, len(migrations))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSchemaIsUpdatedWhileOldProcessesRun(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old := open(t, url, Options{})
	in := create(t, old, 1, time.Hour)

	ctx, cancel := context.WithCancel(t.Context())
	accepted := make(chan int, 1)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			if err := deliver(t.Context(), old, in, "old"); err != nil {
				t.Errorf("the old process: %v", err)
				break
			}
		}
		accepted <- n
	}()
	next := append([]migration{}, migrations...)
	next = append(next, migration{sql: "ALTER TABLE messages ADD COLUMN note text NOT NULL DEFAULT ''; CREATE TABLE notes (id text PRIMARY KEY)"})
	newer := open(t, url, Options{migrations: next})
	for range 20 {
		if err := deliver(t.Context(), newer, in, "new"); err != nil {
			t.Errorf("the new process: %v", err)
		}
	}
	cancel()
	want := 20 + <-accepted
	for _, s := range []*Store{old, newer, open(t, url, Options{})} {
		if got := len(messages(t, s, in)); got != want {
			t.Errorf("%d messages are listed, %d were accepted", got, want)
		}
	}
	if n := count(t, newer, "SELECT count(*) FROM notes"); n != 0 {
		t.Errorf("%d notes", n)
	}
}

func TestProcessThatIsTooOldIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	next := append([]migration{}, migrations...)
	next = append(next, migration{sql: "SELECT 1", breaks: len(migrations) + 1})
	open(t, url, Options{migrations: next})
	_, err := Open(t.Context(), url, Options{})
	if err == nil || !strings.Contains(err.Error(), "use a newer one") {
		t.Errorf("a process that is too old: %v", err)
	}
}

func TestStepThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	broken := append([]migration{}, migrations...)
	broken = append(broken, migration{sql: "CREATE TABLE half (id text); SELECT 1/0"})
	if _, err := Open(t.Context(), url, Options{migrations: broken}); err == nil {
		t.Fatal("there is no error after a step that fails")
	}
	s := open(t, url, Options{})
	if n := count(t, s, "SELECT count(*) FROM pg_class WHERE relname = 'half'"); n != 0 {
		t.Error("half of a step was applied")
	}
}
