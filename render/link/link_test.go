package link

import (
	"strings"
	"testing"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

func TestRead(t *testing.T) {
	for href, want := range map[string]doc.Link{
		"https://Acme.Example/a?b=c#d":    {Host: "acme.example"},
		"http://user:pw@acme.example:80/": {Host: "acme.example"},
		"HTTPS:\\\\acme.example\\x":       {Host: "acme.example"},
		"https://acme.example./":          {Host: "acme.example"},
		"https://[::1]/":                  {Host: "::1"},
		"https://bücher.example/":         {Host: "xn--bcher-kva.example"},
		"mailto:a@acme.example":           {},
		"https://":                        {Blocked: true},
		"javascript:alert(1)":             {Blocked: true},
		"JaVaScRiPt:alert(1)":             {Blocked: true},
		"data:text/html,x":                {Blocked: true},
		"tel:+49301234":                   {Blocked: true},
		"/account":                        {Blocked: true},
		"acme.example/x":                  {Blocked: true},
	} {
		l := Read(href)
		if l.Host != want.Host || l.Blocked != want.Blocked || l.URL != href || l.Target != href {
			t.Errorf("%s: %+v", href, l)
		}
	}
}

// TestUnwrap: the target stands in the query or in the path of a known click wrapper, in its own
// encoding.
func TestUnwrap(t *testing.T) {
	const target = "https://acme.example/a?b=c&d=e"
	const encoded = "https%3A%2F%2Facme.example%2Fa%3Fb%3Dc%26d%3De"
	for href, want := range map[string]string{
		"https://eur01.safelinks.protection.outlook.com/?url=" + encoded + "&data=05": target,
		"https://www.google.com/url?sa=t&q=" + encoded:                                target,
		"https://www.google.com/url?url=" + encoded:                                   target,
		"https://www.google.com/search?q=" + encoded:                                  "",
		"https://l.facebook.com/l.php?u=" + encoded + "&h=x":                          target,
		"https://x1.awstrack.me/L0/https:%2F%2Facme.example%2Fa/1/0100":               "https://acme.example/a",
		"https://x1.awstrack.me/L0/https:%2F%2Facme.example%2Fa?b=c?":                 "https://acme.example/a?b=c?",
		"https://l.facebook.com/l.php?u=javascript:alert(1)":                          "",
		"https://l.facebook.com/l.php":                                                "",
		"https://acme.example/?url=" + encoded:                                        "",
	} {
		l := Read(href)
		if want == "" {
			if l.Via != "" || l.Target != href {
				t.Errorf("%s: leads to %q via %q", href, l.Target, l.Via)
			}
			continue
		}
		if l.Target != want || l.Host != "acme.example" || l.Via == "" || l.URL != href {
			t.Errorf("%s: %+v", href, l)
		}
	}
}

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"https://www.acme.example/reset": "www.acme.example", "http://10.0.0.1/": "10.0.0.1", "www.acme.internal": "www.acme.internal", "acme.com": "acme.com",
		" acme.co.uk. ": "acme.co.uk", "acme.com/path": "acme.com", "bücher.de": "xn--bcher-kva.de",
		"": "", "Click here": "", "acme": "", "readme.md": "", "setup.py": "", "1.5": "", "e.g.": "", "ada@acme.com": "", "acme..com": "", "acme.example": "", "v1.2.3": "",
		"https://localhost/x": "", "a.com b": "", "C++.net!": "",
	} {
		if got := Named(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ href, text, want string }{
		{"https://acme.example/", "Sign in", ""},
		{"https://login.acme.example/", "www.acme.example", ""},
		{"https://evil.test/", "https://www.acme.example/reset", "says acme.example, leads to evil.test"},
		{"https://evil.test/", "acme.com", "says acme.com, leads to evil.test"},
		{"https://www.google.com/url?q=https%3A%2F%2Facme.com%2F", "acme.com", ""},
		{"https://acme.com@evil.test/", "Sign in", "what stands before the @ is not the host: it leads to evil.test"},
		{"https://ada@acme.example/", "Sign in", ""},
		{"https://xn--bcher-kva.example/", "Books", "international name bücher.example is xn--bcher-kva.example"},
		{"https://xn--pypal-4ve.example/", "Pay", "international name pаypal.example is xn--pypal-4ve.example; its letters come from different scripts"},
		{"mailto:a@acme.com", "b@acme.net", ""},
	} {
		var s Set
		n := s.Add(c.href)
		s.AddText(n, c.text)
		if got := s.Finish()[n-1].Warning; got != c.want {
			t.Errorf("%s %q: %q, want %q", c.href, c.text, got, c.want)
		}
	}
}

func TestSet(t *testing.T) {
	var s Set
	if s.Add("") != 0 || s.Add(" # ") != 0 {
		t.Error("nowhere has a number")
	}
	if a, b := s.Add("https://a.example/"), s.Add(" https://a.exa\nmple/ "); a != 1 || b != 1 {
		t.Errorf("one target has the numbers %d and %d", a, b)
	}
	s.AddText(1, "")
	s.AddText(1, "first")
	s.AddText(1, "second")
	if got := s.Finish()[0].Text; got != "first" {
		t.Errorf("text %q", got)
	}
	for i := range maxLinks {
		s.Add("https://a.example/" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + strings.Repeat("y", i/50))
	}
	if len(s.Finish()) > maxLinks {
		t.Error("there is no bound")
	}
}

func TestDomain(t *testing.T) {
	for host, want := range map[string]string{
		"www.acme.co.uk": "acme.co.uk", "acme.example": "acme.example", "a.b.acme.internal": "acme.internal", "com": "com", "10.0.0.1": "10.0.0.1", "localhost": "localhost", "": "",
	} {
		if got := Domain(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/b?c=d%20e": "https://a.example/b?c=d%20e", "https://a.example/ü b\x1b\x9c": "https://a.example/%C3%BC%20b%1B%9C", "": "",
	} {
		if got := Escape(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

func TestBare(t *testing.T) {
	for text, want := range map[string]string{
		"see https://a.example/b.": "https://a.example/b", "(https://a.example/b_(c))": "https://a.example/b_(c)", "<https://a.example/>": "https://a.example/",
		"HTTP://A.example, x": "HTTP://A.example", "www.a.example!": "http://www.a.example", "mailto:a@b.example": "mailto:a@b.example", "[x](https://a.example/)": "https://a.example/",
		"点击https://a.example/v完成": "https://a.example/v", "“https://a.example/”": "https://a.example/", "https://a.example/?q='x'": "https://a.example/?q='x'", "'https://a.example/'": "https://a.example/",
		"https://a.example/{id}": "https://a.example/{id}", "{https://a.example/}": "https://a.example/", "https://a.example/)))]}.": "https://a.example/", "https://a.example/a%20b&c=~d_": "https://a.example/a%20b&c=~d_",
		"": "", "xhttps://a.example": "", "https://": "", "www.": "", "no link": "", "awww.b": "",
	} {
		start, _, got := Bare(text)
		if start < 0 {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzRead reads a URL as it stands in a mail, and looks for one in it as in running text.
func FuzzRead(f *testing.F) {
	const target = "https%3A%2F%2Facme.example%2Fa%3Fb%3Dc"
	for _, w := range wrappers {
		href := "https://" + strings.TrimPrefix(w.host, ".") + "/" + strings.TrimPrefix(w.path, "/")
		if strings.HasPrefix(w.host, ".") {
			href = strings.Replace(href, "//", "//x.", 1)
		}
		f.Add(href + target)
		f.Add(href + "?" + w.param + "=" + target)
	}
	for _, href := range []string{"", "mailto:a@b.example", "JavaScript:alert(1)", "http:/\\a@b:1/", "http://[::1]:80/",
		"(see www.acme.example/a_(b)).", "http://b\u00fccher.example\u202e"} {
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
