package find

import (
	"reflect"
	"strings"
	"testing"

	"mayfly/render/html"
	"mayfly/render/lexicon"
	"mayfly/render/text"
)

// TestNothing: an empty mail has neither code nor link, and is no fault.
func TestNothing(t *testing.T) {
	r := Find(Input{})
	if r.CodeOK || r.LinkOK || len(r.Codes)+len(r.Links) > 0 {
		t.Errorf("found %+v in nothing", r)
	}
}

func shown(reasons []Reason) string {
	var s strings.Builder
	for _, r := range reasons {
		s.WriteString(r.String() + "\n")
	}
	return s.String()
}

func TestReasonsExplain(t *testing.T) {
	r := Find(Input{
		Subject: "482913 is your code",
		Doc:     html.Read(`<p>Your verification code: <b>482913</b></p><p><a href="https://a.example/verify?token=abcdef">Verify</a></p>`),
	})
	if !r.CodeOK || !r.LinkOK {
		t.Fatalf("found %+v", r)
	}
	reasons := shown(r.Codes[0].Reasons)
	for _, want := range []string{`"verification code" before it`, "six digits", "bold", "after a colon"} {
		if !strings.Contains(reasons, want) {
			t.Errorf("the reasons for the code do not say %q:\n%s", want, reasons)
		}
	}
	reasons = shown(r.Links[0].Reasons)
	for _, want := range []string{"its text asks: confirm", "carries a secret", "its path says so too"} {
		if !strings.Contains(reasons, want) {
			t.Errorf("the reasons for the link do not say %q:\n%s", want, reasons)
		}
	}
}

// TestNearTie: two codes as likely as one another are a choice, not a code.
func TestNearTie(t *testing.T) {
	r := Find(Input{Subject: "Your codes", Doc: html.Read(`<p>Your login code is 448120.</p><p>Your login code is 903377.</p>`)})
	if r.CodeOK || len(r.Codes) != 2 {
		t.Errorf("found %+v", r)
	}
}

// folded is a text as codes are compared: digits of all scripts alike, no marks.
func folded(s string) string {
	return strings.ToUpper(strings.ReplaceAll(lexicon.Fold(s).Folded, " ", ""))
}

// present checks what holds for every mail: what was found stands in it, and is the same each time.
func present(t *testing.T, in Input) {
	t.Helper()
	r := Find(in)
	if again := Find(in); !reflect.DeepEqual(r, again) {
		t.Errorf("%+v and then %+v", r, again)
	}
	var all strings.Builder
	all.WriteString(folded(in.Subject))
	urls := map[string]bool{}
	if in.Doc != nil {
		all.WriteString(folded(in.Doc.Preheader + in.Doc.Text()))
		for _, l := range in.Doc.Links {
			urls[l.URL] = true
		}
	}
	if in.Text != nil {
		all.WriteString(folded(in.Text.Text()))
		for _, l := range in.Text.Links {
			urls[l.URL] = true
		}
	}
	for _, c := range r.Codes {
		if !strings.Contains(all.String(), folded(c.Value)) {
			t.Errorf("the code %q does not stand in the mail", c.Value)
		}
		if len(c.Reasons) == 0 {
			t.Errorf("no reasons for %q", c.Value)
		}
	}
	for _, l := range r.Links {
		if !urls[l.URL] {
			t.Errorf("the link %q does not stand in the mail", l.URL)
		}
		if l.N > 0 && in.Doc.Links[l.N-1].URL != l.URL {
			t.Errorf("the link %q is not number %d", l.URL, l.N)
		}
	}
	if r.CodeOK && len(r.Codes) == 0 || r.LinkOK && len(r.Links) == 0 {
		t.Errorf("found something that is not there: %+v", r)
	}
}

func FuzzFind(f *testing.F) {
	for _, m := range fixtures(f) {
		f.Add(m.subject, m.html, m.text)
	}
	f.Fuzz(func(t *testing.T, subject, h, plain string) {
		if len(h)+len(plain) > 100_000 {
			t.Skip("long inputs are the benchmarks'")
		}
		in := Input{Subject: subject, Doc: html.Read(h)}
		if plain != "" {
			in.Text = text.Read(plain, text.Options{})
		}
		present(t, in)
	})
}

func TestURLs(t *testing.T) {
	for _, test := range []struct {
		url                         string
		root, secret, footer, trade bool
		asks                        string
	}{
		{"https://example.com/", true, false, false, false, ""},
		{"https://example.com/#/", false, false, false, false, ""},
		{"https://example.com/verify?token=abcd1234", false, true, false, false, "confirm"},
		{"https://example.com/users/password/edit?reset_password_token=x1y2z3", false, true, false, false, "reset"},
		{"https://example.com/auth/reset-password#/7FiDvywNQUwkRNAKTl_4Ku", false, true, false, false, "login, reset"},
		{"https://example.com/unsubscribe?u=1", false, false, true, false, ""},
		{"https://example.com/?utm_source=mail", true, false, false, true, ""},
		{"https://example.com/invitations/5f2b7c90-7d0e-4f2d-9a51-1f0b1f3f8b7a", false, true, false, false, "invite"},
		{"https://example.com/a/page/about/something-quite-long", false, false, true, false, ""},
	} {
		u := inspect(test.url)
		if u.root != test.root || u.token != test.secret || u.footer != test.footer || u.campaign != test.trade || u.asks.String() != test.asks {
			t.Errorf("%s: %+v asks %q", test.url, u, u.asks)
		}
	}
}
