package postgres

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service/postgres/pgtest"
)

func TestDatabaseThatIsNoClusterIsNotDistributed(t *testing.T) {
	t.Parallel()
	err := distributeTables(pgtest.Database(t))
	if err == nil || !strings.Contains(err.Error(), "CREATE EXTENSION citus") {
		t.Errorf("a database without Citus: %v", err)
	}
	urls := pgtest.CitusDatabase(t)
	err = distributeTables(urls[1])
	if err == nil || !strings.Contains(err.Error(), "name the coordinator") {
		t.Errorf("a worker: %v", err)
	}
	execute(t, urls[0], "UPDATE pg_dist_node SET nodeport = 1 WHERE groupid = 1")
	err = distributeTables(urls[0])
	if err == nil || !strings.Contains(err.Error(), "cannot connect to 127.0.0.1:1:") {
		t.Errorf("a worker that is down: %v", err)
	}
	execute(t, urls[0], "DELETE FROM pg_dist_node WHERE groupid > 0")
	err = distributeTables(urls[0])
	if err == nil || !strings.Contains(err.Error(), "no workers") {
		t.Errorf("a coordinator alone: %v", err)
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		_, err = conn.Exec(t.Context(), sql)
		err = errors.Join(err, conn.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A database of a cluster that is not distributed needs none of its other servers, and is not asked
// for at the name by which they know the coordinator.
func TestDatabaseOfAClusterThatIsNotDistributed(t *testing.T) {
	t.Parallel()
	url := pgtest.CitusDatabase(t)[0]
	execute(t, url, "UPDATE pg_dist_node SET nodename = 'nowhere.invalid'")
	old := openOld(t, url)
	in := inboxOf(1, time.Hour)
	old.create(in)
	old.deliver(in)
	s := open(t, url, Options{})
	other := create(t, s, 2, time.Hour)
	for range 3 {
		old.deliver(in)
		if err := errors.Join(deliver(t.Context(), s, in, "x"), deliver(t.Context(), s, other, "x")); err != nil {
			t.Error(err)
		}
	}
	if n := len(messages(t, s, in)); n != 7 {
		t.Errorf("there are %d messages, want 7", n)
	}
	if err := s.DeleteInbox(t.Context(), other.KeyID, other.ID); err != nil {
		t.Error(err)
	}
	if n := s.pool.Config().MaxConns; n != defaultConnections {
		t.Errorf("a process has %d connections", n)
	}
	after := in.ExpiresAt.Add(3 * time.Hour)
	for range 2 { // the inbox, and then its slot
		if _, err := s.Sweep(t.Context(), after, 100); err != nil {
			t.Error(err)
		}
	}
	if n := count(t, s, "SELECT (SELECT count(*) FROM inboxes) + (SELECT count(*) FROM slots)"); n != 0 {
		t.Errorf("%d inboxes and slots are left", n)
	}
}

// A store of the previous version is distributed with all that it has, though the process that does
// it dies again and again, each time a statement later.
func TestDistribute(t *testing.T) {
	t.Parallel()
	urls := pgtest.CitusDatabase(t)
	url := urls[0]
	old := openOld(t, url)
	for n := range 20 {
		in := inboxOf(n, time.Duration(1+n%3)*20*time.Hour)
		old.create(in)
		for range 1 + n {
			old.deliver(in)
		}
		if n%5 == 0 {
			old.delete(in)
		}
	}
	want := rows(t, old.pool)
	if err := distributeTables(url); err == nil || !strings.Contains(err.Error(), "stop the service") {
		t.Errorf("while the service is running: %v", err)
	}
	old.deliver(inboxOf(1, 40*time.Hour))
	want["messages"]++
	want["bodies"]++
	old.pool.Close()

	config, err := poolConfig(url, connectTimeout)
	if err != nil {
		t.Fatal(err)
	}
	attempts, refused := 0, false
	for done := false; !done; attempts++ {
		ctx, cancel := context.WithCancel(t.Context())
		trace := &cut{cancel: cancel}
		trace.left.Store(int64(8 + attempts))
		config := config.Copy()
		config.ConnConfig.Tracer = trace
		err := distributeWith(ctx, config, 4, slog.New(slog.DiscardHandler))
		// The sessions of a store that was closed may not have ended yet.
		if done = err == nil; !done && ctx.Err() == nil && !strings.Contains(err.Error(), "stop the service") {
			t.Fatal(err)
		}
		cancel()
		s, err := Open(t.Context(), url, Options{noSlotsAhead: true})
		switch {
		case err != nil && strings.Contains(err.Error(), "distribute again"):
			refused = true
		case err != nil:
			t.Fatal(err)
		default:
			if s.citus != done {
				t.Errorf("after %d attempts a store is distributed: %v", attempts, s.citus)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if !refused {
		t.Error("no store that was partly distributed was refused")
	}
	if attempts < 10 {
		t.Errorf("the tables were distributed after %d attempts: it takes more statements", attempts)
	}
	var said bytes.Buffer
	err = Distribute(t.Context(), url, 4, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("repeated, it says %q, %v", said.String(), err)
	}
	s := open(t, pgtest.AnyOf(urls), Options{})
	if got := rows(t, s.pool); !maps.Equal(got, want) {
		t.Errorf("there are %v rows, want %v", got, want)
	}
	for n := range 20 {
		in := inboxOf(n, time.Duration(1+n%3)*20*time.Hour)
		got, want := len(messages(t, s, in)), 1+n
		switch {
		case n%5 == 0:
			want = 0
		case n == 1:
			want++
		}
		if got != want {
			t.Errorf("%s has %d messages, want %d", in.ID, got, want)
		}
		if found, err := s.InboxByAddress(t.Context(), in.Address); want > 0 && (err != nil || found.ID != in.ID) {
			t.Errorf("%s is the address of %q, %v", in.Address, found.ID, err)
		}
	}
}

// rows returns the number of rows of each table that a store of the previous version has, too.
func rows(t *testing.T, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, table := range clusterTables {
		if table == "requests" {
			continue
		}
		var n int
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	delete(counts, "schema_steps")
	return counts
}
