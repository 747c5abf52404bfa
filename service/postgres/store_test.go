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
	var databases sync.Map // URLs by directory
	storetest.Run(t, func(t *testing.T, dir string) storetest.Store {
		url, ok := databases.Load(dir)
		if !ok {
			url = pgtest.Database(t)
			databases.Store(dir, url)
		}
		s, err := Open(t.Context(), url.(string), Options{noSlotsAhead: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
