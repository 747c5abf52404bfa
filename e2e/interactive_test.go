//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shell is an interactive shell in a pseudo-terminal, in the home of a machine.
type shell struct {
	*terminal
	name  string // bash, zsh or fish
	lines int    // run so far
}

// shellFiles are the files of a shell that its user edits, in the home.
var shellFiles = map[string]string{"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}

const readyPrompt = "ready>"

// shell starts a shell in which mayfly is a command. It skips the test where the shell is missing.
func (m *machine) shell(name string) *shell {
	m.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		m.t.Skipf("%s is missing; to run it: apt-get install %s && go test ./e2e -run %s", name, name, m.t.Name())
	}
	if _, err := os.Stat(filepath.Join(m.home, shellFiles[name])); err != nil {
		prompt := "PS1='" + readyPrompt + " '\n"
		if name == "fish" {
			// Where there is none, fish reads all manual pages in the background, for longer than a test may take.
			must(m.t, os.MkdirAll(filepath.Join(m.home, ".local/share/fish/generated_completions"), 0o700))
			prompt = "function fish_prompt; echo -n '" + readyPrompt + " '; end\nset fish_greeting\n"
		}
		m.write(shellFiles[name], prompt)
	}
	cmd := m.with("PATH=" + filepath.Dir(program) + ":" + m.getenv("PATH")).command()
	cmd.Path, cmd.Args = path, []string{name, "-i"}
	s := &shell{terminal: startInTerminal(m.t, cmd), name: name}
	s.waitFor(readyPrompt)
	return s
}

// send types a line, and marks the end of what it runs.
func (s *shell) send(line string) {
	s.t.Helper()
	s.lines++
	status := "$?"
	if s.name == "fish" {
		status = "$status"
	}
	s.typeKeys(fmt.Sprintf("%s; echo ended-%d-%s\r", line, s.lines, status))
}

// done waits for the end of the last line sent and the next prompt, and returns the status.
func (s *shell) done() (status string) {
	s.t.Helper()
	end := regexp.MustCompile(fmt.Sprintf(`ended-%d-(\d+)`, s.lines))
	s.waitUntil("the end of what was typed", func(string) bool {
		if found := end.FindStringSubmatch(s.output()); found != nil {
			status = found[1]
		}
		return status != "" && s.line() == readyPrompt
	})
	return status
}

// line is the last line on the screen.
func (s *shell) line() string {
	text := s.text()
	return text[strings.LastIndex(text, "\n")+1:]
}

// run types a line and waits for its end.
func (s *shell) run(line string) (status string) {
	s.t.Helper()
	s.send(line)
	return s.done()
}

// mustRun types a line, which must succeed.
func (s *shell) mustRun(line string) {
	s.t.Helper()
	if status := s.run(line); status != "0" {
		s.t.Fatalf("%s: %s ended with %s:\n%s", s.name, line, status, s.text())
	}
}

// inEachShell runs a test in bash, and with MAYFLY_LONG in zsh and in fish as well, or in those named.
func inEachShell(t *testing.T, test func(t *testing.T, shell string), names ...string) {
	t.Parallel()
	if names == nil {
		names = []string{"bash", "zsh", "fish"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "bash" {
				long(t)
			}
			test(t, name)
		})
	}
}

// exampleLines are the commands among the examples of a help, each with those before it up to an empty
// line.
func exampleLines(help string) []string {
	_, examples, _ := strings.Cut(help, "\nEXAMPLES\n")
	examples, _, _ = strings.Cut(examples, "\nLEARN MORE")
	var all []string
	for block := range strings.SplitSeq(strings.TrimSpace(examples), "\n\n") {
		var lines []string
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		all = append(all, strings.Join(lines, "; "))
	}
	return all
}
