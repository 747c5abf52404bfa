package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"mayfly/api"
	"mayfly/internal/files"
	"mayfly/internal/message"
)

// Viewport is what a message is rendered for. The zero value is a desktop in light colours.
type Viewport struct{ Phone, Dark bool }

// Width is the width in px: 640, or a phone's 375.
func (l Viewport) Width() int {
	if l.Phone {
		return 375
	}
	return 640
}

// String names what is not a desktop's, in light colours.
func (l Viewport) String() string {
	switch {
	case l.Phone && l.Dark:
		return "phone dark"
	case l.Phone:
		return "phone"
	case l.Dark:
		return "dark"
	}
	return ""
}

const (
	usualHeight = 800              // px of a window
	maxHeight   = 12_000           // px that are rendered of a message that is taller
	margin      = 16               // px of background that are left below a message
	idleTime    = 10 * time.Second // for which a browser stays for the next message
)

// Picture is a rendered message, at most 12,000 px tall.
type Picture struct {
	*image.RGBA
	Cut bool // the message is taller
}

// ErrNone means that there is no browser.
var ErrNone = errors.New("no Chrome, Chromium, Edge or Brave was found: install one, or name its program as command under [browser] in config.toml")

// Screenshotter renders messages, one at a time, with one browser. The zero value is ready to use, after Close too.
type Screenshotter struct {
	Command string        // the program; "" for the browser that is installed
	Timeout time.Duration // for which a browser may make no progress; 0 for half a minute
	Off     error         // why nothing is rendered, nil if it is
	busy    sync.Mutex
	running *chrome // nil while there is none
}

// dirPrefix and lockName are of the directories in which browsers work. Who renders holds the lock.
const dirPrefix, lockName = "mayfly-paint-", "lock"

// RemoveLeft removes the directories that processes left which were killed while they rendered.
func RemoveLeft() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || files.CheckOwner(dir) != nil {
			continue
		}
		lock := flock.New(filepath.Join(dir, lockName))
		if free, err := lock.TryLock(); err == nil && free {
			_ = lock.Unlock()
			_ = os.RemoveAll(dir) // the next process tries again
		}
	}
}

// Close stops the browser, once nothing is rendered any more; contexts end what is.
func (p *Screenshotter) Close() {
	p.busy.Lock()
	defer p.busy.Unlock()
	if p.running != nil {
		p.running.end()
		p.running = nil
	}
}

// browsers are the programs that can render, by name or path, on all systems.
var browsers = []string{
	"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable", "microsoft-edge", "brave-browser", "brave",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
	`${ProgramFiles}\Google\Chrome\Application\chrome.exe`, `${ProgramFiles(x86)}\Google\Chrome\Application\chrome.exe`,
	`${LocalAppData}\Google\Chrome\Application\chrome.exe`, `${LocalAppData}\Chromium\Application\chrome.exe`,
	`${ProgramFiles(x86)}\Microsoft\Edge\Application\msedge.exe`, `${ProgramFiles}\Microsoft\Edge\Application\msedge.exe`,
	`${ProgramFiles}\BraveSoftware\Brave-Browser\Application\brave.exe`, `${LocalAppData}\BraveSoftware\Brave-Browser\Application\brave.exe`,
}

// Browser returns the program that renders, or ErrNone.
func (p *Screenshotter) Browser() (string, error) {
	if p.Off != nil {
		return "", p.Off
	}
	if p.Command != "" {
		path, err := exec.LookPath(p.Command)
		if err != nil {
			err = fmt.Errorf("%s, the command under [browser] in config.toml, was not found", p.Command)
		}
		return path, err
	}
	for _, name := range browsers {
		if path, err := exec.LookPath(os.ExpandEnv(name)); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Paint renders a message as a browser shows it, without a script and without the network. The client is as for [SafeCopy].
func (p *Screenshotter) Paint(ctx context.Context, c *api.Client, m *message.Message, look Viewport) (Picture, error) {
	program, err := p.Browser()
	if err != nil {
		return Picture{}, err
	}
	html := doctype.FindString(m.HTML) + body(ctx, c, m)
	p.busy.Lock()
	defer p.busy.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timeout := cmp.Or(p.Timeout, 30*time.Second)
	progress := time.AfterFunc(timeout, func() {
		cancel(fmt.Errorf("the browser made no progress for %v: timeout under [browser] in config.toml gives it more", timeout))
	})
	defer progress.Stop()
	if p.running == nil {
		RemoveLeft()
		running, err := start(program)
		if err != nil {
			return Picture{}, fmt.Errorf("rendering the message: %w", err)
		}
		p.running = running
	}
	p.running.moves = func() { progress.Reset(timeout) }
	stop := context.AfterFunc(ctx, p.running.end)
	picture, err := p.running.screenshot(html, look)
	if stop(); err == nil && ctx.Err() == nil {
		return picture, nil
	}
	p.running.end()
	if p.running, err = nil, p.running.why(err); ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return Picture{}, fmt.Errorf("rendering the message: %w", err)
}
