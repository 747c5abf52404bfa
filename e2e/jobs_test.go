//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mayfly/api/apitest"
)

// keepsSettings runs a test in a shell, whose terminal must have the same settings afterwards.
func (s *shell) keepsSettings(test func()) {
	s.t.Helper()
	s.mustRun("stty -a > before")
	test()
	if s.run("stty -a > after; cmp before after") != "0" {
		s.t.Errorf("%s: the terminal's settings have changed:\n%s", s.name, s.text())
	}
}

// stopped is what shells say of a job that was stopped.
func stopped(text string) bool {
	return strings.Contains(text, "Stopped") || strings.Contains(text, "suspended") || strings.Contains(text, "has stopped")
}

// everyCommand are commands that end by themselves.
var everyCommand = []string{
	"mayfly --version", "mayfly --help", "mayfly help ci", "mayfly ls", "mayfly messages", "mayfly read", "mayfly wait --again", "mayfly new",
	"mayfly preview mail.md", "mayfly save --dir .", "mayfly key status", "mayfly doctor", "mayfly man", "mayfly completion bash > script",
	"mayfly new --copy",
}

// They work in the background and in a pipe, and leave the terminal's settings.
func TestEveryCommandWorksInTheBackground(t *testing.T) {
	inEachShell(t, func(t *testing.T, name string) {
		s := machineWithMail(t).shell(name)
		for _, command := range everyCommand {
			s.keepsSettings(func() { s.mustRun(command + " & wait") })
			s.keepsSettings(func() { s.mustRun(command + " | cat >/dev/null") })
		}
		if text := s.output(); stopped(text) || strings.Count(text, "482913") < 2 {
			t.Errorf("a job was stopped, or wrote nothing:\n%s", text)
		}
	})
}

// While a command runs, the settings may become those of another, such as the pager that it writes to.
func TestACommandLeavesTheSettingsOfOthersAlone(t *testing.T) {
	t.Parallel()
	s := startInTerminal(t, newMachine(t).script(`exec 3<&0; mkfifo mail.txt
		"$0" preview mail.txt <&3 &
		exec 4>mail.txt # when it has been opened for reading
		stty -icanon; echo Hello >&4; exec 4>&-; wait
		stty -a | grep -q -e -icanon; echo "ended $?"`))
	s.waitFor("Hello", "ended 0")
}

// machineWithMail has an inbox with a message, and a pager that touches the terminal's settings.
func machineWithMail(t *testing.T) *machine {
	t.Helper()
	m, double := machineWithService(t)
	address := m.mustRun("new")
	deliver(t, double, address, apitest.Mail{From: "x@acme.example", Subject: "Hello", Text: "Your code is 482913."})
	m.write("mail.md", "# Hello\n")
	return m.with("PAGER="+m.write("pager", "#!/bin/sh\nstty -icanon <&2; stty icanon <&2; exec cat\n"), "CI=true") // nobody answers what a terminal is asked
}

func TestAWaitDrawsNothingWhereTheCursorCannotMove(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	address := m.mustRun("new")
	for _, name := range []string{"dumb", ""} {
		s := startInTerminal(t, m.command("wait", address, "--timeout", "100ms"), "TERM="+name)
		s.exitStatus()
		if text := s.output(); !strings.HasPrefix(text, "mayfly: no mail to "+address) {
			t.Errorf("with TERM=%s the terminal shows %q", name, text)
		}
	}
}

func TestAWaitInTheBackgroundDrawsNothing(t *testing.T) {
	t.Parallel()
	m, double := machineWithService(t)
	hello := apitest.Mail{From: "x@acme.example", Subject: "Hello", Text: "Your code is 482913."}
	address := m.mustRun("new")
	s := m.shell("bash")
	s.mustRun("mayfly wait " + address + " --code & true")
	deliver(t, double, address, hello)
	s.waitFor("482913")
	s.mustRun("wait")
	if text := s.output(); strings.Contains(text, "waiting for") {
		t.Errorf("the terminal shows %q", text)
	}

	address = m.mustRun("new")
	s.mustRun("clear; mayfly wait " + address + " --code & true")
	s.send("fg")
	s.waitFor("waiting for mail to " + address)
	s.typeKeys("\x1a")
	s.waitUntil("a stopped job", stopped)
	s.done()
	s.mustRun("clear; bg; true")
	deliver(t, double, address, hello)
	s.waitFor("482913")
	s.mustRun("wait")
}

func TestServeAsAJob(t *testing.T) {
	inEachShell(t, func(t *testing.T, name string) {
		s := newMachine(t).shell(name)
		const serve = "mayfly serve --http 127.0.0.1:0 --smtp 127.0.0.1:0 --store store"
		s.keepsSettings(func() {
			s.send(serve + " & true")
			s.waitFor("mayfly serves")
			s.typeKeys("\r")
			s.done()
			s.mustRun("kill %1; wait")
		})
		if text := s.output(); stopped(text) {
			t.Errorf("%s: the job was stopped:\n%s", name, text)
		}
		s.mustRun("clear")
		s.keepsSettings(func() {
			s.send(serve)
			s.waitFor("mayfly serves")
			s.typeKeys("\x1a")
			s.waitUntil("a stopped job", stopped)
			s.done()
			s.mustRun("bg; true")
			s.mustRun("kill %1; wait")
		})
		s.mustRun("clear")
		s.keepsSettings(func() {
			s.send(serve)
			s.waitFor("mayfly serves")
			s.typeKeys("\x03")
			s.typeKeys("\r")
			s.waitUntil("the prompt", func(string) bool { return s.line() == readyPrompt })
		})
	}, "bash", "zsh")
}

// untilStopped waits until the shell knows that the job that was started last is stopped: a program of
// several threads is in state T before all of them are, and a shell continues only what it knows to be
// stopped.
const untilStopped = "until jobs | grep -E 'topped|suspended'; do true; done"

// What needs the terminal is stopped in the background, as any such program, and goes on in the
// foreground.
func TestWhatNeedsTheTerminalWaitsForTheForeground(t *testing.T) {
	inEachShell(t, func(t *testing.T, name string) {
		s := newMachine(t).shell(name)
		s.keepsSettings(func() {
			s.mustRun("mayfly & " + untilStopped)
			s.send("fg")
			s.waitFor("● live") // the local service has started, and can be stopped
			s.typeKeys("q")
			s.done()
		})
		s.mustRun("clear")
		s.keepsSettings(func() {
			s.mustRun("mayfly --base-url http://127.0.0.1:1 key set --file & " + untilStopped)
			s.send("fg")
			s.waitFor("API key for")
			s.typeKeys("a-key\r")
			s.done()
		})
	}, "bash", "zsh")
}

func TestAPromptThatIsEndedRestoresTheSettings(t *testing.T) {
	t.Parallel()
	m := newMachine(t).with("MAYFLY_BASE_URL=http://127.0.0.1:1")
	s := m.shell("bash")
	prompt := func(end func()) {
		t.Helper()
		s.mustRun("clear")
		s.send(`sh -c 'echo $$ >pid; exec mayfly key set --file'`)
		s.waitFor("API key for")
		end()
		if status := s.done(); status != "130" && status != "143" {
			t.Errorf("the status is %s", status)
		}
	}
	s.keepsSettings(func() { prompt(func() { s.typeKeys("\x03") }) })
	for _, settings := range []string{"stty -tostop", "stty tostop"} {
		s.mustRun(settings)
		s.keepsSettings(func() {
			prompt(func() {
				pid, err := os.ReadFile(filepath.Join(m.home, "pid"))
				must(t, err)
				n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
				must(t, err)
				must(t, syscall.Kill(n, syscall.SIGTERM))
			})
		})
	}
}
