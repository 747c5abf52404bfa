// Package host reaches the machine that the application runs on: clipboards, the browser, files, programs.
package host

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/adrg/xdg"

	"mayfly/internal/term"
	"mayfly/render"
)

// Host is the machine. Tests replace the functions that reach outside.
type Host struct {
	// Clipboard copies text to the available clipboards other than the terminal's, and names them.
	Clipboard func(ctx context.Context, env term.Env, text string) (names []string, err error)
	// Opener hands a URL or a file to the system's opener, and returns when that ends.
	Opener func(env term.Env, target string) error
	// LendTerminal is called before another program gets the terminal, and back after that.
	LendTerminal func() (back func())
	Copies       *Copies
	Downloads    string // folder for messages and attachments
}

// New returns this machine. Messages are saved in downloads, or in the system's download folder if
// it is empty.
func New(downloads string, lendTerminal func() (back func())) *Host {
	if downloads == "" {
		downloads = xdg.UserDirs.Download
	} else if rest, ok := strings.CutPrefix(downloads, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			downloads = filepath.Join(home, rest)
		}
	}
	return &Host{
		Clipboard: func(ctx context.Context, env term.Env, text string) ([]string, error) { return env.Copy(ctx, text) },
		Opener:    term.Env.Open, LendTerminal: lendTerminal,
		Copies: &Copies{}, Downloads: downloads,
	}
}

// Copy copies text to the terminal's clipboard by OSC 52, which is not acknowledged, and to those
// of the machine. Its [Done] names them.
func (h *Host) Copy(ctx context.Context, env term.Env, text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		names, err := h.Clipboard(ctx, env, text)
		if err != nil || len(names) == 0 { // the terminal's clipboard may have worked
			return nil
		}
		return Copied(what, names...)
	})
}

// Copied says what was copied, and to which clipboards besides the terminal's.
func Copied(what string, names ...string) Done {
	return Done{Text: "copied " + what, How: strings.Join(append([]string{"OSC 52"}, names...), ", "), EndMatters: true}
}

// openTimeout is how long an opener is watched before what it opens counts as opened.
const openTimeout = 2 * time.Second

// OpenURL opens a link in the browser.
func (h *Host) OpenURL(ctx context.Context, env term.Env, u *url.URL) tea.Cmd {
	return h.open(ctx, env, u.String(), render.Clean(u.Hostname()), "the link")
}

// OpenCopy returns a function that opens a safe copy in the browser, by its path.
func (h *Host) OpenCopy(ctx context.Context, env term.Env) func(path string) tea.Cmd {
	return func(path string) tea.Cmd { return h.open(ctx, env, path, "a safe copy", "its path") }
}

// open opens target. It is opened when the opener ends well, or when it has run for openTimeout: it
// may be the browser itself. Whenever the opener fails, target is copied instead.
func (h *Host) open(ctx context.Context, env term.Env, target, name, copied string) tea.Cmd {
	var ended atomic.Bool
	succeed := func() tea.Msg {
		if ended.Swap(true) {
			return nil
		}
		return Done{Text: "opened " + name}
	}
	return tea.Batch(
		tea.Tick(openTimeout, func(time.Time) tea.Msg { return succeed() }),
		func() tea.Msg {
			err := h.Opener(env, target)
			if err == nil {
				return succeed()
			}
			ended.Store(true)
			_, _ = h.Clipboard(ctx, env, target) // the terminal's clipboard may work
			failed := Done{Err: fmt.Errorf("%w; %s is copied instead", err, copied)}
			return tea.BatchMsg{tea.SetClipboard(target), func() tea.Msg { return failed }}
		},
	)
}

// Done is the outcome of work, for the bottom line: what was done, or why it failed.
type Done struct {
	Text       string
	How        string // how it was done, left out where there is no room
	EndMatters bool   // of the text, as of an address: it is cut in its middle
	Err        error
}

// ShortPath abbreviates the home folder in a path to ~, and cleans it for the screen.
func ShortPath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return render.Clean(path)
	}
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return render.Clean(filepath.Join("~", rel))
	}
	return render.Clean(path)
}
