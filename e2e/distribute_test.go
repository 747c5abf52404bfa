//go:build unix

package e2e

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

func TestDistributeReportsWhyItCannot(t *testing.T) {
	t.Parallel()
	database := strings.Replace(pgtest.Database(t), "postgres@", "postgres:secret@", 1)
	m := newMachine(t)
	for what, test := range map[string]struct {
		store, shards, want string
		status              int
	}{
		"PostgreSQL alone": {database, "4", "CREATE EXTENSION citus", 1},
		"no server":        {"postgres://postgres:secret@127.0.0.1:1/x", "4", "connection refused", 1},
		"URL":              {"postgres://postgres:secret%@127.0.0.1/x", "4", "is malformed", 1},
		"folder":           {m.home, "4", "only a database", 1},
		"no shards":        {database, "0", "want 1 to 1024", 2},
		"many shards":      {database, "100000", "want 1 to 1024", 2},
	} {
		stdout, stderr, status := m.run("admin", "store", "distribute", "--store", test.store, "--shards", test.shards)
		if status != test.status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: status %d, %q, want one line with %q", what, status, stderr, test.want)
		}
	}
}

// A database is distributed once nobody uses it, though the command is killed and repeated. Then it
// is served.
func TestDistributedDatabaseIsServed(t *testing.T) {
	t.Parallel()
	database := pgtest.CitusDatabase(t)[0]
	m := newMachine(t)
	distribute := []string{"admin", "store", "distribute", "--store", database, "--shards", "4"}

	s := m.serve(database)
	if _, stderr, status := m.run(distribute...); status != 1 || !strings.Contains(stderr, "other sessions use it (mayfly): stop the service") {
		t.Errorf("while the service runs: status %d, %q", status, stderr)
	}
	s.stop(syscall.SIGTERM)
	eventually(t, "the service has no sessions", func() bool {
		return countIn(t, database, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mayfly'") == 0
	})
	eventually(t, "it is killed when a part is distributed", func() bool {
		killed := m.command(distribute...)
		stderr, err := killed.StderrPipe()
		if err == nil {
			err = killed.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, part := bufio.NewScanner(stderr), false
		for !part && lines.Scan() { // it ends at once while the server still has sessions
			part = strings.Contains(lines.Text(), "distributing messages")
		}
		_ = killed.Process.Kill()
		_ = killed.Wait()
		return part
	})
	for range 2 {
		eventually(t, "it is distributed", func() bool {
			_, stderr, status := m.run(distribute...)
			if status != 0 && !strings.Contains(stderr, "stop the service") { // what was killed has sessions for a moment
				t.Fatalf("status %d, %q", status, stderr)
			}
			return status == 0
		})
	}

	s = m.serve(database)
	u := newClient(t, s.rest, m.key(database, "enterprise"))
	l := startLoad(t, []string{u.createInbox("kept")}, s.smtp)
	l.waitForMails(20)
	l.end()
	l.checkNothingIsLost(u)
}

// An administrator who is the first to use a database with a new version is told that it is being
// updated.
func TestAdminCommandSaysThatItUpdatesADatabase(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	run := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE schema_steps (step integer PRIMARY KEY, breaks integer NOT NULL, made_at timestamptz NOT NULL DEFAULT now())")
	for n := 1; n <= 2; n++ { // what the version before knew
		sql, err := os.ReadFile(fmt.Sprintf("../service/postgres/migrations/%d.sql", n))
		if err != nil {
			t.Fatal(err)
		}
		run(string(sql))
		run(fmt.Sprintf("INSERT INTO schema_steps (step, breaks) VALUES (%d, 0)", n))
	}
	run(fmt.Sprintf("INSERT INTO inboxes VALUES ('inbox_a', 'key_a', 'a@x.test', now(), now() + interval '1 hour', %d, 0, 1)", time.Now().Unix()/3600))
	m := newMachine(t)
	list := []string{"admin", "key", "list", "--store", database}
	if stdout, stderr, status := m.run(list...); status != 0 || stdout != "" || !strings.Contains(stderr, "the schema of the database is being updated") {
		t.Errorf("status %d, %q, %q", status, stdout, stderr)
	}
	if stdout, stderr, status := m.run(list...); status != 0 || stdout != "" || stderr != "" {
		t.Errorf("afterwards: status %d, %q, %q", status, stdout, stderr)
	}
}

// countIn returns the number that a statement selects.
func countIn(t *testing.T, database, sql string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
