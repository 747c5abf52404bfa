package postgres

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service/postgres/pgtest"
)

func TestDatabaseThatIsNoClusterIsNotDistributed(t *testing.T) {
	t.Parallel()
	say := func(line string) { t.Errorf("it says %q", line) }
	err := Distribute(t.Context(), pgtest.Database(t), 4, say)
	if err == nil || !strings.Contains(err.Error(), "CREATE EXTENSION citus") {
		t.Errorf("a database without Citus: %v", err)
	}
	err = Distribute(t.Context(), pgtest.CitusDatabase(t)[1], 4, say)
	if err == nil || !strings.Contains(err.Error(), "name the coordinator") {
		t.Errorf("a worker: %v", err)
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
	say := func(string) {}
	if err := Distribute(t.Context(), url, 4, say); err == nil || !strings.Contains(err.Error(), "stop the service") {
		t.Errorf("while the service is running: %v", err)
	}
	old.deliver(inboxOf(1, 40*time.Hour))
	want["messages"]++
	want["bodies"]++
	old.pool.Close()

	config, err := poolConfig(url, 0)
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
		err := distributeWith(ctx, config, 4, say)
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
	var said []string
	if err := Distribute(t.Context(), url, 4, func(line string) { said = append(said, line) }); err != nil || len(said) != 1 {
		t.Errorf("repeated, it says %q, %v", said, err)
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
