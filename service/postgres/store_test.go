package postgres

import (
	"os"
	"sync"
	"testing"

	"mayfly/service/postgres/pgtest"
	"mayfly/service/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// MAYFLY_LONG=1 makes the suite longer.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, databases(pgtest.Database, func(url string) string { return url }))
}

// databases returns a function that opens the store in a directory: a database that create creates
// for it, at the URL that choose chooses each time.
func databases[D any](create func(testing.TB) D, choose func(D) string) func(*testing.T, string) storetest.Store {
	var made sync.Map // by directory
	return func(t *testing.T, dir string) storetest.Store {
		d, ok := made.Load(dir)
		if !ok {
			d = create(t)
			made.Store(dir, d)
		}
		s, err := Open(t.Context(), choose(d.(D)), Options{noSlotsAhead: true})
		check(t, err)
		return s
	}
}
