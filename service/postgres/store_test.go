package postgres

import (
	"os"
	"testing"

	"mayfly/service/postgres/pgtest"
	"mayfly/service/storetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func TestStore(t *testing.T) {
	databases := make(map[string]string) // of the suite's directories
	storetest.Run(t, func(t *testing.T, dir string) storetest.Store {
		if databases[dir] == "" {
			databases[dir] = pgtest.Database(t)
		}
		s, err := Open(t.Context(), databases[dir], Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
