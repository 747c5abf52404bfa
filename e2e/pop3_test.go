//go:build unix

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Programs that know nothing of Mayfly fetch a mail as docs/smtp.md says.
func TestClientsOfPOP3(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(t.TempDir(), "store"), "--pop3", "127.0.0.1:0")
	key := m.key(s.store, "dev")
	address := m.using(s, key).mustRun("new", "--username", "ada")
	mail := signup(address) + ".a line that begins with a dot\n"
	send(t, s.smtp, address, mail)
	host, port, _ := strings.Cut(s.pop3, ":")

	fetched := func(t *testing.T, program string, args ...string) {
		t.Helper()
		need(t, "it", program)
		m := m.with("MAYFLY_API_KEY=" + key)
		m.t = t
		if got := strings.ReplaceAll(m.mustExec(m.home, program, args...), "\r\n", "\n"); got != mail {
			t.Errorf("got %q, want %q", got, mail)
		}
	}
	t.Run("curl", func(t *testing.T) {
		command := regexp.MustCompile(`\n    (curl .*pop3://.*)\n`).FindStringSubmatch(page(t, "smtp.md"))
		if command == nil {
			t.Fatal("docs/smtp.md has no such example")
		}
		need(t, "it", "curl")
		fetched(t, "sh", "-c", strings.NewReplacer("ada@inbox.example", address, "127.0.0.1:1100", s.pop3).Replace(command[1])+" --no-progress-meter")
	})
	t.Run("Python", func(t *testing.T) {
		fetched(t, "python3", "-c", `
import os, poplib, sys
pop = poplib.POP3(sys.argv[1], int(sys.argv[2]))
assert "UIDL" in pop.capa()
pop.user(sys.argv[3])
pop.pass_(os.environ["MAYFLY_API_KEY"])
_, lines, octets = pop.retr(1)
assert pop.stat() == (1, octets) and pop.list()[1] == [b"1 %d" % octets], octets
assert pop.top(1, 0)[1] == lines[:lines.index(b"") + 1]
pop.dele(1)
assert pop.stat() == (0, 0)
pop.quit()
pop = poplib.POP3(sys.argv[1], int(sys.argv[2]))
pop.user(sys.argv[3])
pop.pass_(os.environ["MAYFLY_API_KEY"])
assert pop.stat() == (0, 0)
pop.quit()
sys.stdout.write("".join(line.decode() + "\n" for line in lines))
`, host, port, address)
	})
}
