//go:build unix

package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestMain is, where this variable is set, a program in a terminal that asks for its background.
func TestMain(m *testing.M) {
	if os.Getenv("ASK_BACKGROUND") != "" {
		fmt.Printf("background %d.", Env(os.Environ()).Background(os.Stdin, os.Stdout))
		return
	}
	os.Exit(m.Run())
}

func TestBackgroundIsAskedOfTheTerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answer  string
		environ string
		command []string
		want    Background
		asked   bool
	}{
		{"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;22c", "COLORFGBG=0;15", []string{self}, DarkBackground, true},
		{"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?1;2c", "", []string{self}, LightBackground, true},
		{"\x1b]11;rgb:fd/f6/e3\x07\x1b[?6c", "", []string{self}, LightBackground, true},
		{"\x1b]11;#000000\x07\x1b[?6c", "", []string{self}, DarkBackground, true},
		{"\x1b[?62;22c", "", []string{self}, UnknownBackground, true},
		{"\x1b[?62;22c", "COLORFGBG=0;15", []string{self}, LightBackground, true},
		{"\x1b]11;nonsense\x07\x1b[?6c", "", []string{self}, UnknownBackground, true},
		// a background process is not stopped
		{"", "COLORFGBG=0;15", []string{"/bin/sh", "-c", `set -m; "$0" & wait`, self}, LightBackground, false},
	} {
		screen, tty, err := pty.Open()
		if err != nil {
			t.Skip("no pseudo-terminal: ", err)
		}
		defer screen.Close()
		defer tty.Close()
		before, err := term.GetState(int(tty.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(c.command[0], c.command[1:]...)
		cmd.Env = append(os.Environ(), "ASK_BACKGROUND=1", "COLORFGBG=", c.environ)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		want, asked := fmt.Sprintf("background %d.", c.want), false
		for b := make([]byte, 256); !strings.Contains(said.String(), "background"); {
			n, err := screen.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			said.Write(b[:n])
			if !asked && strings.Contains(said.String(), "\x1b]11;?\x07\x1b[c") {
				asked = true
				if _, err := screen.WriteString(c.answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(said.String(), want) || asked != c.asked {
			t.Errorf("%q %s: %q, want %q; asked %v", c.answer, c.environ, said.String(), want, asked)
		}
		if after, err := term.GetState(int(tty.Fd())); err != nil || !reflect.DeepEqual(after, before) {
			t.Errorf("%q: the terminal's settings are not restored: %v", c.answer, err)
		}
	}
}

func TestATerminalThatDoesNotAnswerIsAskedOnce(t *testing.T) {
	var screen bytes.Buffer
	q := &question{screen: &screen}
	for range 2 {
		_, _ = io.WriteString(q, "a")
		_, _ = q.Write([]byte("b"))
	}
	if got := screen.String(); got != "a" {
		t.Errorf("the terminal got %q", got)
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
		if err := pty.Setsize(tty, &c.size); err != nil {
			t.Fatal(err)
		}
		if got := SizeOf(tty); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.size, got, c.want)
		}
	}
	var none bytes.Buffer
	if Is(&none) || Is(nil) || SizeOf(&none) != (Size{}) || !Is(tty) {
		t.Error("it does not know a terminal from a buffer")
	}
}
