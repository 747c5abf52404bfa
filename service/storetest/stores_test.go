package storetest

import (
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"mayfly/service/pebble"
	"mayfly/service/postgres"
	"mayfly/service/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func TestPebble(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, dir string) store {
		s, err := pebble.Open(dir, pebble.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		must(t, err)
		return s
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	run(t, databases(pgtest.Database, func(url string) string { return url }))
}

// The store behaves the same on a cluster, wherever its processes connect to.
func TestCitus(t *testing.T) {
	t.Parallel()
	var turn atomic.Int64
	run(t, databases(pgtest.CitusDatabase, func(nodes []string) string { return nodes[int(turn.Add(1))%len(nodes)] }))
}

// databases returns a function that opens the store in a directory: a database that create creates
// for it, at the URL that choose chooses each time.
func databases[D any](create func(testing.TB) D, choose func(D) string) func(*testing.T, string) store {
	var made sync.Map // by directory
	return func(t *testing.T, dir string) store {
		d, ok := made.Load(dir)
		if !ok {
			d = create(t)
			made.Store(dir, d)
		}
		s, err := postgres.Open(t.Context(), choose(d.(D)), postgres.Options{NoSlotsAhead: true})
		must(t, err)
		return s
	}
}
