package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/internal/mail"
	"mayfly/internal/message"
)

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// hostile asks for something from TARGET in every way that mails know.
const hostile = `<!doctype html><html><head>
<meta http-equiv="refresh" content="0;url=http://TARGET/refresh">
<link rel="stylesheet" href="http://TARGET/style.css"><link rel="preload" href="http://TARGET/preload" as="image"><link rel="dns-prefetch" href="http://TARGET/"><link rel="prefetch" href="http://TARGET/prefetch"><link rel="prerender" href="http://TARGET/prerender">
<base href="http://TARGET/base/"><style>@import url(http://TARGET/import.css); body{background:url(http://TARGET/background)} @font-face{font-family:f;src:url(http://TARGET/font)} p{font-family:f}</style>
<script src="http://TARGET/script.js"></script></head>
<body background="http://TARGET/body" onload="new Image().src='http://TARGET/onload'">
<img src="http://TARGET/image.png" srcset="http://TARGET/srcset 2x" onerror="fetch('http://TARGET/onerror')"><img src="//TARGET/scheme"><img src="relative.png">
<img src="cid:logo" alt="Logo"><img src='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="http://TARGET/svg"/></svg>'>
<picture><source srcset="http://TARGET/source"><img src="x"></picture><video poster="http://TARGET/poster" src="http://TARGET/video" autoplay></video><audio src="http://TARGET/audio" autoplay></audio>
<iframe src="http://TARGET/frame"></iframe><object data="http://TARGET/object"></object><embed src="http://TARGET/embed"><svg><use href="http://TARGET/use#x"/><script>fetch('http://TARGET/inline')</script></svg>
<table background="http://TARGET/table"><tr><td style="background-image:url('http://TARGET/cell')">Cell</td></tr></table>
<p style="background:url(http://TARGET/p);color:red;font-size:20px">Hello</p><input type="image" src="http://TARGET/input">
<form action="http://TARGET/form" id="f"><button>Send</button></form><script>document.getElementById('f').submit()</script>
<a href="http://TARGET/link" ping="http://TARGET/ping">A link</a><a href="javascript:fetch('http://TARGET/js')">Script</a>
<math><mtext><style><img src=x onerror="fetch('http://TARGET/mxss')"></style></mtext></math></body></html>`

// withLogo is a message with an image of a content ID.
func withLogo(id, html string) *message.Message {
	logo, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		panic(err)
	}
	return &message.Message{Message: mail.Message{
		Subject: `Hello <script>alert(1)</script>`, From: mail.Address{Addr: "a@b.example"}, To: []mail.Address{{Addr: "ada@mayfly.test"}},
		HTML: html, Raw: []byte("raw"), Attachments: []mail.Attachment{{ContentID: id, ContentType: "image/png", Content: logo}},
	}}
}

func testMail(target string) *message.Message {
	return withLogo("logo", strings.ReplaceAll(hostile, "TARGET", target))
}

func safeCopy(m *message.Message) string { return SafeCopy(context.Background(), nil, m) }

func TestWhatIsKept(t *testing.T) {
	page := safeCopy(testMail("tracker.example"))
	for _, want := range []string{"Content-Security-Policy", "Hello &lt;script&gt;", "data:image/png;base64," + pixel, `href="http://tracker.example/link"`, "noreferrer", "color:red"} {
		if !strings.Contains(page, want) {
			t.Errorf("the copy lacks %q", want)
		}
	}
	page = regexp.MustCompile(`(?s)<style>.*?</style>|script&gt;`).ReplaceAllString(page, "") // what is left in a style is text
	for _, bad := range []string{"<script", "onload", "onerror", "javascript:", "<iframe", "<form", "<input", "<meta http-equiv=\"refresh", "srcset", "background=", "ping=", "svg", "<base", "<link"} {
		if strings.Contains(page, bad) {
			t.Errorf("the copy has %q", bad)
		}
	}
}

func TestImagesAreFoundByAnyContentID(t *testing.T) {
	for _, c := range []struct{ id, src string }{
		{"a@x", "cid:a@x"}, {"a#b@x", "cid:a#b@x"}, {"a?b@x", "cid:a?b@x"}, {"a?b#c@x", "cid:A?b#C@x"},
	} {
		page := safeCopy(withLogo(c.id, `<img src="`+c.src+`" alt="it">`))
		if !strings.Contains(page, `<img src="data:image/png;base64,`+pixel+`" alt="it">`) {
			t.Errorf("%s: the copy is\n%s", c.src, page)
		}
	}
}

func TestTextIsText(t *testing.T) {
	if page := safeCopy(message.File("a.txt", "txt", "1 < 2 & <script>")); !strings.Contains(page, ">1 &lt; 2 &amp; &lt;script&gt;</pre>") {
		t.Errorf("the copy is\n%s", page)
	}
}

// TestNotOneRequestLeaves opens a copy of a mail that asks for everything in a real browser.
func TestNotOneRequestLeaves(t *testing.T) {
	browser, err := needBrowser(t).Browser()
	fortest.Must(t, err)
	var mu sync.Mutex
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.URL.Path)
	}))
	defer server.Close()
	target := strings.TrimPrefix(server.URL, "http://")
	requests := func() []string {
		mu.Lock()
		defer mu.Unlock()
		all := got
		got = nil
		return all
	}

	path := filepath.Join(t.TempDir(), "copy.html")
	fortest.Must(t, os.WriteFile(path, []byte(safeCopy(testMail(target))), 0o600))
	dom := browse(t, browser, path)
	if !strings.Contains(dom, "Hello") || !strings.Contains(dom, "A link") {
		t.Fatalf("the browser did not show the copy:\n%s", dom)
	}
	if r := requests(); len(r) > 0 {
		t.Errorf("the copy asked for %q", r)
	}

	// The mail itself does ask: the browser and the server of this test see it.
	raw := filepath.Join(t.TempDir(), "raw.html")
	fortest.Must(t, os.WriteFile(raw, []byte(strings.ReplaceAll(hostile, "TARGET", target)), 0o600))
	browse(t, browser, raw)
	if len(requests()) == 0 {
		t.Error("the mail as it came asked for nothing: this test shows nothing")
	}
}

// browse opens a file and returns the document as the browser has it.
func browse(t *testing.T, browser, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-component-update",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=3000", "--dump-dom", "file://"+path)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, errs.String())
	}
	return out.String()
}
