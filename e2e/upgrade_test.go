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

	"mayfly/service/postgres/pgtest"
)

// nextVersion builds the program as a later version could be: with one more step of the schema.
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
		t.Fatalf("%s lists the steps in another way", file)
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

// One process after the other is replaced by a later version, which adds to the schema, while mail arrives.
func TestANewVersionTakesOverUnderLoad(t *testing.T) {
	t.Parallel() // it builds
	database := pgtest.Database(t)
	next := nextVersion(t)
	m := newMachine(t)
	var addrs []string
	var serving []*serving
	for range 2 {
		port, err := pgtest.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		addrs = append(addrs, addr)
		serving = append(serving, m.serve(database, "--smtp", addr))
	}
	u := &user{t, serving[0].rest, m.key(database, "enterprise"), map[string]string{}}
	l := startLoad(t, []string{u.makes("a"), u.makes("b")}, addrs...)
	for n, addr := range addrs {
		l.arrives(200)
		serving[n].stop(syscall.SIGTERM)
		serving[n] = m.serveBy(next, database, "--smtp", addr)
		l.arrives(200) // with both versions, and then with the new one alone
		address := u.at(serving[0].rest).makes(fmt.Sprint("made-", n))
		if a := u.at(serving[1].rest).ask("GET", "/v1/inboxes/"+u.inboxes[address], ""); a.status != 200 {
			t.Errorf("what one version made, the other answers with %d %s", a.status, a.body)
		}
	}
	l.nothingIsLost(u.at(serving[1].rest))
	if countIn(t, database, "SELECT count(*) FROM pg_tables WHERE tablename = 'notes'") != 1 {
		t.Error("the new version has not changed the schema")
	}
}
