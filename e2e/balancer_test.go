//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mayfly/service/postgres/pgtest"
)

// What docs/scale.md tells its readers to run works as it is written; only ports and database
// differ.
func TestDocsLoadBalancer(t *testing.T) {
	long(t)
	t.Parallel()
	database := pgtest.Database(t)
	need(t, "the package haproxy", "haproxy")
	ports := map[string]int{}
	var renaming []string
	for _, port := range []string{"8425", "2525", "8431", "8432", "2531", "2532"} {
		free := freePort(t)
		ports[port] = free
		renaming = append(renaming, ":"+port, fmt.Sprintf(":%d", free), "port "+port, fmt.Sprintf("port %d", free))
	}
	renaming = append(renaming, "postgres://mayfly@127.0.0.1/mayfly", `"`+database+`"`, " &\n", " & echo $! >> pids\n", "inbox.example", "mail.test")
	here := strings.NewReplacer(renaming...)
	scripts, configs := examples(t, "scale.md", "sh"), examples(t, "scale.md", "haproxy")
	if len(scripts) != 1 || len(configs) != 2 {
		t.Fatalf("docs/scale.md has %d scripts and %d configurations", len(scripts), len(configs))
	}

	m := newMachine(t)
	m.write("haproxy.cfg", here.Replace(configs[0]))
	m.mustExec(m.home, "haproxy", "-c", "-f", m.write("primary.cfg", configs[1]))
	t.Cleanup(func() {
		for _, pid := range started(t, m) {
			_ = syscall.Kill(pid, syscall.SIGTERM) // one of them was killed
		}
	})
	m = m.with("PATH=" + filepath.Dir(program) + ":" + m.getenv("PATH"))
	out := m.mustExec(m.home, "sh", "-ec", here.Replace(scripts[0]))
	u := newClient(t, fmt.Sprintf("http://127.0.0.1:%d", ports["8425"]), "")
	for _, word := range strings.Fields(out) {
		if strings.HasPrefix(word, "mf_") {
			u.key = word
		}
	}
	if u.key == "" {
		t.Fatalf("there is no key in %q", out)
	}
	for _, port := range []string{"8431", "8432", "8425"} {
		eventually(t, "the service answers at "+port, func() bool { return status(ports[port], "/readyz") == http.StatusOK })
	}

	l := startLoad(t, []string{u.createInbox("balanced")}, fmt.Sprintf("127.0.0.1:%d", ports["2525"]))
	l.waitForMails(200)
	must(t, syscall.Kill(started(t, m)[0], syscall.SIGKILL))
	l.waitForMails(200)
	eventually(t, "requests reach the other process", func() bool { return ready(u) })
	l.checkNothingIsLost(u)
}

// started returns the processes that the script started.
func started(t *testing.T, m *machine) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.home, "pids"))
	must(t, err)
	var pids []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		must(t, err)
		pids = append(pids, pid)
	}
	return pids
}
