package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

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

// String names a look, such as "640 px, light".
func (l Look) String() string {
	if l.Dark {
		return strconv.Itoa(l.Width()) + " px, dark"
	}
	return strconv.Itoa(l.Width()) + " px, light"
}

const (
	usualHeight = 4_000            // px that are painted first: a browser takes seconds for more
	maxHeight   = 12_000           // px that are painted of a message that is taller
	paintTime   = 10 * time.Second // after which a browser is ended, with its children
	endTime     = time.Second      // that it may take to end
	margin      = 16               // px of background that are left below a message
)

// Picture is a painted message, at most 12,000 px tall.
type Picture struct {
	Image *image.RGBA
	Cut   bool // the message is taller
}

// ErrNone means that there is no browser.
var ErrNone = errors.New("no Chrome, Chromium, Edge or Brave was found: install one, or name its program as command under [browser] in config.toml")

// Painter paints messages, one at a time. The zero value is ready to use.
type Painter struct {
	Command string // the program; "" for the browser that is installed
	busy    sync.Mutex
}

// Wait waits until nothing is painted any more; contexts end what is.
func (p *Painter) Wait() {
	p.busy.Lock()
	defer p.busy.Unlock()
}

// Browser returns the program that paints, or ErrNone.
func (p *Painter) Browser() (string, error) {
	if p.Command != "" {
		path, err := exec.LookPath(p.Command)
		if err != nil {
			return "", fmt.Errorf("%s, the command under [browser] in config.toml, was not found", p.Command)
		}
		return path, nil
	}
	for _, name := range browsers() {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// browsers are the programs that can paint, by name or path.
func browsers() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
			"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
		}
	case "windows":
		var all []string
		for _, variable := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			for _, path := range []string{`Google\Chrome\Application\chrome.exe`, `Chromium\Application\chrome.exe`, `Microsoft\Edge\Application\msedge.exe`,
				`BraveSoftware\Brave-Browser\Application\brave.exe`} {
				all = append(all, filepath.Join(os.Getenv(variable), path))
			}
		}
		return all
	}
	return []string{"google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "microsoft-edge-stable", "microsoft-edge", "brave-browser", "brave"}
}

// Paint paints a message as a browser shows it, without a script and without the network. It takes at most ten seconds,
// after its turn has come.
func (p *Painter) Paint(ctx context.Context, page Page, look Look) (Picture, error) {
	browser, err := p.Browser()
	if err != nil {
		return Picture{}, err
	}
	p.busy.Lock()
	defer p.busy.Unlock()
	if ctx.Err() != nil {
		return Picture{}, context.Cause(ctx)
	}
	dir, err := os.MkdirTemp("", "mayfly-paint-") // mode 0700
	if err != nil {
		return Picture{}, fmt.Errorf("painting the message: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a browser may still end: what stays is the user's own temporary folder
	file := filepath.Join(dir, "mail.html")
	if err := os.WriteFile(file, []byte(frame(page, look.Width())), 0o600); err != nil {
		return Picture{}, fmt.Errorf("painting the message: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, paintTime, fmt.Errorf("the browser took longer than %v", paintTime))
	defer cancel()
	shot, err := shoot(ctx, browser, dir, look, usualHeight)
	if err != nil {
		return Picture{}, fmt.Errorf("painting the message: %w", err)
	}
	bounds, cut := message(shot)
	if cut {
		if taller, err := shoot(ctx, browser, dir, look, maxHeight); err == nil { // else there is the first part
			shot = taller
			bounds, cut = message(shot)
		}
	}
	return Picture{Image: cropped(shot, bounds), Cut: cut}, nil
}

// shoot runs a browser, with a profile of its own, and returns what it painted.
func shoot(ctx context.Context, browser, dir string, look Look, height int) (image.Image, error) {
	const dark, light = "0", "1"
	scheme, shot := light, filepath.Join(dir, "shot.png")
	if look.Dark {
		scheme = dark
	}
	args := []string{
		"--headless", "--hide-scrollbars", "--disable-gpu", "--mute-audio", "--no-first-run", "--no-default-browser-check",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + filepath.Join(dir, "profile"), "--force-device-scale-factor=1",
		"--blink-settings=preferredColorScheme=" + scheme, fmt.Sprintf("--window-size=%d,%d", look.Width(), height), "--screenshot=" + shot,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to start as root with it
	}
	cmd := exec.CommandContext(ctx, browser, append(args, fileURL(filepath.Join(dir, "mail.html")))...)
	term.Detach(cmd)
	cmd.WaitDelay = endTime
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	data, missing := os.ReadFile(shot)
	if missing != nil {
		if line, _, _ := bytes.Cut(bytes.TrimSpace(said.Bytes()), []byte("\n")); err == nil && len(line) > 0 {
			err = errors.New(string(line))
		}
		return nil, fmt.Errorf("%s: %w", filepath.Base(browser), errors.Join(err, missing))
	}
	return png.Decode(bytes.NewReader(data))
}

// message returns what of a picture is the message, without the background below it, and whether it goes on.
func message(shot image.Image) (r image.Rectangle, cut bool) {
	r = shot.Bounds()
	if !uniform(shot, r.Max.Y-1, outside) {
		return r, true
	}
	end := above(shot, r.Max.Y, outside)
	r.Max.Y = min(above(shot, end, shot.At(r.Min.X, end-1))+margin, end)
	return r, false
}

// above returns the row below which there is only one colour, as far as row end. The first row always is above.
func above(m image.Image, end int, c color.Color) int {
	for end > m.Bounds().Min.Y+1 && uniform(m, end-1, c) {
		end--
	}
	return end
}

// uniform reports whether row y of a picture has no other colour.
func uniform(m image.Image, y int, c color.Color) bool {
	want := color.RGBAModel.Convert(c)
	for x := m.Bounds().Min.X; x < m.Bounds().Max.X; x++ {
		if color.RGBAModel.Convert(m.At(x, y)) != want {
			return false
		}
	}
	return true
}

// cropped copies a part of a picture, so that the rest can be freed.
func cropped(m image.Image, r image.Rectangle) *image.RGBA {
	part := image.NewRGBA(image.Rectangle{Max: r.Size()})
	draw.Draw(part, part.Bounds(), m, r.Min, draw.Src)
	return part
}

// fileURL returns the URL of a file.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if path[0] != '/' { // a drive of Windows
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
