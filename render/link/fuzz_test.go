package link

import (
	"strings"
	"testing"

	"mayfly/internal/clean"
)

// FuzzRead reads a URL as it stands in a mail, and looks for one in it as in running text.
func FuzzRead(f *testing.F) {
	const target = "https%3A%2F%2Facme.example%2Fa%3Fb%3Dc"
	for _, w := range wrappers {
		href := "https://" + strings.TrimPrefix(w.host, ".") + "/" + strings.TrimPrefix(w.path, "/")
		if strings.HasPrefix(w.host, ".") {
			href = strings.Replace(href, "//", "//x.", 1)
		}
		if w.param == "" {
			f.Add(href + target)
		}
		for name := range strings.FieldsSeq(w.param) {
			f.Add(href + "?" + name + "=" + target)
		}
	}
	for _, href := range []string{"", "mailto:a@b.example", "JavaScript:alert(1)", "http:/\\a@b:1/", "http://[::1]:80/",
		"https://urldefense.com/v3/__https://acme.example/**Aa__;IyQ!!abc$", "(see www.acme.example/a_(b)).", "http://b\u00fccher.example\u202e"} {
		f.Add(href)
	}
	f.Fuzz(func(t *testing.T, href string) {
		l := Read(href)
		if l.URL != href || l.Host != clean.Line(l.Host) || l.Via != clean.Line(l.Via) {
			t.Fatalf("%+q: %+v", href, l)
		}
		if l.Via == "" && l.Target != href || l.Via != "" && !isWeb(l.Target) || l.Blocked && l.Via != "" {
			t.Fatalf("%+q: %+v", href, l)
		}
		if escaped := Escape(l.Target); strings.ContainsFunc(escaped, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%+q is escaped to %+q", l.Target, escaped)
		}
		if d := Domain(l.Host); !strings.HasSuffix(l.Host, d) {
			t.Fatalf("%+q is not the domain of %+q", d, l.Host)
		}
		if start, end, bare := Bare(href); start >= 0 && !strings.HasSuffix(bare, href[start:end]) {
			t.Fatalf("%+q: %d to %d is %+q", href, start, end, bare)
		}
	})
}
