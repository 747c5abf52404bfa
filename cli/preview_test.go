package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const eml = "From: Acme <no-reply@acme.example>\r\nTo: ada@mail.test\r\nSubject: =?utf-8?q?Best=C3=A4tigen?=\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" +
	"<h1>Welcome</h1><p>Your verification code is</p><p style=\"font-size:32px\">482913</p>" +
	"<p><a href=\"https://acme.example/confirm?token=abc\">Confirm your e-mail address</a></p>\r\n"

// testFiles writes files and returns the folder.
func testFiles(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

type report struct {
	Message struct {
		ID, From, Subject, HTML string
		FromName                string `json:"from_name"`
	}
	Rendered   string
	Code, Link *string
	Links      []struct {
		N         int
		Text, URL string
	}
	Checks []struct {
		ID, Level, Message, Where string
		Clients                   []struct{ Client, Version, Support string }
	}
}

func TestPreviewOfEachKindOfFile(t *testing.T) {
	dir := testFiles(t, map[string]string{
		"a.eml": eml, "b.html": "<p>Hello <b>HTML</b></p>", "c.txt": "Hello text", "d.md": "# Hello\n\nmarkdown *text*",
		"e.unknown": "Hello", "f.HTM": "<p>Hello too</p>",
	})
	environ := machine(t)
	for name, want := range map[string]string{
		"a.eml": "Welcome", "b.html": "Hello HTML", "c.txt": "Hello text", "d.md": "markdown text", "f.HTM": "Hello too",
	} {
		r := run(t, environ, "", "preview", filepath.Join(dir, name))
		if r.status != 0 || !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "\x1b") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := run(t, environ, "", "preview", filepath.Join(dir, "a.eml")); !strings.Contains(r.stdout, "From     Acme <no-reply@acme.example>") || !strings.Contains(r.stdout, "Subject  Bestätigen") {
		t.Errorf("the header is missing: %q", r.stdout)
	}
	if r := run(t, environ, "<p>Hello <b>pipe</b></p>", "preview", "-", "--type", "html"); r.status != 0 || r.stdout != "Hello pipe\n" {
		t.Errorf("from standard input: %+v", r)
	}
	if r := run(t, environ, "", "preview", "--color", "always", filepath.Join(dir, "b.html")); !strings.Contains(r.stdout, "\x1b[") {
		t.Errorf("--color always: %q", r.stdout)
	}
	r := run(t, environ, "", "preview", filepath.Join(dir, "e.unknown"))
	expectFailure(t, r, statusError, []string{"--type"}, []string{"preview", "e.unknown"})
	if r := run(t, environ, "", "preview", filepath.Join(dir, "e.unknown"), "--type", "txt"); r.stdout != "Hello\n" {
		t.Errorf("--type txt: %+v", r)
	}
}

func TestPreviewAsJSON(t *testing.T) {
	dir := testFiles(t, map[string]string{"a.eml": eml})
	path := filepath.Join(dir, "a.eml")
	var got report
	parse(t, run(t, machine(t), "", "preview", "--json", path).stdout, &got)
	if got.Message.ID != path || got.Message.Subject != "Bestätigen" || got.Message.FromName != "Acme" || !strings.HasPrefix(got.Message.HTML, "<h1>") {
		t.Errorf("message: %+v", got.Message)
	}
	if got.Code == nil || *got.Code != "482913" || got.Link == nil || *got.Link != "https://acme.example/confirm?token=abc" {
		t.Errorf("code and link: %v, %v", got.Code, got.Link)
	}
	if len(got.Links) != 1 || got.Links[0].N != 1 || got.Links[0].Text != "Confirm your e-mail address" || got.Checks == nil {
		t.Errorf("links and checks: %+v, %+v", got.Links, got.Checks)
	}
	if !strings.Contains(got.Rendered, "Welcome") || strings.Contains(got.Rendered, "\x1b") {
		t.Errorf("rendered: %q", got.Rendered)
	}
	parse(t, run(t, machine(t), "plain", "preview", "--json", "-", "--type", "txt").stdout, &got)
	if got.Code != nil || got.Link != nil || got.Links == nil || len(got.Links) != 0 {
		t.Errorf("a mail with nothing in it: %+v", got)
	}
}

func TestPreviewOfManyFilesKeepsTheirOrderAndGoesOn(t *testing.T) {
	contents := map[string]string{}
	for n := range 300 {
		contents[fmt.Sprintf("%03d.html", n)] = fmt.Sprintf("<p>file %d %s</p>", n, strings.Repeat("x ", n*7%500))
	}
	delete(contents, "100.html")
	dir := testFiles(t, contents)
	args := []string{"preview", "--json"}
	for n := range 300 {
		args = append(args, filepath.Join(dir, fmt.Sprintf("%03d.html", n)))
	}
	args = append(args, dir)
	r := run(t, machine(t), "", args...)
	if r.status != statusError || strings.Count(r.stderr, "\n") != 2 || !strings.Contains(r.stderr, "100.html") {
		t.Errorf("status %d: %q", r.status, r.stderr)
	}
	n := 0
	for line := range strings.Lines(r.stdout) {
		if n == 100 {
			n++
		}
		var got report
		parse(t, line, &got)
		if !strings.HasPrefix(got.Rendered, fmt.Sprintf("file %d", n)) {
			t.Fatalf("line %d is of %q", n, got.Rendered)
		}
		n++
	}
	if n != 300 {
		t.Errorf("%d lines", n)
	}
}

func TestExplainTellsWhatWasConsidered(t *testing.T) {
	dir := testFiles(t, map[string]string{"a.eml": eml})
	r := run(t, machine(t), "", "preview", filepath.Join(dir, "a.eml"), "--explain")
	if !strings.Contains(r.stdout, "* ") || !strings.Contains(r.stdout, "482913") || !strings.Contains(r.stdout, "https://acme.example/confirm?token=abc") {
		t.Errorf("%+v", r)
	}
}

// illustrated is a mail with an image of 160×80 px in a part of it.
func illustrated(t *testing.T) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 160, 80))
	for i := range m.Pix {
		m.Pix[i] = []uint8{30, 160, 70, 255}[i%4]
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return "From: a@b.example\r\nSubject: Hills\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n" +
		"--B\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Before.</p><p><img src=\"cid:part@b\" alt=\"Noon\"></p><p>After.</p>\r\n" +
		"--B\r\nContent-Type: image/png\r\nContent-ID: <part@b>\r\nContent-Disposition: inline\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString(b.Bytes()) + "\r\n--B--\r\n"
}

func TestPreviewShowsImagesOnRequest(t *testing.T) {
	file := filepath.Join(testFiles(t, map[string]string{"a.eml": illustrated(t)}), "a.eml")
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
}
