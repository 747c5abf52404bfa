//go:build unix

package e2e

import (
	"os"
	"strings"
	"testing"

	"mayfly/api/apitest"
)

// Completions are set up as their help says: the first example is for this shell, the others for new
// ones.
func TestCompletionsAsTheirHelpSays(t *testing.T) {
	inEachShell(t, func(t *testing.T, name string) {
		examples := exampleLines(newMachine(t).mustRun("completion", name, "--help"))
		if len(examples) < 2 {
			t.Fatalf("the help has the examples %q", examples)
		}
		for i, example := range examples {
			m, _ := machineWithService(t)
			m.mustRun("new", "--username", "quiet-otter+sign.up")
			s := m.shell(name)
			s.mustRun(example)
			if i > 0 {
				s = m.shell(name)
			}
			s.completes("mayfly mess", "mayfly messages ")
			if t.Failed() {
				t.Fatalf("after %s", example)
			}
			s.completesAll()
		}
	})
}

// completesAll checks what the completions of each kind of word are.
func (s *shell) completesAll() {
	s.t.Helper()
	address := "quiet-otter+sign.up@" + apitest.Domain
	for typed, want := range map[string]string{
		"mayfly messages qui":               address + " ",
		"mayfly read quiet-otter+sign.up@a": address + " ",
		"mayfly read --view=ch":             "--view=checks",
		"mayfly read --view he":             "--view headers",
		"mayfly wait --tim":                 "--timeout",
		"mayfly help loc":                   "help local",
		"mayfly key sta":                    "key status",
		"mayfly --profile lo":               "--profile local",
	} {
		s.completes(typed, want)
	}
}

// completes types the start of a line and a tab, waits for what the shell makes of it, and clears the
// line.
func (s *shell) completes(typed, want string) {
	s.t.Helper()
	s.typeKeys(typed + "\t")
	s.waitUntil(typed+" completed to "+want, func(string) bool { return strings.Contains(s.line()+" ", want) })
	s.typeKeys("\x15")
	s.waitUntil("an empty line", func(string) bool { return s.line() == readyPrompt })
}

// Without the package bash-completion, and with it.
func TestBashCompletesWithItsPackage(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(bashCompletion); err != nil {
		t.Skip("bash-completion is missing; to run it: apt-get install bash-completion && go test ./e2e -run ", t.Name())
	}
	m, _ := machineWithService(t)
	m.mustRun("new", "--username", "quiet-otter+sign.up")
	s := m.shell("bash")
	s.mustRun(". " + bashCompletion)
	s.mustRun("source <(mayfly completion bash)")
	s.completesAll()
}
