package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

	"mayfly/internal/term"
)

// endTime is how long a browser may take to end.
const endTime = time.Second

// chrome is a running browser with a profile of its own. It speaks the DevTools protocol over pipes, JSON values that end with a
// zero byte: nobody else can reach it there, no message is written to the disk, and it ends when this process does.
type chrome struct {
	cmd  *exec.Cmd
	said bytes.Buffer // on stderr; to be read once it has ended
	end  func()       // ends it and its children, and removes what it left
	to   *os.File
	from *bufio.Reader

	calls   int
	session string // of the page that calls are for; "" for the browser
	moves   func() // called with each message
	err     error  // the first; nothing is called after it
}

// start starts a browser.
func start(program string) (*chrome, error) {
	dir, err := os.MkdirTemp("", dirPrefix) // mode 0700
	if err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, lockName))
	args := []string{
		"--headless", "--hide-scrollbars", "--disable-gpu", "--mute-audio", "--no-first-run", "--no-default-browser-check",
		"--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + filepath.Join(dir, "profile"), "--force-device-scale-factor=1",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // Chromium refuses to start as root with it
	}
	ctx, kill := context.WithCancel(context.Background())
	c := &chrome{cmd: exec.CommandContext(ctx, program, args...)}
	c.cmd.Stderr, c.cmd.WaitDelay = &c.said, endTime
	term.Detach(c.cmd)
	var in, from, out *os.File
	in, c.to, err = os.Pipe()
	if err == nil {
		from, out, err = os.Pipe()
	}
	if err == nil {
		err = inherit(c.cmd, in, out)
	}
	if err == nil {
		_, err = lock.TryLock()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	_, _ = in.Close(), out.Close()
	c.from = bufio.NewReader(from)
	ended := make(chan struct{})
	go func() { // end waits
		defer close(ended)
		_ = c.cmd.Wait() // an error where it was killed, or not started
		term.EndDetached(c.cmd)
	}()
	c.end = sync.OnceFunc(func() {
		_ = c.to.Close() // at which it ends
		defer time.AfterFunc(endTime, kill).Stop()
		<-ended
		_ = from.Close()
		_ = lock.Unlock()
		_ = os.RemoveAll(dir) // RemoveLeft tries again
	})
	if err != nil {
		c.end()
	}
	return c, err
}

// why returns why a browser that has ended did not render.
func (c *chrome) why(err error) error {
	if line, _, _ := strings.Cut(strings.TrimSpace(c.said.String()), "\n"); line != "" {
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.cmd.Path), err, line)
	}
	return fmt.Errorf("%s: %w", filepath.Base(c.cmd.Path), err)
}

type params = map[string]any

// call has the browser carry out a method.
func (c *chrome) call(method string, with params, result any) {
	if c.err != nil {
		return
	}
	c.calls++
	message := params{"id": c.calls, "method": method, "params": with}
	if c.session != "" {
		message["sessionId"] = c.session
	}
	data, err := json.Marshal(message)
	if err == nil {
		_, err = c.to.Write(append(data, 0))
	}
	var answer struct {
		ID     int
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	for err == nil && answer.ID != c.calls { // others are events
		if data, err = c.from.ReadBytes(0); err == nil {
			c.moves()
			err = json.Unmarshal(data[:len(data)-1], &answer)
		}
	}
	if err == nil && answer.Error != nil {
		err = errors.New(answer.Error.Message)
	}
	if err == nil && result != nil {
		err = json.Unmarshal(answer.Result, result)
	}
	if err != nil {
		c.err = fmt.Errorf("%s: %w", method, err)
	}
}

// show is a script that shows a message in a frame as tall as it is, in which nothing runs, and returns the height.
const show = `new Promise(done => {
	const f = document.createElement("iframe")
	f.sandbox = "allow-same-origin"
	f.srcdoc = %s
	f.style = "border: 0; display: block; background: #fff; width: 100vw; height: 100vh"
	f.onload = () => {
		const height = f.contentDocument.documentElement.scrollHeight
		f.style.height = height + "px"
		done(height)
	}
	document.body.append(f)
})`

// screenshot returns a picture of a message.
func (c *chrome) screenshot(html string, look Viewport) (Picture, error) {
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	var target struct{ TargetID, SessionID string }
	c.call("Target.createTarget", params{"url": "about:blank"}, &target)
	c.call("Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &target)
	c.session = target.SessionID
	c.call("Emulation.setDeviceMetricsOverride", params{"width": look.Width(), "height": usualHeight, "deviceScaleFactor": 1, "mobile": false}, nil)
	c.call("Emulation.setEmulatedMedia", params{"features": []params{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	c.call("Page.setDocumentContent", params{"frameId": target.TargetID, "html": head + `<style>body{margin:0}</style></head><body></body></html>`}, nil)
	var evaluated struct{ Result struct{ Value int } }
	quoted, err := json.Marshal(html)
	if err != nil {
		return Picture{}, err
	}
	c.call("Runtime.evaluate", params{"expression": fmt.Sprintf(show, quoted), "awaitPromise": true}, &evaluated)
	height := evaluated.Result.Value
	var shot struct{ Data []byte }
	c.call("Page.captureScreenshot", params{"captureBeyondViewport": true, "optimizeForSpeed": true,
		"clip": params{"x": 0, "y": 0, "width": look.Width(), "height": min(height, maxHeight), "scale": 1}}, &shot)
	c.session = ""
	c.call("Target.closeTarget", params{"targetId": target.TargetID}, nil)
	if c.err != nil {
		return Picture{}, c.err
	}
	picture, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		return Picture{}, err
	}
	m := image.NewRGBA(picture.Bounds())
	draw.Draw(m, m.Rect, picture, m.Rect.Min, draw.Src)
	if height > maxHeight {
		return Picture{m, true}, nil
	}
	return Picture{cropBottom(m), false}, nil
}

// cropBottom returns a picture without most of the background below the message.
func cropBottom(m *image.RGBA) *image.RGBA {
	end := m.Rect.Dy()
	for ; end > 1; end-- {
		row := m.Pix[(end-1)*m.Stride : end*m.Stride]
		if !bytes.HasPrefix(row, m.Pix[len(m.Pix)-4:]) || !bytes.Equal(row[4:], row[:m.Stride-4]) {
			break
		}
	}
	m.Rect.Max.Y = min(end+margin, m.Rect.Dy())
	m.Pix = slices.Clone(m.Pix[:m.Rect.Max.Y*m.Stride]) // the rest is freed
	return m
}
