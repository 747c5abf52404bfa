//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

// A store is copied while mail arrives, although one of the copies is killed halfway.
func TestKilledStoreCopyIsRepeated(t *testing.T) {
	long(t)
	t.Parallel()
	database := pgtest.Database(t)
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	u := newClient(t, s.rest, m.key(store, "enterprise"))
	l := startLoad(t, []string{u.createInbox("a"), u.createInbox("b")}, s.smtp)
	l.waitForMails(100)
	copying := []string{"admin", "store", "copy", "--from", store, "--to", database}
	snapshot := filepath.Join(store, "copying")

	m.mustRun(copying...)
	l.waitForMails(100)
	unlock := begin(t, database, "SELECT FROM inboxes FOR UPDATE")
	killed := m.command(copying...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	const waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE inboxes%'"
	eventually(t, "it has copied messages that are not committed yet", func() bool { return countIn(t, database, waiting) > 0 })
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if _, err := os.Stat(snapshot); err != nil {
		t.Error("it was killed too late")
	}
	unlock()

	m.mustRun(copying...)
	if _, err := os.Stat(snapshot); err == nil {
		t.Error("the snapshot that it copied from is left behind")
	}
	l.waitForMails(100)
	l.end()
	s.stop(syscall.SIGTERM)
	m.mustRun(copying...)
	l.checkNothingIsLost(u.at(m.serve(database).rest))
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

func TestStoreCopyReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	database := pgtest.Database(t)
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	m.key(store, "dev")
	server, name, _ := strings.Cut(strings.TrimPrefix(database, "postgres://"), "/")
	_, server, _ = strings.Cut(server, "@")
	for what, test := range map[string]struct{ from, to, want string }{
		"user":     {store, "postgres://nobody:secret@" + server + "/" + name, `"nobody"`},
		"database": {store, "postgres://postgres:secret@" + server + "/nowhere", "nowhere"},
		"server":   {store, "postgres://postgres:secret@127.0.0.1:1/" + name, "connection refused"},
		"URL":      {store, "postgres://postgres:secret%@127.0.0.1/x", "is malformed"},
		"folder":   {m.home, database, "there is no store in " + m.home},
	} {
		stdout, stderr, status := m.run("admin", "store", "copy", "--from", test.from, "--to", test.to)
		if status == 0 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) || strings.Contains(stderr, "secret") {
			t.Errorf("%s: status %d, %q, want one line with %q", what, status, stderr, test.want)
		}
	}
}
