package browser

import (
	"context"
	"errors"
	"image"
	"image/color"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// needBrowser returns a painter, or skips the test where nothing paints.
func needBrowser(t *testing.T) *Painter {
	t.Helper()
	p := &Painter{}
	if _, err := p.Browser(); err != nil {
		t.Skip("no browser here: apt-get install chromium runs this test")
	}
	return p
}

func paint(t *testing.T, html string, look Look) Picture {
	t.Helper()
	picture, err := needBrowser(t).Paint(t.Context(), Page{HTML: html}, look)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// isColored fails unless a picture has a colour at a point.
func isColored(t *testing.T, p Picture, x, y int, r, g, b uint8) {
	t.Helper()
	if got, want := p.Image.RGBAAt(x, y), (color.RGBA{r, g, b, 255}); got != want {
		t.Errorf("at %d, %d of %v the picture is %v, want %v", x, y, p.Image.Rect, got, want)
	}
}

const answering = `<!doctype html><html><head><meta name="color-scheme" content="light dark"><style>
p{margin:0;height:100px;background:#0000ff} @media(max-width:480px){p{height:200px}} @media(prefers-color-scheme:dark){p{background:#00ff00}}
</style></head><body style="margin:0;background:#ffff00"><p>One</p></body></html>`

func TestALookIsWhatTheMailAnswers(t *testing.T) {
	p := paint(t, answering, Look{})
	isColored(t, p, 600, 50, 0, 0, 255)
	if want := image.Rect(0, 0, 640, 100+margin); p.Image.Rect != want || p.Cut {
		t.Errorf("the picture is %v, cut %v, want %v", p.Image.Rect, p.Cut, want)
	}
	isColored(t, p, 600, 100, 255, 255, 0)
	p = paint(t, answering, Look{Phone: true, Dark: true})
	isColored(t, p, 370, 190, 0, 255, 0)
	if p.Image.Rect.Dx() != 375 {
		t.Errorf("on a phone the picture is %v", p.Image.Rect)
	}
}

func TestAMailWithoutEnd(t *testing.T) {
	p := paint(t, `<!doctype html><body style="margin:0"><div style="height:30000px;background:#ff0000">x</div>`, Look{})
	if h := p.Image.Rect.Dy(); !p.Cut || h != maxHeight && h != usualHeight { // a slow machine paints less
		t.Errorf("the picture is %v, cut %v", p.Image.Rect, p.Cut)
	}
}

// TestNothingLeavesAPainting paints a mail that asks for everything: the network, scripts, files.
func TestNothingLeavesAPainting(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	secret := filepath.Join(t.TempDir(), "secret.html")
	if err := os.WriteFile(secret, []byte(`<body style="background:#ff0000">secret`), 0o600); err != nil {
		t.Fatal(err)
	}
	mail := strings.ReplaceAll(hostile, "TARGET", strings.TrimPrefix(server.URL, "http://"))
	mail = strings.Replace(mail, "<body", `<meta http-equiv="refresh" content="0;url=file://`+secret+`"><style>body{margin:0} #x{height:50px;background:#0000ff}</style><body`, 1)
	mail += `<iframe src="file://` + secret + `" style="position:fixed;inset:0;width:100%;height:100%"></iframe>
<img src="file://` + secret + `" onerror="document.body.style.background='#ff0000'"><script>document.body.style.background='#ff0000'</script><div id="x"></div>`
	p := paint(t, mail, Look{})
	for y := range p.Image.Rect.Dy() {
		if p.Image.RGBAAt(639, y) == (color.RGBA{255, 0, 0, 255}) {
			t.Fatalf("a script ran or a file was read: row %d is red", y)
		}
	}
	isColored(t, p, 600, p.Image.Rect.Dy()-margin-10, 0, 0, 255)
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := (&Painter{}).Paint(t.Context(), Page{}, Look{}); !errors.Is(err, ErrNone) {
		t.Errorf("without a browser: %v", err)
	}
	if _, err := (&Painter{Command: "nonesuch"}).Browser(); err == nil || !strings.Contains(err.Error(), "nonesuch") {
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
	ctx, cancel := context.WithCancelCause(t.Context())
	p, enough := &Painter{Command: command}, errors.New("enough")
	failed := make(chan error, 1)
	go func() { _, err := p.Paint(ctx, Page{Text: "Hello"}, Look{}); failed <- err }()
	for {
		if _, err := os.Stat(started); err == nil {
			break
		}
	}
	cancel(enough)
	if err := <-failed; !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
	p.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}
