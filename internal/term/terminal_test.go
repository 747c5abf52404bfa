//go:build unix

package term

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"mayfly/internal/fortest"
)

// TestMain is the program that runs in a terminal where this variable is set.
func TestMain(m *testing.M) {
	switch os.Getenv("PROGRAM") {
	case "background":
		fmt.Printf("background %d.", Env(os.Environ()).Background(context.Background(), os.Stdin, os.Stdout))
	case "raw":
		ctx, end := context.WithCancel(context.Background())
		defer end()
		keys, err := Raw(ctx, os.Stdin)
		if err != nil {
			fmt.Print(err)
			return
		}
		fmt.Print("raw")
		typed := make([]byte, 1)
		_, err = keys.Read(typed)
		fmt.Printf(" %q %v", typed, err)
		end()
		_, err = keys.Read(typed)
		fmt.Printf(" ended: %v", err)
		_ = keys.Close()
	default:
		os.Exit(m.Run())
	}
}

// terminal is a pseudo-terminal with a program in it.
type terminal struct {
	t           *testing.T
	screen, tty *os.File
	before      *term.State
	cmd         *exec.Cmd
	said        string
}

var must = fortest.Must

func start(t *testing.T, environ []string, command ...string) *terminal {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	t.Cleanup(func() { _, _ = screen.Close(), tty.Close() })
	before, err := term.GetState(int(tty.Fd()))
	must(t, err)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // else each program takes a second to end
	cmd.Env = append(cmd.Env, environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(t, cmd.Start())
	return &terminal{t, screen, tty, before, cmd, ""}
}

// says reads until the program has written text.
func (p *terminal) says(text string) {
	p.t.Helper()
	for b := make([]byte, 256); !strings.Contains(p.said, text); {
		n, err := p.screen.Read(b)
		if err != nil {
			p.t.Fatalf("%v, after %q", err, p.said)
		}
		p.said += string(b[:n])
	}
}

func (p *terminal) types(text string) {
	p.t.Helper()
	_, err := p.screen.WriteString(text)
	must(p.t, err)
}

// ends waits for the program, which must have left the terminal's settings as they were.
func (p *terminal) ends() {
	p.t.Helper()
	must(p.t, p.cmd.Wait())
	if after, err := term.GetState(int(p.tty.Fd())); err != nil || !reflect.DeepEqual(after, p.before) {
		p.t.Errorf("the terminal's settings are not restored: %v", err)
	}
}

// self is this program, inBackground as the job of a shell.
func self(t *testing.T) (foreground, inBackground []string) {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	return []string{path}, []string{"/bin/sh", "-c", `set -m; "$0" & wait`, path}
}

func TestRawKeysUntilTheContextEnds(t *testing.T) {
	foreground, _ := self(t)
	p := start(t, []string{"PROGRAM=raw"}, foreground...)
	p.says("raw")
	p.types("\x03")
	p.says(` "\x03" <nil> ended: read canceled`)
	p.ends()
	var none bytes.Buffer
	if _, err := Raw(t.Context(), &none); err == nil {
		t.Error("a buffer has keys")
	}
}

func TestBackgroundIsAskedOfTheTerminal(t *testing.T) {
	foreground, inBackground := self(t)
	for _, c := range []struct {
		answer  string // "" when there is no question
		environ string
		command []string
		want    Background
	}{
		{"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;22c", "COLORFGBG=0;15", foreground, DarkBackground},
		{"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?1;2c", "", foreground, LightBackground},
		{"\x1b]11;rgb:fd/f6/e3\x07\x1b[?6c", "", foreground, LightBackground},
		{"\x1b]11;#000000\x07\x1b[?6c", "", foreground, DarkBackground},
		{"\x1b[?62;22c", "", foreground, UnknownBackground},
		{"\x1b[?62;22c", "COLORFGBG=0;15", foreground, LightBackground},
		{"\x1b]11;nonsense\x07\x1b[?6c", "", foreground, UnknownBackground},
		{"", "COLORFGBG=0;15", inBackground, LightBackground},
		{"", "CI=true", foreground, UnknownBackground},
	} {
		const question = "\x1b]11;?\x07\x1b[c"
		p := start(t, []string{"PROGRAM=background", "COLORFGBG=", "CI=", c.environ}, c.command...)
		if c.answer != "" {
			p.says(question)
			p.types(c.answer)
		}
		p.says("background")
		p.says(".")
		p.ends()
		if !strings.HasSuffix(p.said, fmt.Sprintf("background %d.", c.want)) || c.answer == "" && strings.Contains(p.said, question) {
			t.Errorf("%q %s: %q, want %d", c.answer, c.environ, p.said, c.want)
		}
	}
}

func TestSizeOfATerminal(t *testing.T) {
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminal: ", err)
	}
	defer screen.Close()
	defer tty.Close()
	for _, c := range []struct {
		size pty.Winsize
		want Size
	}{
		{pty.Winsize{}, Size{}},
		{pty.Winsize{Cols: 80, Rows: 24}, Size{Columns: 80, Rows: 24}},
		{pty.Winsize{Cols: 80, Rows: 24, X: 805, Y: 480}, Size{80, 24, 10, 20}},
	} {
		must(t, pty.Setsize(tty, &c.size))
		if got := SizeOf(tty); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.size, got, c.want)
		}
	}
	var none bytes.Buffer
	if Is(&none) || Is(nil) || SizeOf(&none) != (Size{}) || !Is(tty) {
		t.Error("it does not know a terminal from a buffer")
	}
}
