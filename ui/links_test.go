package ui

import (
	"net/url"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/uitest"
)

func TestTheQuestionBeforeALinkIsOpened(t *testing.T) {
	for _, c := range []struct {
		link render.Link
		see  []string
		err  string
	}{
		{render.Link{URL: "https://acme.example/a?b=1#c"}, []string{"Open this link?", "→ acme.example", "https://acme.example/a?b=1#c", "o open", "y copy", "esc leave it"}, ""},
		{render.Link{URL: "http://[::1]:8080/", Via: "t.example", Warning: "the text says bank.example"}, []string{"→ ::1", "Redirects through t.example.", "! the text says bank.example"}, ""},
		{render.Link{URL: "https://x.example/" + strings.Repeat("a/", 500) + "end"}, []string{"→ x.example", "…", "/end", "o open"}, ""},
		{render.Link{URL: "https://h.example/" + uitest.Hostile[30:], Via: uitest.Hostile, Warning: uitest.Hostile}, nil, "not a valid URL"},
		{render.Link{URL: "https://h.example/\u202e\u200bü\U0001F468\u200d\U0001F469", Via: uitest.Hostile, Warning: uitest.Hostile}, []string{"→ h.example"}, ""},
		{render.Link{URL: "mailto:a@b.example"}, nil, "only http and https"},
		{render.Link{URL: "javascript:alert(1)"}, nil, "only http and https"},
		{render.Link{URL: "file:///etc/passwd"}, nil, "only http and https"},
		{render.Link{URL: "--help"}, nil, "only http and https"},
		{render.Link{URL: "ftp://x.example/"}, nil, "only http and https"},
		{render.Link{URL: "http:"}, nil, "only http and https"},
		{render.Link{URL: "https:///path"}, nil, "only http and https"},
		{render.Link{URL: "\x00"}, nil, "not a valid URL"},
		{render.Link{}, nil, "only http and https"},
	} {
		d, err := linkQuestion(c.link, nil, nil)
		if err != nil {
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.link.URL, err)
			}
			continue
		}
		if c.err != "" {
			t.Errorf("%q would be opened", c.link.URL)
		}
		uitest.DrawDialog(t, d, 80, 24).See(c.see...)
		uitest.DrawDialog(t, d, 20, 6).See("o open")
	}
	var opened, copied string
	d, _ := linkQuestion(render.Link{URL: "https://acme.example/"},
		func(u *url.URL) tea.Cmd { opened = u.String(); return nil }, func(url string) tea.Cmd { copied = url; return nil })
	d.Update(uitest.Keys("o")[0]).Do()
	d.Update(uitest.Keys("y")[0]).Do()
	if opened != "https://acme.example/" || copied != opened {
		t.Errorf("o opens %q, y copies %q", opened, copied)
	}
}
