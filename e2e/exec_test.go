//go:build unix

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// leftovers are the files in the machine's temporary folder.
func (m *machine) leftovers() []string {
	m.t.Helper()
	entries, err := os.ReadDir(m.getenv("TMPDIR"))
	must(m.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// checkNothingLeft checks that no run has left anything behind.
func (m *machine) checkNothingLeft() {
	m.t.Helper()
	if left := m.leftovers(); left != nil {
		m.t.Errorf("left behind: %q", left)
	}
}

// lines waits for lines that a program writes to a file, and returns them.
func lines(t *testing.T, path string, n int) []string {
	t.Helper()
	var found []string
	eventually(t, strconv.Itoa(n)+" lines in "+path, func() bool {
		text, _ := os.ReadFile(path) // not yet written
		found = strings.Split(string(text), "\n")
		return len(found) > n
	})
	return found[:len(found)-1]
}

func TestExecStatus(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	plain := filepath.Join(m.home, "plain")
	must(t, os.WriteFile(plain, []byte("no program\n"), 0o600))
	for _, c := range []struct {
		args   []string
		status int
		stderr string // part of its one line; none if it is empty
	}{
		{args: []string{"true"}},
		{args: []string{"sh", "-c", "exit 3"}, status: 3},
		{args: []string{"sh", "-c", "kill -KILL $$"}, status: 137},
		{args: []string{"sh", "-c", "kill -TERM $$"}, status: 143},
		{args: []string{"no-such-command"}, status: 127, stderr: "cannot run no-such-command: "},
		{args: []string{"./no-such-command"}, status: 127, stderr: "cannot run ./no-such-command: no such file"},
		{args: []string{plain}, status: 126, stderr: "permission denied"},
		{status: 2, stderr: "needs a command"},
		{args: []string{"--env", "1ST=x", "touch", "ran"}, status: 2, stderr: "NAME=TEMPLATE"},
		{args: []string{"--env", "=x", "touch", "ran"}, status: 2, stderr: "NAME=TEMPLATE"},
		{args: []string{"--env", "URL", "touch", "ran"}, status: 2, stderr: "NAME=TEMPLATE"},
		{args: []string{"--env", "URL={smpt}", "touch", "ran"}, status: 2, stderr: "unknown {smpt}"},
		{args: []string{"--chaos", "rcpt=451,rcpt=lots", "touch", "ran"}, status: 2, stderr: `the chaos rule "rcpt=lots" is not STAGE=FAULT`},
	} {
		stdout, stderr, status := m.run(append([]string{"exec"}, c.args...)...)
		if status != c.status || stdout != "" || !strings.Contains(stderr, c.stderr) || strings.Count(stderr, "\n") != min(1, len(c.stderr)) {
			t.Errorf("exec %q: status %d, %q, %q", c.args, status, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(m.home, "ran")); err == nil {
		t.Error("the command was run in spite of a wrong flag")
	}
	m.checkNothingLeft()
}

func TestExecEnvironment(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	out := m.mustRun("exec", "--env", "URL=smtp://{smtp}/{host}:{port}", "--env", `JSON={"key": "{key}", "api": "{api}"}`, "--", "sh", "-c",
		`test "$URL" = "smtp://$MAYFLY_SMTP/$MAYFLY_SMTP_HOST:$MAYFLY_SMTP_PORT" &&
		 test "$JSON" = "{\"key\": \"$MAYFLY_API_KEY\", \"api\": \"$MAYFLY_BASE_URL\"}" && cat`)
	if out != "" {
		t.Errorf("printed %q", out)
	}
}

func TestExecPassesSignalsOn(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	log := filepath.Join(m.home, "log")
	cmd := m.command("exec", "--", "env", appVariable+"=trap", thisProgram(t), log, "HUP", "INT", "QUIT", "USR1", "USR2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // away from the terminal of the tests
	in, err := cmd.StdinPipe()
	must(t, err)
	defer in.Close()
	must(t, cmd.Start())
	lines(t, log, 1)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} { // a terminal would send them to the command, too
		must(t, cmd.Process.Signal(s))
	}
	sent := []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM}
	for i, s := range sent {
		must(t, cmd.Process.Signal(s))
		lines(t, log, i+2)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 7 {
		t.Error(err)
	}
	if got := strings.Join(lines(t, log, len(sent)+1), " "); got != "ready HUP USR1 USR2 TERM" {
		t.Error(got)
	}
	m.checkNothingLeft()
}

// The terminal sends a ctrl+c to the command and to mayfly: it must not count twice.
func TestExecInTerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	log := filepath.Join(m.home, "log")
	shell := m.command()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs a shell with job control: install bash")
	}
	shell.Path, shell.Args = bash, []string{"bash", "--norc", "--noprofile", "-i"}
	s := startInTerminal(t, shell, "PS1=$ ", "MAYFLY="+program, "LOG="+log, "APP="+thisProgram(t))
	s.waitFor("$")
	s.typeKeys("\"$MAYFLY\" exec -- env " + appVariable + "=trap \"$APP\" \"$LOG\" INT QUIT USR1; echo status $?\r")
	lines(t, log, 1)
	for i := range 3 {
		s.typeKeys("\x03")
		lines(t, log, i+2)
	}
	s.typeKeys("\x1a") // ctrl+z
	s.waitFor("Stopped")
	s.step("echo \"jobs: $(jobs | wc -l)\"; kill -USR1 $(jobs -p); fg; echo status $?\r", "jobs: 1")
	lines(t, log, 5)
	s.typeKeys("\x1c") // ctrl+\
	if got := strings.Join(lines(t, log, 6), " "); got != "ready INT INT INT USR1 QUIT" {
		t.Error(got)
	}
	s.typeKeys("\x1a")
	s.waitUntil("the job stopped again", func(text string) bool { return strings.Count(text, "Stopped") == 2 })
	s.step("kill -TERM $(jobs -p); fg; echo status $?\r", "status 7")

	// A shell ends its loop when ctrl+c kills what it runs.
	m.write("log", "followed\n")
	s.step("for n in 1 2; do echo \"turn $n\"; \"$MAYFLY\" exec -- tail -f \"$LOG\"; done\r", "followed")
	s.typeKeys("\x03")
	s.typeKeys("echo status $?\r")
	if text := s.waitFor("status 130"); strings.Contains(text, "turn 2") {
		t.Error(text)
	}
	s.typeKeys("exit\r")
	s.exitStatus()
	m.checkNothingLeft()
}

// Whatever outlives the command has no say in when the run ends.
func TestExecEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	out, err := os.Create(filepath.Join(m.home, "out"))
	must(t, err)
	defer out.Close()
	cmd := m.command("exec", "--", "sh", "-c", "sleep 1000 & echo $!; exit 5")
	cmd.Stdout, cmd.Stderr = out, out
	_ = cmd.Run() // its status follows
	if status := cmd.ProcessState.ExitCode(); status != 5 {
		t.Errorf("status %d", status)
	}
	pid, err := strconv.Atoi(lines(t, out.Name(), 1)[0])
	must(t, err)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the process did not outlive the command: %v", err)
	}
	m.checkNothingLeft()
}

func TestExecIsKilled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a command whose parent was killed")
	}
	m := newMachine(t)
	log := filepath.Join(m.home, "log")
	cmd := m.command("exec", "--", "sh", "-c", `echo $$ > "$0"; while :; do sleep 0.01; done`, log)
	must(t, cmd.Start())
	pid, err := strconv.Atoi(lines(t, log, 1)[0])
	must(t, err)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
	eventually(t, "the command has ended", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ") // nobody may reap it
	})
}

func TestExecKeepsMails(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := filepath.Join(m.home, "new", "mails")
	painted := image.NewGray(image.Rect(0, 0, 640, 100)) // what the browser paints
	var picture bytes.Buffer
	must(t, png.Encode(&picture, painted))
	answer := `{"id":%d,"result":{"targetId":"t","sessionId":"s","result":{"value":100},"data":"` + base64.StdEncoding.EncodeToString(picture.Bytes()) + `"}}\0`
	command := m.write("browser", "#!/bin/sh\nfor id in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf '"+answer+"' $id >&4; done; cat <&3 >/dev/null\n")
	m.write(".config/mayfly/config.toml", "[browser]\ncommand = '"+command+"'\n")
	script := `for to in ada bob; do env ` + appVariable + `=mail SMTP_ADDR=$MAYFLY_SMTP "$0" $to@acme.example 482913; done; status=$1; set -- "$2"/*.eml; [ $# = 2 ] && exit $status`
	self, err := os.Executable()
	must(t, err)
	if _, stderr, status := m.run("exec", "--keep-mails", dir, "--", "sh", "-c", script, self, "0", dir); status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("mails were kept although the command succeeded")
	}
	_, stderr, status := m.run("exec", "--keep-mails", dir, "--", "sh", "-c", script, self, "9", dir)
	if status != 9 || stderr != "mayfly: 2 messages kept in "+dir+"\n" {
		t.Errorf("status %d: %s", status, stderr)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for i, want := range []string{"ada", "ada", "ada", "bob", "bob", "bob"} {
		name := files[i].Name()
		stem, extension := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
		stamp, title, _ := strings.Cut(stem, "-")
		if _, err := time.Parse("20060102T150405.000Z", stamp); err != nil || title != want+"-acme.example-Confirm-your-e-mail-address" {
			t.Errorf("%q: %v", name, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if i%3 == 1 {
			if c, err := png.DecodeConfig(bytes.NewReader(text)); err != nil || extension != ".png" || c.Width != 640 {
				t.Errorf("%s is %v, %v", name, c, err)
			}
			continue
		}
		isMail := strings.Contains(string(text), "\r\nMIME-Version: 1.0\r\n")
		if extension != []string{".eml", ".png", ".txt"}[i%3] || isMail != (i%3 == 0) || !strings.Contains(string(text), "482913") {
			t.Errorf("%s: %s", name, text)
		}
	}
	m.checkNothingLeft()
}

// A container has no home, nothing can be written to but the temporary folder, and mayfly is process 1.
func TestExecInContainer(t *testing.T) {
	t.Parallel()
	unshare := []string{"--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if out, err := exec.Command("unshare", append(unshare, "true")...).CombinedOutput(); err != nil {
		t.Skipf("needs namespaces of Linux: %v: %s", err, out)
	}
	m := newMachine(t)
	script := `
mount -t tmpfs tmpfs "$TMPDIR" && mount -o remount,ro,bind / || exit 20
exec env -i PATH="$PATH" TMPDIR="$TMPDIR" "$0" exec -- sh -c '
	test $PPID = 1 || exit 21
	! touch "$1" || exit 22
	address=$("$0" new) || exit 23
	env ` + appVariable + `=mail SMTP_ADDR="$MAYFLY_SMTP" "$2" "$address" 482913 || exit 24
	test "$("$0" wait "$address" --code)" = 482913 || exit 25
	exit 7' "$0" "$1/touched" "$2"`
	self, err := os.Executable()
	must(t, err)
	cmd := m.command()
	cmd.Args = append(append([]string{"unshare"}, unshare...), "sh", "-c", script, program, m.home, self)
	if cmd.Path, err = exec.LookPath("unshare"); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, status := output(t, cmd); status != 7 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// What ctrl+z stopped goes on in the background. Whether a signal that comes late stops it again is a
// matter of chance, hence the repetition.
func TestExecGoesOnInTheBackground(t *testing.T) {
	t.Parallel()
	s := newMachine(t).shell("bash")
	s.mustRun("mkfifo pipe")
	times := 2
	if os.Getenv("MAYFLY_LONG") != "" {
		times = 15
	}
	for i := range times {
		s.send(`mayfly exec -- sh -c 'echo started; read -r line <pipe; echo "it read $line"'`)
		s.waitFor("\nstarted")
		s.typeKeys("\x1a")
		s.waitUntil("a stopped job", stopped)
		s.done()
		s.mustRun("clear; bg")
		s.mustRun(fmt.Sprintf("echo %d >pipe; wait", i))
		s.waitFor(fmt.Sprintf("it read %d", i))
		s.mustRun("clear")
	}
}
