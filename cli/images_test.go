package cli

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// illustrated is a mail with an image of 160×80 px in a part of it.
func illustrated(t *testing.T) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 160, 80))
	for i := range m.Pix {
		m.Pix[i] = []uint8{30, 160, 70, 255}[i%4]
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return "From: a@b.example\r\nSubject: Hills\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n" +
		"--B\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Before.</p><p><img src=\"cid:part@b\" alt=\"Noon\"></p><p>After.</p>\r\n" +
		"--B\r\nContent-Type: image/png\r\nContent-ID: <part@b>\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString(b.Bytes()) + "\r\n--B--\r\n"
}

func TestPreviewShowsImagesOnRequest(t *testing.T) {
	file := filepath.Join(files(t, map[string]string{"a.eml": illustrated(t)}), "a.eml")
	without := run(t, machine(t), "", "preview", file, "--view", "rich").stdout
	for _, c := range []struct {
		args []string
		want string // "" for the output without images
	}{
		{[]string{"--images", "off"}, ""},
		{[]string{"--images", "auto"}, ""},   // stdout is no terminal
		{[]string{"--images", "blocks"}, ""}, // nor has it colours
		{[]string{"--images", "blocks", "--color", "always"}, `(▀{20}[^▀]*){5}`},
		{[]string{"--images", "auto", "--color", "always"}, `(▀{20}[^▀]*){5}`},
		{[]string{"--images", "kitty"}, `(?m)^\n{5}.{0,30}\x1b_Gf=100,[^\x1b]*c=20,r=5[^\x1b]*\x1b\\\x1b8\n\nAfter`},
		{[]string{"--images", "iterm2"}, `\x1b\]1337;File=size=\d+;width=20;height=5;inline=1;doNotMoveCursor=1:[A-Za-z0-9+/=]+\x07\x1b8\n`},
		{[]string{"--images", "sixel", "--color", "always"}, `\x1bP0;1;8q"1;1;160;80[^\x1b]*\x1b\\\x1b8\n`},
	} {
		r := run(t, machine(t), "", append([]string{"preview", file}, c.args...)...)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("%q: %d, %q", c.args, r.status, r.stderr)
		}
		switch {
		case c.want == "" && r.stdout != without:
			t.Errorf("%q changes what is printed: %q", c.args, r.stdout)
		case c.want != "" && !regexp.MustCompile(c.want).MatchString(r.stdout):
			t.Errorf("%q: %.600q", c.args, r.stdout)
		}
		if !strings.Contains(r.stdout, "Before.") || !strings.Contains(r.stdout, "After.") {
			t.Errorf("%q loses text: %.300q", c.args, r.stdout)
		}
	}
	expectFailure(t, run(t, machine(t), "", "preview", file, "--images", "png"), statusUsage, nil, []string{"--images"})
	for _, view := range []string{"text", "html", "headers", "raw", "checks"} {
		plain := run(t, machine(t), "", "preview", file, "--view", view).stdout
		if got := run(t, machine(t), "", "preview", file, "--view", view, "--images", "kitty").stdout; got != plain {
			t.Errorf("--view %s has images", view)
		}
	}
	var plain, asked report
	parse(t, run(t, machine(t), "", "preview", file, "--json").stdout, &plain)
	parse(t, run(t, machine(t), "", "preview", file, "--json", "--images", "kitty").stdout, &asked)
	if plain.Rendered != asked.Rendered {
		t.Errorf("--json has images: %q", asked.Rendered)
	}
}
