//go:build unix

package e2e

import (
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/internal/browser"
)

// TestDocsScreenshot has a browser that is installed paint what docs/ci.md says.
func TestDocsScreenshot(t *testing.T) {
	long(t)
	t.Parallel()
	if _, err := (&browser.Screenshotter{}).Browser(); err != nil {
		t.Skip("no browser here: apt-get install chromium runs this test")
	}
	m := newMachine(t)
	m.write("signup.html", "<p style='background:#00f'>Hello</p>")
	m.write("mails/one.eml", signup("ada@acme.example"))
	m.write("mails/two.eml", signup("bob@acme.example"))
	must(t, os.Mkdir(filepath.Join(m.home, "shots"), 0o700))
	width := func(name string) int {
		t.Helper()
		file, err := os.Open(filepath.Join(m.home, name))
		must(t, err)
		defer file.Close()
		picture, err := png.Decode(file)
		must(t, err)
		if picture.Bounds().Dy() < 20 || plain(picture) {
			t.Errorf("%s shows nothing: %v", name, picture.Bounds())
		}
		return picture.Bounds().Dx()
	}
	m.mustRun("preview", "--screenshot", "signup.png", "--phone", "--dark", "signup.html")
	if w := width("signup.png"); w != 375 {
		t.Errorf("a phone is %d px wide", w)
	}
	printed := m.mustRun("preview", "--screenshot", "shots/mail.png", "mails/one.eml", "mails/two.eml")
	if printed != "shots/mail-1.png\nshots/mail-2.png" || width("shots/mail-1.png") != 640 || width("shots/mail-2.png") != 640 {
		t.Errorf("two mails are in %q", printed)
	}
	out := m.mustRun("exec", "--", "sh", "-c", `address=$("$0" new) && "$0" sendmail "$address" <mails/one.eml && "$0" wait "$address" --code && "$0" read "$address" --screenshot read.png`, program)
	if !strings.HasSuffix(out, "\nread.png") || width("read.png") != 640 {
		t.Errorf("a message that arrived: %q", out)
	}
	m.checkNothingLeft()
}

// plain reports whether a picture has one colour only.
func plain(picture image.Image) bool {
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if picture.At(x, y) != picture.At(0, 0) {
				return false
			}
		}
	}
	return true
}
