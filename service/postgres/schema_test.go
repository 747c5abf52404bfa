package postgres

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// open opens a store that is closed at the end of the test. It creates slots only when they are
// needed: the tables for a month would take most of the time of a test.
func open(t *testing.T, url string, o Options) *Store {
	t.Helper()
	o.NoSlotsAhead = true
	s, err := Open(t.Context(), url, o)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

var check = fortest.Must

func count(t *testing.T, s *Store, sql string, args ...any) int {
	t.Helper()
	var n int
	check(t, s.pool.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

var day = time.Date(2030, 5, 17, 12, 0, 0, 0, time.UTC)

func create(t *testing.T, s *Store, n int, life time.Duration) service.Inbox {
	t.Helper()
	in := service.Inbox{
		ID: fmt.Sprintf("inbox_%d", n), KeyID: "key_a", Address: fmt.Sprintf("%d@x.test", n), CreatedAt: day, ExpiresAt: day.Add(life),
	}
	check(t, s.CreateInbox(t.Context(), in, math.MaxInt))
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
	check(t, err)
	return list
}

func wantMessages(t *testing.T, s *Store, in service.Inbox, n int) {
	t.Helper()
	if got := len(messages(t, s, in)); got != n {
		t.Errorf("%s has %d messages, want %d", in.ID, got, n)
	}
}

// Of processes that start at the same time, one makes the tables.
func TestSchemaIsMadeOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		var starting sync.WaitGroup
		for n := range 6 {
			starting.Go(func() {
				s, err := Open(t.Context(), urls[n%len(urls)], Options{NoSlotsAhead: true})
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		starting.Wait()
		s := open(t, urls[0], Options{})
		if n := countAll(t, s, "SELECT count(*) FROM schema_version"); n != 1 {
			t.Errorf("the schema was made %d times", n)
		}
	})
}

// A database with tables of another version, or of another program, is refused and left as it is.
func TestAnotherSchemaIsRefused(t *testing.T) {
	t.Parallel()
	for what, sql := range map[string]string{
		"a newer version":   schemaSQL + fmt.Sprintf("INSERT INTO schema_version VALUES (%d, false)", schemaVersion+1),
		"made for Citus":    schemaSQL + fmt.Sprintf("INSERT INTO schema_version VALUES (%d, true)", schemaVersion),
		"an older version":  "CREATE TABLE schema_steps (step integer PRIMARY KEY); CREATE TABLE inboxes (id text PRIMARY KEY)",
		"another program's": "CREATE TABLE keys (id text)",
	} {
		url := pgtest.Database(t)
		const tables = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
		administer(t, url, sql)
		before := ask[string](t, url, tables)
		s, err := Open(t.Context(), url, Options{})
		if err == nil {
			t.Errorf("%s: it opens: %v", what, s.Close())
		} else if said := err.Error(); !strings.HasSuffix(said, "name an empty database") || strings.Contains(said, "\n") {
			t.Errorf("%s: %s", what, said)
		}
		if after := ask[string](t, url, tables); after != before {
			t.Errorf("%s: %s became %s", what, before, after)
		}
	}
}

// A cluster that cannot distribute tables is refused with what to do.
func TestClusterThatIsNotReadyIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.CitusDatabase(t)[0]
	for _, step := range []struct{ sql, want string }{
		{"UPDATE pg_dist_node SET nodeport = 1 WHERE groupid = 1", "127.0.0.1:1"},
		{"UPDATE pg_dist_node SET isactive = false WHERE groupid = 0", "citus_set_coordinator_host"},
		{"UPDATE pg_dist_node SET isactive = groupid = 0", "citus_add_node"},
	} {
		administer(t, url, step.sql)
		s, err := Open(t.Context(), url, Options{})
		if err == nil {
			t.Errorf("%s: it opens: %v", step.sql, s.Close())
		} else if said := err.Error(); !strings.Contains(said, step.want) || strings.Contains(said, "\n") {
			t.Errorf("%s: %s, want %s", step.sql, said, step.want)
		}
	}
}
