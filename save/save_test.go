package save

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestName(t *testing.T) {
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
		if got := Name(c.untrusted, "fallback"); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.untrusted, got, c.want)
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("../../x")
	f.Add(strings.Repeat("長", 200) + ".txt")
	f.Fuzz(func(t *testing.T, untrusted string) {
		name := Name(untrusted, "fallback")
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
	files := []File{{"a.txt", []byte("1")}, {"a.txt", []byte("2")}, {"../a.txt", []byte("3")}}
	var calls []int
	paths, err := Attachments(dir, files, func(done, _ int) { calls = append(calls, done) })
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 2, 3}; !slices.Equal(calls, want) {
		t.Errorf("progress %v, want %v", calls, want)
	}
	for i, p := range paths {
		got, err := os.ReadFile(p)
		if err != nil || string(got) != string(files[i].Content) {
			t.Errorf("%s holds %q, %v", p, got, err)
		}
		if filepath.Dir(p) != dir {
			t.Errorf("%s is outside %s", p, dir)
		}
		if info, err := os.Stat(p); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", p, info.Mode())
		}
	}
}

func TestMessage(t *testing.T) {
	path, err := Message(t.TempDir(), []byte("Subject: x\r\n\r\n"), "Confirm: your/mail")
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(path); got != "Confirm_ your_mail.eml" {
		t.Errorf("saved as %q", got)
	}
}

func TestBodies(t *testing.T) {
	dir := t.TempDir()
	paths, err := Bodies(dir, "Hello/World", "text", "")
	if err != nil || len(paths) != 1 || paths[0] != filepath.Join(dir, "Hello_World.txt") {
		t.Errorf("saved %q, %v", paths, err)
	}
	if paths, err = Bodies(dir, "Hello/World", "text", "<p>"); err != nil || len(paths) != 2 || paths[0] != filepath.Join(dir, "Hello_World (2).txt") {
		t.Errorf("saved %q, %v", paths, err)
	}
}

func TestASymbolicLinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, filepath.Join(dir, "a.txt")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := Attachments(dir, []File{{"a.txt", []byte("x")}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Error("the link's target was written")
	}
}
