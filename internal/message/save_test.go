package message

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mayfly/internal/fortest"
	"mayfly/internal/mail"
)

func TestFileName(t *testing.T) {
	for _, c := range []struct{ untrusted, want string }{
		{"invoice.pdf", "invoice.pdf"},
		{"../../etc/passwd", "_.._etc_passwd"},
		{`C:\Windows\system.ini`, "C__Windows_system.ini"},
		{"/absolute", "_absolute"},
		{".bashrc", "bashrc"},
		{"..", "fallback"},
		{"", "fallback"},
		{" . . ", "fallback"},
		{"-rf", "rf"},
		{"a\x00b\nc\x1b[31m.txt", "ab c[31m.txt"},
		{"gpj.\u202efdp.exe", "gpj.fdp.exe"},
		{"zero\u200bwidth", "zerowidth"},
		{"CON", "_CON"},
		{"con.txt", "_con.txt"},
		{"COM7.log", "_COM7.log"},
		{"COMMON.log", "COMMON.log"},
		{"trailing. . ", "trailing"},
		{"レシート.pdf", "レシート.pdf"},
		{"bad\xff\xfeutf8", "badutf8"},
	} {
		if got := fileName(c.untrusted, "fallback"); got != c.want {
			t.Errorf("fileName(%q) = %q, want %q", c.untrusted, got, c.want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("../../x")
	f.Add(strings.Repeat("長", 200) + ".txt")
	f.Fuzz(func(t *testing.T, untrusted string) {
		name := fileName(untrusted, "fallback")
		switch {
		case name == "" || len(name) > maxName+1:
			t.Fatalf("%q: a name of %d bytes", untrusted, len(name))
		case !utf8.ValidString(name):
			t.Fatalf("%q: not UTF-8: %q", untrusted, name)
		case filepath.Base(name) != name || !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`):
			t.Fatalf("%q: not one component: %q", untrusted, name)
		case name[0] == '.' || name[0] == '-':
			t.Fatalf("%q: hidden, or an option: %q", untrusted, name)
		}
	})
}

func TestNothingIsOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	m := &Message{Message: mail.Message{Attachments: []mail.Attachment{{Filename: "a.txt"}, {Filename: "a.txt"}, {Filename: "../a.txt"}, {},
		{Filename: "a", ContentType: "text/plain"}, {ContentType: "image/jpeg"}, {Filename: "LICENSE.2", ContentType: "text/plain"},
		{Filename: "..", ContentType: "application/pdf"}, {Filename: "data", ContentType: "application/octet-stream"}, {Filename: "b", ContentType: "../x"}}}}
	for i, want := range []string{"a.txt", "a (2).txt", "_a.txt", "attachment-4", "a (3).txt", "attachment-6.jpg", "LICENSE.2", "attachment-8.pdf", "data", "b"} {
		file, err := m.SaveAttachment(dir, i, []byte(want))
		fortest.Must(t, err)
		path := file.Path
		if path != filepath.Join(dir, want) {
			t.Errorf("saved as %s, want %s in %s", path, want, dir)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", path, got, err)
		}
		if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		if again, err := m.SaveAttachment(dir, i, []byte(want)); err != nil || again != (Saved{path, true}) || file.Before {
			t.Errorf("saved %+v, then %+v, %v", file, again, err)
		}
	}
}

func TestFilesAreTheAttachmentsWithoutImagesOfTheBody(t *testing.T) {
	m := &Message{Message: mail.Message{HTML: "<img src='cid:logo'>", Attachments: []mail.Attachment{
		{Filename: "a.pdf", ContentType: "application/pdf"},
		{Inline: true, ContentID: "logo", ContentType: "image/png"},
		{Inline: true, ContentID: "terms", ContentType: "application/pdf"},
		{Inline: true, ContentType: "image/png"},
		{ContentID: "photo", ContentType: "image/png"},
		{Inline: true, ContentID: "not shown", ContentType: "image/png"},
	}}}
	if got, want := m.Files(), []int{0, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		message mail.Message
		want    []string
	}{
		{mail.Message{Subject: "Confirm: your/mail", Raw: []byte("Subject: x\r\n\r\n"), Text: "text"}, []string{"Confirm_ your_mail.eml"}},
		{mail.Message{Subject: "Hello/World", Text: "text"}, []string{"Hello_World.txt"}},
		{mail.Message{Subject: "Hello/World", Text: "Text", HTML: "<p>"}, []string{"Hello_World (2).txt", "Hello_World.html"}},
		{mail.Message{Subject: "Nothing"}, nil},
	} {
		files, err := (&Message{Message: c.message}).Save(dir)
		var paths []string
		for _, f := range files {
			paths = append(paths, filepath.Base(f.Path))
		}
		if err != nil || !slices.Equal(paths, c.want) {
			t.Errorf("saved %q, %v; want %q", paths, err, c.want)
		}
	}
}

func TestASymbolicLinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, filepath.Join(dir, "attachment-1")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	m := &Message{Message: mail.Message{Attachments: make([]mail.Attachment, 1)}}
	fortest.Must(t, fortest.Failure(m.SaveAttachment(dir, 0, []byte("x"))))
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Error("the link's target was written")
	}
}
