//go:build unix

package term

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// programs puts shell scripts, by name, in front of all programs and returns the folder they run in, $DIR.
func programs(t *testing.T, scripts map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, script := range scripts {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700))
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
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

func TestTheOpenerGetsItsTargetAsOneArgument(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("there is one opener")
	}
	const target = `https://a.example/?q=a b&c=$(touch x);"'`
	record := `printf '%s|' "${0##*/}" "$@" > "$DIR/got"`
	dir := programs(t, map[string]string{"xdg-open": record, "surf": record, "rundll32.exe": record})
	for _, c := range []struct {
		env  Env
		want string
	}{
		{Env{}, "xdg-open|" + target + "|"},
		{Env{"BROWSER=not-there"}, "xdg-open|" + target + "|"},
		{Env{"BROWSER=surf"}, "surf|" + target + "|"},
		{Env{"BROWSER=" + dir + "/surf"}, "surf|" + target + "|"},
		{Env{"BROWSER=not-there::surf -p:xdg-open"}, "surf|-p|" + target + "|"},
		{Env{"BROWSER=surf --url=%s --new"}, "surf|--url=" + target + "|--new|"},
		{Env{"WSL_DISTRO_NAME=Debian"}, "rundll32.exe|url.dll,FileProtocolHandler|" + target + "|"},
		{Env{"WSL_DISTRO_NAME=Debian", "BROWSER=surf"}, "surf|" + target + "|"},
	} {
		must(t, c.env.Open(target))
		if got := read(t, dir, "got"); got != c.want {
			t.Errorf("%q: %q, want %q", c.env, got, c.want)
		}
	}
	must(t, (Env{"WSL_DISTRO_NAME=Debian"}).Open("/tmp/mail.html"))
	if got, want := read(t, dir, "got"), `rundll32.exe|url.dll,FileProtocolHandler|\\wsl.localhost\Debian\tmp\mail.html|`; got != want {
		t.Errorf("a file in WSL: %q, want %q", got, want)
	}
}

func TestAnOpenerThatFailsIsAnError(t *testing.T) {
	dir := programs(t, map[string]string{"xdg-open": "exit 3", "open": "exit 3"})
	if err := (Env{}).Open("https://a.example"); err == nil || !strings.HasSuffix(err.Error(), "open could not open it: exit status 3") {
		t.Error(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "empty"))
	if err := (Env{}).Open("https://a.example"); err == nil || !strings.HasSuffix(err.Error(), "open is not installed") {
		t.Error(err)
	}
}

func TestAnOpenerHasASessionOfItsOwn(t *testing.T) {
	record := `ps -o sid= -p $$ > "$DIR/session"; echo $$ > "$DIR/pid"`
	dir := programs(t, map[string]string{"xdg-open": record, "open": record})
	must(t, (Env{}).Open("https://a.example"))
	if session, pid := strings.TrimSpace(read(t, dir, "session")), strings.TrimSpace(read(t, dir, "pid")); session != pid && runtime.GOOS == "linux" {
		t.Errorf("the opener %s is in session %s", pid, session)
	}
}
