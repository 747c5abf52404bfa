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
	url := pgtest.CitusDatabase(t)[0]
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
	attempts := 0
	for done := false; !done; attempts++ {
		ctx, cancel := context.WithCancel(t.Context())
		trace := &cut{cancel: cancel}
		trace.left.Store(int64(8 + attempts))
		config := config.Copy()
		config.ConnConfig.Tracer = trace
		err := distributeWith(ctx, config, 4, say)
		if done = err == nil; !done && ctx.Err() == nil {
			t.Fatal(err)
		}
		cancel()
	}
	if attempts < 10 {
		t.Errorf("the tables were distributed after %d attempts: it takes more statements", attempts)
	}
	var said []string
	if err := Distribute(t.Context(), url, 4, func(line string) { said = append(said, line) }); err != nil || len(said) != 1 {
		t.Errorf("repeated, it says %q, %v", said, err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if got := rows(t, pool); !maps.Equal(got, want) {
		t.Errorf("there are %v rows, want %v", got, want)
	}
}

// rows returns the number of rows of each table.
func rows(t *testing.T, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for _, table := range clusterTables {
		var n int
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	delete(counts, "schema_steps")
	return counts
}
