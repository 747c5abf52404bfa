package browser

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/internal/message"
)

// needBrowser returns a painter, or skips the test where nothing paints.
func needBrowser(t *testing.T) *Screenshotter {
	t.Helper()
	p := &Screenshotter{Command: os.Getenv("CHROMIUM")}
	if _, err := p.Browser(); err != nil {
		t.Skip("no browser here: apt-get install chromium runs this test")
	}
	t.Cleanup(p.Close)
	return p
}

func paint(t *testing.T, by *Screenshotter, html string, look Viewport) Picture {
	t.Helper()
	picture, err := by.Paint(t.Context(), nil, message.File("a.html", "html", html), look)
	fortest.Must(t, err)
	return picture
}

// isColored fails unless a picture has a colour at a point.
func isColored(t *testing.T, p Picture, x, y int, r, g, b uint8) {
	t.Helper()
	if got, want := p.RGBAAt(x, y), (color.RGBA{r, g, b, 255}); got != want {
		t.Errorf("at %d, %d of %v the picture is %v, want %v", x, y, p.Rect, got, want)
	}
}

const answering = `<!doctype html><html><head><meta name="color-scheme" content="light dark"><style>
p{margin:0;height:100px;background:#0000ff} @media(max-width:480px){p{height:200px}} @media(prefers-color-scheme:dark){p{background:#00ff00}}
</style></head><body style="margin:0;background:#ffff00"><p>One</p></body></html>`

func TestALookIsWhatTheMailAnswers(t *testing.T) {
	by := needBrowser(t)
	p := paint(t, by, answering, Viewport{})
	isColored(t, p, 600, 50, 0, 0, 255)
	if want := image.Rect(0, 0, 640, 100+margin); p.Rect != want || p.Cut {
		t.Errorf("the picture is %v, cut %v, want %v", p.Rect, p.Cut, want)
	}
	isColored(t, p, 600, 100, 255, 255, 0)
	first := by.running
	p = paint(t, by, answering, Viewport{Phone: true, Dark: true})
	if by.running != first {
		t.Error("the second picture has a browser of its own")
	}
	isColored(t, p, 370, 190, 0, 255, 0)
	if p.Rect.Dx() != 375 {
		t.Errorf("on a phone the picture is %v", p.Rect)
	}
}

func TestAMailWithoutEnd(t *testing.T) {
	p := paint(t, needBrowser(t), `<!doctype html><body style="margin:0"><div style="height:30000px;background:#ff0000">x</div>`, Viewport{})
	if h := p.Rect.Dy(); !p.Cut || h != maxHeight {
		t.Errorf("the picture is %v, cut %v", p.Rect, p.Cut)
	}
}

// TestNothingLeavesAPainting paints a mail that asks for everything: the network, scripts, files. What it reads or runs
// would be green.
func TestNothingLeavesAPainting(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	dir, green := t.TempDir(), color.RGBA{0, 200, 0, 255}
	picture := image.NewRGBA(image.Rect(0, 0, 640, 100))
	draw.Draw(picture, picture.Rect, image.NewUniform(green), image.Point{}, draw.Src)
	var encoded bytes.Buffer
	fortest.Must(t, png.Encode(&encoded, picture))
	for name, content := range map[string][]byte{"green.html": []byte(`<body style="background:#00c800">green`), "green.png": encoded.Bytes(), "green.css": []byte("body{background:#00c800!important}")} {
		fortest.Must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	at := "file://" + dir + "/"
	mail := strings.ReplaceAll(hostile, "TARGET", strings.TrimPrefix(server.URL, "http://"))
	mail = strings.Replace(mail, "<body", `<meta http-equiv="refresh" content="0;url=`+at+`green.html"><link rel="stylesheet" href="`+at+`green.css">
<style>@import url("`+at+`green.css"); body{margin:0} #x{height:50px;background:#0000ff} #y{height:50px;background:url("`+at+`green.png")}</style><body`, 1)
	mail += `<iframe src="` + at + `green.html" style="position:fixed;inset:0;width:100%;height:100%"></iframe><iframe srcdoc="<body style='background:#00c800'>"></iframe>
<img src="` + at + `green.png" onerror="document.body.style.background='#00c800'"><script>document.body.style.background='#00c800'</script>
<a href="javascript:document.body.style.background='#00c800'" autofocus onfocus="this.click()">x</a><form action="` + at + `green.html"><button autofocus>x</button></form>
<script>for(;;) document.body.append(document.createElement("p"), "grow")</script><div id="y"></div><div id="x"></div>`
	p := paint(t, needBrowser(t), mail, Viewport{})
	for i := 0; i < len(p.Pix); i += 4 {
		if x, y := i%p.Stride/4, i/p.Stride; p.RGBAAt(x, y) == green {
			t.Fatalf("a script ran or a file was read: at %d, %d the picture is green", x, y)
		}
	}
	isColored(t, p, 600, p.Rect.Dy()-margin-10, 0, 0, 255)
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (&Screenshotter{}).Paint(t.Context(), nil, &message.Message{}, Viewport{}); !errors.Is(err, ErrNone) {
		t.Errorf("without a browser: %v", err)
	}
	if _, err := (&Screenshotter{Command: "nonesuch"}).Browser(); err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("with one that does not exist: %v", err)
	}
}

// TestABrowserThatHangs is ended with its children when nobody waits any more, and leaves nothing behind.
func TestABrowserThatHangs(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	started := filepath.Join(t.TempDir(), "started")
	command := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(command, []byte("#!/bin/sh\nsleep 600 &\necho $! >"+started+".new; mv "+started+".new "+started+"\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, dirPrefix+"left") // by a process that was killed
	fortest.Must(t, os.Mkdir(left, 0o700))
	ctx, cancel := context.WithCancelCause(t.Context())
	p, enough := &Screenshotter{Command: command}, errors.New("enough")
	failed := make(chan error, 1)
	go func() { _, err := p.Paint(ctx, nil, message.File("a.txt", "txt", "Hello"), Viewport{}); failed <- err }()
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	RemoveLeft() // what is in use stays
	if now, _ := filepath.Glob(filepath.Join(dir, "*", lockName)); len(now) != 1 {
		t.Errorf("while it is painted there are %q", now)
	}
	cancel(enough)
	if err := <-failed; !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
	p.Close()
	p.Timeout = 1
	if _, err := p.Paint(t.Context(), nil, message.File("a.txt", "txt", "Hello"), Viewport{}); err == nil || !strings.Contains(err.Error(), "no progress for 1ns") {
		t.Errorf("after the timeout: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}
