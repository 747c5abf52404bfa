//go:build unix

package term

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// programs makes shell scripts, by name, the only programs that are installed, beside those that they run, and
// returns their folder, $DIR.
func programs(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700))
	}
	for _, name := range []string{"cat", "ps"} {
		path, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	t.Setenv("PATH", dir)
	t.Setenv("DIR", dir)
	return dir
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return string(content)
}

func fifo(t *testing.T, path ...string) {
	t.Helper()
	must(t, syscall.Mkfifo(filepath.Join(path...), 0o600))
}

const keep = `{ echo "$@"; cat; } > "$DIR/${0##*/}.got"`

func TestCopyReachesTheClipboardsThereAre(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("pbcopy needs no display")
	}
	const tmux, xclip = "load-buffer -w -\n", "-in -selection clipboard\n"
	for _, c := range []struct {
		environ   string // separated by spaces
		installed string
		names     string
		got       map[string]string // arguments of the programs that were given the text
	}{
		{"", "tmux xclip wl-copy", "", nil},
		{"DISPLAY=:0", "", "", nil},
		{"DISPLAY=:0", "xclip xsel", "system clipboard", map[string]string{"xclip": xclip}},
		{"DISPLAY=:0", "xsel", "system clipboard", map[string]string{"xsel": "--input --clipboard\n"}},
		{"DISPLAY=:0 WAYLAND_DISPLAY=wayland-0", "xclip wl-copy", "system clipboard", map[string]string{"wl-copy": "\n"}},
		{"DISPLAY=:0 WAYLAND_DISPLAY=wayland-0", "xclip", "system clipboard", map[string]string{"xclip": xclip}},
		{"WAYLAND_DISPLAY=wayland-0", "xclip", "", nil},
		{"TERMUX_VERSION=1", "termux-clipboard-set", "system clipboard", map[string]string{"termux-clipboard-set": "\n"}},
		{"WSL_DISTRO_NAME=Debian", "xclip clip.exe", "system clipboard", map[string]string{"clip.exe": "\n"}},
		{"TMUX=x", "tmux xclip", "tmux", map[string]string{"tmux": tmux}},
		{"TMUX=x DISPLAY=:0", "tmux xclip", "tmux system clipboard", map[string]string{"tmux": tmux, "xclip": xclip}},
		{"DISPLAY=:0 SSH_TTY=/dev/pts/0", "xclip", "", nil},
		{"TMUX=x DISPLAY=:0 SSH_CONNECTION=x", "tmux xclip", "tmux", map[string]string{"tmux": tmux}},
	} {
		scripts := map[string]string{}
		for name := range strings.FieldsSeq(c.installed) {
			scripts[name] = keep
		}
		dir := programs(t, scripts)
		e := Env(strings.Fields(c.environ))
		names, err := e.Copy(t.Context(), "482913; $(x)")
		if got := strings.Join(names, " "); err != nil || got != c.names || !slices.Equal(e.Clipboards(), names) {
			t.Errorf("%q with %s: %q, %v, want %q; said before: %q", c.environ, c.installed, got, err, c.names, e.Clipboards())
		}
		for name := range scripts {
			path := filepath.Join(dir, name+".got")
			if want, called := c.got[name]; called {
				if got := read(t, path); got != want+"482913; $(x)" {
					t.Errorf("%q: %s got %q", c.environ, name, got)
				}
			} else if _, err := os.Stat(path); err == nil {
				t.Errorf("%q: %s was called", c.environ, name)
			}
		}
	}
}

func TestAClipboardThatFailsIsNamed(t *testing.T) {
	programs(t, map[string]string{"tmux": "cat >/dev/null; exit 1", "xclip": keep, "pbcopy": keep})
	names, err := Env{"TMUX=x", "DISPLAY=:0"}.Copy(t.Context(), "a")
	if !slices.Equal(names, []string{"system clipboard"}) || err == nil || !strings.Contains(err.Error(), "tmux") {
		t.Errorf("%q, %v", names, err)
	}
}

func TestAHelperThatDoesNotAnswerIsKilled(t *testing.T) {
	stuck := `echo $$ > "$DIR/started"; exec cat "$DIR/never"`
	dir := programs(t, map[string]string{"xclip": stuck, "pbcopy": stuck})
	fifo(t, dir, "started")
	fifo(t, dir, "never")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Env{"DISPLAY=:0"}.Copy(ctx, strings.Repeat("more than a pipe holds", 10_000))
		ended <- err
	}()
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, dir, "started")))
	must(t, err)
	cancel()
	if err := <-ended; err == nil {
		t.Error("it copied")
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the helper is left behind: %v", err)
	}
}

// openWith opens a target, and says the program that did or why none can.
func openWith(e Env, target string) (string, error) {
	o, err := e.Opener(target)
	if err != nil {
		return "", err
	}
	return o.Name, o.Run()
}

func TestTheOpenerGetsItsTargetAsOneArgument(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("there is one opener")
	}
	const target = `https://a.example/?q=a b&c=$(touch x);"'`
	record := `printf '%s|' "${0##*/}" "$@" > "$DIR/got"`
	dir := programs(t, map[string]string{"xdg-open": record, "surf": record, "rundll32.exe": record})
	for _, c := range []struct{ environ, want string }{
		{"", "no display"},
		{"DISPLAY=:0", "xdg-open|" + target + "|"},
		{"WAYLAND_DISPLAY=wayland-0", "xdg-open|" + target + "|"},
		{"TERMUX_VERSION=1", "xdg-open|" + target + "|"},
		{"DISPLAY=:0;SSH_CONNECTION=x", "over SSH"},
		{"DISPLAY=:0;SSH_TTY=x", "over SSH"},
		{"WSL_DISTRO_NAME=Debian;SSH_TTY=x", "over SSH"},
		{"BROWSER=not-there;DISPLAY=:0", "xdg-open|" + target + "|"},
		{"BROWSER=not-there", "no display"},
		{"BROWSER=surf", "surf|" + target + "|"},
		{"BROWSER=surf;SSH_CONNECTION=x", "surf|" + target + "|"},
		{"BROWSER=" + dir + "/surf", "surf|" + target + "|"},
		{"BROWSER=not-there::surf -p:xdg-open", "surf|-p|" + target + "|"},
		{"BROWSER=surf --url=%s --new", "surf|--url=" + target + "|--new|"},
		{"WSL_DISTRO_NAME=Debian", "rundll32.exe|url.dll,FileProtocolHandler|" + target + "|"},
		{"WSL_DISTRO_NAME=Debian;BROWSER=surf", "surf|" + target + "|"},
	} {
		must(t, os.WriteFile(filepath.Join(dir, "got"), nil, 0o600))
		name, err := openWith(strings.Split(c.environ, ";"), target)
		got := read(t, dir, "got")
		if err != nil {
			got += err.Error()
		}
		if got != c.want || !strings.HasPrefix(c.want, name) {
			t.Errorf("%q: %s, %q, want %q", c.environ, name, got, c.want)
		}
	}
	_, err := openWith(Env{"WSL_DISTRO_NAME=Debian"}, "/tmp/mail.html")
	must(t, err)
	if got, want := read(t, dir, "got"), `rundll32.exe|url.dll,FileProtocolHandler|\\wsl.localhost\Debian\tmp\mail.html|`; got != want {
		t.Errorf("a file in WSL: %q, want %q", got, want)
	}
}

func TestAnOpenerThatFailsIsAnError(t *testing.T) {
	env := Env{"DISPLAY=:0"}
	dir := programs(t, map[string]string{"xdg-open": "exit 3", "open": "exit 3"})
	if _, err := openWith(env, "https://a.example"); err == nil || !strings.HasSuffix(err.Error(), "open could not open it: exit status 3") {
		t.Error(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "empty"))
	if _, err := openWith(env, "https://a.example"); err == nil || !strings.HasSuffix(err.Error(), "open is not installed") {
		t.Error(err)
	}
}

func TestAnOpenerHasASessionOfItsOwn(t *testing.T) {
	record := `ps -o sid= -p $$ > "$DIR/session"; echo $$ > "$DIR/pid"`
	dir := programs(t, map[string]string{"xdg-open": record, "open": record})
	_, err := openWith(Env{"DISPLAY=:0"}, "https://a.example")
	must(t, err)
	if session, pid := strings.TrimSpace(read(t, dir, "session")), strings.TrimSpace(read(t, dir, "pid")); session != pid && runtime.GOOS == "linux" {
		t.Errorf("the opener %s is in session %s", pid, session)
	}
}
