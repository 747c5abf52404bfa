// Package host reaches the machine that the application runs on: clipboards, the browser, files.
package host

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/adrg/xdg"

	"mayfly/render"
	"mayfly/term"
	"mayfly/ui/safecopy"
	"mayfly/ui/session"
)

// Host is the machine. Tests replace the functions that reach outside.
type Host struct {
	// Clipboard copies text to the available clipboards other than the terminal's, and names them.
	Clipboard func(ctx context.Context, env term.Env, text string) (names []string, err error)
	// Opener hands a URL or a file to the system's opener.
	Opener    func(ctx context.Context, env term.Env, target string) error
	Copies    *safecopy.Copies
	Downloads string // folder for messages and attachments
}

// New returns this machine. Messages are saved in downloads, or in the system's download folder if
// it is empty.
func New(downloads string) *Host {
	if downloads == "" {
		downloads = xdg.UserDirs.Download
	} else if rest, ok := strings.CutPrefix(downloads, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			downloads = filepath.Join(home, rest)
		}
	}
	return &Host{
		Clipboard: func(ctx context.Context, env term.Env, text string) ([]string, error) { return env.Copy(ctx, text) },
		Opener:    func(ctx context.Context, env term.Env, target string) error { return env.Open(ctx, target) },
		Copies:    &safecopy.Copies{}, Downloads: downloads,
	}
}

// Copy copies text to the terminal's clipboard by OSC 52, which is not acknowledged, and to those
// of the machine. Its [session.Done] names them.
func (h *Host) Copy(ctx context.Context, env term.Env, text, what string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text), func() tea.Msg {
		names, err := h.Clipboard(ctx, env, text)
		if err != nil || len(names) == 0 { // the terminal's clipboard may have worked
			return nil
		}
		return session.Done{Text: Copied(what, names...)}
	})
}

// Copied says what was copied, and to which clipboards besides the terminal's.
func Copied(what string, names ...string) string {
	return "copied " + what + " (" + strings.Join(append([]string{"OSC 52"}, names...), ", ") + ")"
}

// OpenURL opens a link in the browser.
func (h *Host) OpenURL(ctx context.Context, env term.Env, u *url.URL) tea.Cmd {
	return func() tea.Msg {
		return session.Done{Text: "opened " + render.Clean(u.Hostname()), Err: h.Opener(ctx, env, u.String())}
	}
}

// OpenFile returns a function that opens a file.
func (h *Host) OpenFile(env term.Env) func(ctx context.Context, path string) error {
	return func(ctx context.Context, path string) error { return h.Opener(ctx, env, path) }
}
