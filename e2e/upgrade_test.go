//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mayfly/internal/sockets"
	"mayfly/service/postgres/pgtest"
)

// nextVersion builds the program with one more migration, as a later version might have.
func nextVersion(t *testing.T) string {
	t.Helper()
	const file, last = "../service/postgres/migrate.go", "\n}\n\nfunc step("
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	next := strings.Replace(string(source), last,
		"\n\t{sql: `ALTER TABLE messages ADD COLUMN note text NOT NULL DEFAULT ''; CREATE TABLE notes (id text PRIMARY KEY)`},"+last, 1)
	if next == string(source) {
		t.Fatalf("%s lists the migrations differently now", file)
	}
	dir := t.TempDir()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: filepath.Join(dir, "migrate.go")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"migrate.go": next, "overlay.json": string(overlay)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built := filepath.Join(dir, "mayfly")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", built, "mayfly").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return built
}

// Two processes are replaced one by one with a later version that migrates the schema, while mail
// arrives.
func TestRollingUpgradeUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	database := pgtest.Database(t)
	next := nextVersion(t)
	m := newMachine(t)
	var addrs []string
	var servers []*server
	for range 2 {
		port, err := sockets.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		addr := sockets.Address(port)
		addrs = append(addrs, addr)
		servers = append(servers, m.serve(database, "--smtp", addr))
	}
	u := newClient(t, servers[0].rest, m.key(database, "enterprise"))
	l := startLoad(t, []string{u.createInbox("a"), u.createInbox("b")}, addrs...)
	for n, addr := range addrs {
		l.waitForMails(200)
		servers[n].stop(syscall.SIGTERM)
		servers[n] = m.serveWith(next, database, "--smtp", addr)
		l.waitForMails(200) // first with both versions, then with the new one alone
		address := u.at(servers[0].rest).createInbox(fmt.Sprint("made-", n))
		if a := u.at(servers[1].rest).request("GET", "/v1/inboxes/"+u.inboxes[address], ""); a.status != 200 {
			t.Errorf("for an inbox that one version made, the other answers %d %s", a.status, a.body)
		}
	}
	l.checkNothingIsLost(u.at(servers[1].rest))
	if countIn(t, database, "SELECT count(*) FROM pg_tables WHERE tablename = 'notes'") != 1 {
		t.Error("the new version has not changed the schema")
	}
}
