package pgtest_test

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) }) // its server may be gone
	return conn
}

func TestDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn := connect(t, pgtest.Database(t))
		if _, err := conn.Exec(t.Context(), "CREATE TABLE one (id integer)"); err != nil {
			t.Error(err)
		}
	}
}

// What is acknowledged is kept however the server ends. After the test nothing is left.
func TestClusterKeepsWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("test", func(t *testing.T) {
		c := pgtest.Start(t)
		dir = c.DataDir()
		conn := connect(t, c.URL())
		if _, err := conn.Exec(t.Context(), "CREATE TABLE kept (n integer)"); err != nil {
			t.Fatal(err)
		}
		for n, mode := range []pgtest.Mode{pgtest.Fast, pgtest.Immediate, pgtest.Kill} {
			if _, err := conn.Exec(t.Context(), "INSERT INTO kept VALUES (1)"); err != nil {
				t.Fatal(err)
			}
			c.Restart(mode)
			conn = connect(t, c.URL())
			var rows int
			if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&rows); err != nil || rows != n+1 {
				t.Errorf("after %d restarts there are %d rows, %v", n+1, rows, err)
			}
		}
		if c.Log() == "" {
			t.Error("the log is empty")
		}
	})
	if _, err := os.Stat(dir); dir != "" && err == nil {
		t.Errorf("%s is left behind", dir)
	}
}
