package browser

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"mayfly/api"
	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/internal/term"
)

// Look is what a message is painted for. The zero value is a desktop in light colours.
type Look struct{ Phone, Dark bool }

// Width is the width in px: 640, or a phone's 375.
func (l Look) Width() int {
	if l.Phone {
		return 375
	}
	return 640
}

// String names what is not a desktop's, in light colours.
func (l Look) String() string {
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
	usualHeight = 4_000       // px that are painted first: a browser takes seconds for more
	maxHeight   = 12_000      // px that are painted of a message that is taller
	endTime     = time.Second // that it may take to end
	margin      = 16          // px of background that are left below a message
)

// Picture is a painted message, at most 12,000 px tall.
type Picture struct {
	*image.RGBA
	Cut bool // the message is taller
}

// ErrNone means that there is no browser.
var ErrNone = errors.New("no Chrome, Chromium, Edge or Brave was found: install one, or name its program as command under [browser] in config.toml")

// Painter paints messages, one at a time. The zero value is ready to use.
type Painter struct {
	Command string        // the program; "" for the browser that is installed
	Timeout time.Duration // after which a browser is ended, with its children; 0 for half a minute
	busy    sync.Mutex
}

// folderPrefix and lockName are of the folders in which browsers work. Who paints holds the lock.
const folderPrefix, lockName = "mayfly-paint-", "lock"

// RemoveLeft removes the folders that processes left which were killed while they painted.
func RemoveLeft() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
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

// Wait waits until nothing is painted any more; contexts end what is.
func (p *Painter) Wait() {
	p.busy.Lock()
	defer p.busy.Unlock()
}

// browsers are the programs that can paint, by name or path, on all systems.
var browsers = []string{
	"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable", "microsoft-edge", "brave-browser", "brave",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
	`${ProgramFiles}\Google\Chrome\Application\chrome.exe`, `${ProgramFiles(x86)}\Google\Chrome\Application\chrome.exe`,
	`${LocalAppData}\Google\Chrome\Application\chrome.exe`, `${LocalAppData}\Chromium\Application\chrome.exe`,
	`${ProgramFiles(x86)}\Microsoft\Edge\Application\msedge.exe`, `${ProgramFiles}\Microsoft\Edge\Application\msedge.exe`,
	`${ProgramFiles}\BraveSoftware\Brave-Browser\Application\brave.exe`, `${LocalAppData}\BraveSoftware\Brave-Browser\Application\brave.exe`,
}

// Browser returns the program that paints, or ErrNone.
func (p *Painter) Browser() (string, error) {
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

// Paint paints a message as a browser shows it, without a script and without the network. It takes at most
// the timeout, after its turn has come. The client is as for [SafeCopy].
func (p *Painter) Paint(ctx context.Context, c *api.Client, m *message.Message, look Look) (Picture, error) {
	browser, err := p.Browser()
	if err != nil {
		return Picture{}, err
	}
	p.busy.Lock()
	defer p.busy.Unlock()
	timeout := cmp.Or(p.Timeout, 30*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("the browser took longer than %v: timeout under [browser] in config.toml gives it more", timeout))
	defer cancel()
	RemoveLeft()
	dir, err := os.MkdirTemp("", folderPrefix) // mode 0700
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }() // RemoveLeft tries again
		lock := flock.New(filepath.Join(dir, lockName))
		defer func() { _ = lock.Unlock() }()
		_, err = lock.TryLock()
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "mail.html"), []byte(frame(ctx, c, m, look.Width())), 0o600)
	}
	var picture Picture
	if err == nil {
		picture, err = shoot(ctx, browser, dir, look, usualHeight)
	}
	if err != nil {
		return Picture{}, fmt.Errorf("painting the message: %w", err)
	}
	if picture.Cut {
		if taller, err := shoot(ctx, browser, dir, look, maxHeight); err == nil { // else there is its first part
			return taller, nil
		}
	}
	return picture, nil
}

// shoot runs a browser, with a profile of its own, and returns what it painted.
func shoot(ctx context.Context, browser, dir string, look Look, height int) (Picture, error) {
	scheme, file := "1", filepath.Join(dir, "shot.png")
	if look.Dark {
		scheme = "0"
	}
	args := []string{
		"--headless", "--hide-scrollbars", "--disable-gpu", "--mute-audio", "--no-first-run", "--no-default-browser-check",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + filepath.Join(dir, "profile"), "--force-device-scale-factor=1",
		"--blink-settings=preferredColorScheme=" + scheme, fmt.Sprintf("--window-size=%d,%d", look.Width(), height), "--screenshot=" + file,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to start as root with it
	}
	cmd := exec.CommandContext(ctx, browser, append(args, filepath.Join(dir, "mail.html"))...)
	term.Detach(cmd)
	cmd.WaitDelay = endTime
	said, _ := cmd.CombinedOutput() // what counts is the picture
	term.EndDetached(cmd)
	if ctx.Err() != nil {
		return Picture{}, context.Cause(ctx)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		return Picture{}, fmt.Errorf("%s wrote no picture: %s", filepath.Base(browser), cmp.Or(line, "it did not say why"))
	}
	shot, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return Picture{}, err
	}
	return trimmed(shot), nil
}

// trimmed returns what of a screenshot is the message, without the background below it.
func trimmed(shot image.Image) Picture {
	m := image.NewRGBA(shot.Bounds())
	draw.Draw(m, m.Rect, shot, m.Rect.Min, draw.Src)
	row := func(y int) []byte { return m.Pix[(y-1)*m.Stride : y*m.Stride] } // from 1
	blank := func(y int, pixel []byte) bool {
		return y > 1 && bytes.HasPrefix(row(y), pixel) && bytes.Equal(row(y)[4:], row(y)[:m.Stride-4])
	}
	bottom := m.Rect.Dy()
	for blank(bottom, []byte(outsidePixel)) {
		bottom--
	}
	if bottom == m.Rect.Dy() {
		return Picture{m, true}
	}
	end := bottom
	for blank(end, row(bottom)[:4]) {
		end--
	}
	m.Rect.Max.Y = min(end+margin, bottom)
	m.Pix = slices.Clone(m.Pix[:m.Rect.Max.Y*m.Stride]) // the rest is freed
	return Picture{m, false}
}
