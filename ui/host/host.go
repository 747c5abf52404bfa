// Package host reaches the machine that the application runs on: clipboards, the browser, files, programs.
package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/adrg/xdg"
	"github.com/emersion/go-smtp"

	"mayfly/assets"
	"mayfly/internal/term"
	"mayfly/render"
)

// Host is the machine. Tests replace the functions that reach outside.
type Host struct {
	// Clipboard copies text to the available clipboards other than the terminal's, and names them.
	Clipboard func(ctx context.Context, env term.Env, text string) (names []string, err error)
	// Opener returns what opens a URL or a file, or why nothing here can.
	Opener func(env term.Env, target string) (term.Opener, error)
	// ReleaseTerminal is called before another program gets the terminal, and back after that.
	ReleaseTerminal func() (back func())
	Copies          *Copies
	Downloads       string         // directory for messages and attachments
	Away            bool           // the user is elsewhere: no file, program or clipboard of this machine is used
	Location        *time.Location // where the user is, if that is elsewhere
}

// Terminal is a host where there is nothing but the user's terminal.
func Terminal(at *time.Location) *Host {
	return &Host{
		Location:  at,
		Clipboard: func(context.Context, term.Env, string) ([]string, error) { return nil, nil },
		Opener:    func(term.Env, string) (term.Opener, error) { return term.Opener{}, errors.New("over SSH") },
		Copies:    &Copies{}, Away: true,
	}
}

// New returns this machine. Messages are saved in downloads, or in the system's directory if it is empty.
func New(downloads string, releaseTerminal func() (back func())) *Host {
	if downloads == "" {
		downloads = xdg.UserDirs.Download
	} else if rest, ok := strings.CutPrefix(downloads, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			downloads = filepath.Join(home, rest)
		}
	}
	return &Host{
		Clipboard: func(ctx context.Context, env term.Env, text string) ([]string, error) { return env.Copy(ctx, text) },
		Opener:    term.Env.Opener, ReleaseTerminal: releaseTerminal,
		Copies: &Copies{}, Downloads: downloads,
	}
}

// toTerminal copies text by OSC 52.
func toTerminal(env term.Env, text string) tea.Cmd {
	if env.Screen() {
		return tea.Raw(env.CopySequence(text))
	}
	return tea.SetClipboard(text)
}

// Copy copies text by OSC 52, which is not acknowledged, and to the clipboards that its [Done] names.
func (h *Host) Copy(ctx context.Context, env term.Env, text, what string) tea.Cmd {
	return tea.Batch(toTerminal(env, text), func() tea.Msg {
		names, err := h.Clipboard(ctx, env, text)
		if err != nil || len(names) == 0 { // the terminal's clipboard may have worked
			return nil
		}
		return Copied(what, names...)
	})
}

// Copied says what was copied, and to which clipboards besides the terminal's.
func Copied(what string, names ...string) Result {
	return Result{Text: "copied " + what, How: strings.Join(append([]string{"OSC 52"}, names...), ", "), EndMatters: true}
}

// openTimeout is how long an opener is watched: it may be the browser itself.
const openTimeout = 2 * time.Second

// OpenURL opens a link in the browser.
func (h *Host) OpenURL(ctx context.Context, env term.Env, u *url.URL) tea.Cmd {
	return h.open(ctx, env, u.String(), render.Clean(u.Hostname()), "the link")
}

// OpenFile opens a file by its path; name is what it is called on the screen.
func (h *Host) OpenFile(ctx context.Context, env term.Env, path, name string) tea.Cmd {
	return h.open(ctx, env, path, name, ShortPath(path))
}

// open opens target, and says how far that is known: it is opened when the opener ends well within openTimeout.
// Where nothing opens it, target is copied instead.
func (h *Host) open(ctx context.Context, env term.Env, target, name, copied string) tea.Cmd {
	return func() tea.Msg {
		opener, err := h.Opener(env, target)
		if err != nil {
			return h.copyInstead(ctx, env, target, Result{Text: "copied " + copied + ": nothing here can open it", How: err.Error()})
		}
		var said atomic.Bool
		say := func(text string) tea.Msg {
			if said.Swap(true) {
				return nil
			}
			return Result{Text: text + name}
		}
		return tea.BatchMsg{
			tea.Tick(openTimeout, func(time.Time) tea.Msg { return say("handed to " + opener.Name + ": ") }),
			func() tea.Msg {
				err := opener.Run()
				if err == nil {
					return say("opened ")
				}
				said.Store(true)
				return h.copyInstead(ctx, env, target, Result{Err: fmt.Errorf("%w; %s is copied instead", err, copied)})
			},
		}
	}
}

// copyInstead copies what could not be opened, and then reports that.
func (h *Host) copyInstead(ctx context.Context, env term.Env, target string, d Result) tea.Msg {
	_, _ = h.Clipboard(ctx, env, target) // the terminal's clipboard may work
	return tea.BatchMsg{toTerminal(env, target), func() tea.Msg { return d }}
}

// Result is the outcome of work, for the bottom line: what was done, or why it failed.
type Result struct {
	Text       string
	How        string // how it was done, left out where there is no room
	EndMatters bool   // of the text, as of an address: it is cut in its middle
	Err        error
}

// ShortPath abbreviates the home directory in a path to ~, and cleans it for the screen.
func ShortPath(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.Join("~", rel)
		}
	}
	return render.Clean(path)
}

// senders are the senders of the samples, in order.
var senders = []struct{ name, addr string }{
	{"Acme", "no-reply@acme.example"},
	{"Brightwater Books", "orders@books.example"},
	{"Grace Hopper", "grace@navy.example"},
	{"Northlight", "id@northlight.example"},
}

// SendSample sends sample n, from 0 and wrapping around, to an address through the SMTP server at addr
// (host:port), until ctx ends. It returns the name of the sender.
func SendSample(ctx context.Context, addr, to string, n int) (sender string, err error) {
	from := senders[n%len(senders)]
	mail, err := sample(n, to, time.Now())
	if err != nil {
		return "", err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("sending a sample message: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // fails the command under way
	defer stop()
	c := smtp.NewClient(conn)
	defer c.Close()
	if err := c.SendMail(from.addr, []string{to}, bytes.NewReader(mail)); err != nil {
		return "", fmt.Errorf("sending a sample message: %w", err)
	}
	return from.name, c.Quit()
}

// sample returns sample n with a header for a recipient and a time, ready for SMTP.
func sample(n int, to string, now time.Time) ([]byte, error) {
	entries, err := fs.ReadDir(assets.Samples, "samples")
	if err != nil {
		return nil, fmt.Errorf("reading the sample messages: %w", err)
	}
	from := senders[n%len(senders)]
	body, err := assets.Samples.ReadFile(path.Join("samples", entries[n%len(entries)].Name()))
	if err != nil {
		return nil, fmt.Errorf("reading a sample message: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: %s <%s>\n", from.name, from.addr)
	fmt.Fprintf(&b, "To: <%s>\n", to)
	fmt.Fprintf(&b, "Date: %s\n", now.Format(time.RFC1123Z))
	fmt.Fprintf(&b, "Message-ID: <%s@sample.example>\n", rand.Text())
	b.Write(body)
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")), nil
}
