package find

import (
	"strings"
	"testing"

	"mayfly/render/html"
	"mayfly/render/text"
)

// margin is how far the scores in a short mail are from the threshold at least, in points.
const margin = 0.3

// shortMail is a line of testdata/short.txt.
type shortMail struct {
	fixture
	language string
}

func shortMails(t *testing.T) []shortMail {
	var all []shortMail
	for _, fields := range lines(t, "short.txt") {
		if len(fields) != 4 {
			t.Fatalf("short.txt: %q", fields)
		}
		m := shortMail{language: fields[0]}
		m.name, m.subject = "short "+strings.Join(fields[:3], " "), fields[1]
		switch body := fields[2]; {
		case strings.HasPrefix(body, "<"):
			m.htmlDoc = html.Read(body)
		default:
			m.textDoc = text.Read(strings.ReplaceAll(body, `\n`, "\n"), text.Options{})
		}
		for want := range strings.FieldsSeq(fields[3]) {
			switch {
			case strings.Contains(want, "://"):
				m.link = want
			case want != "-":
				m.code = want
			}
		}
		all = append(all, m)
	}
	return all
}

// TestShortMails: what a short mail is for is found, or that it is for nothing, without doubt.
func TestShortMails(t *testing.T) {
	for _, m := range shortMails(t) {
		t.Run(m.name, func(t *testing.T) {
			r := Find(m.input())
			judge(t, m.code, r.CodeOK, enoughForCode, r.Codes, func(c *Code) (string, float64) { return c.Value, c.Score })
			judge(t, m.link, r.LinkOK, enoughForLink, r.Links, func(l *Link) (string, float64) { return l.URL, l.Score })
			if t.Failed() {
				t.Logf("codes %+v", r.Codes)
				t.Logf("links %+v", r.Links)
			}
		})
	}
}

// judge checks that what was wanted was found, with a margin.
func judge[F any](t *testing.T, want string, ok bool, enough float64, found []F, read func(*F) (string, float64)) {
	t.Helper()
	value, score := "", 0.0
	if len(found) > 0 {
		value, score = read(&found[0])
	}
	switch {
	case want == "" && (ok || score > enough-margin):
		t.Errorf("%q found, or nearly", value)
	case want != "" && (!ok || value != want || score < enough+margin):
		t.Errorf("%q not found, or hardly", want)
	}
}
