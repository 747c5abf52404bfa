package reader

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/uitest"
)

// faulty is a mail with something to find, whose source has a line for each element or is one line.
func faulty(lineEnd string) api.Message {
	lines := []string{`<html lang="en">`, "<body>"}
	for n := range 60 {
		lines = append(lines, fmt.Sprintf("<p>Paragraph %d of this mail</p>", n))
	}
	lines = append(lines, `<img src="https://x.example/a.png" width="90" height="90">`, `<p>Hi {{name}}</p>`, "</body>", "</html>")
	return api.Message{ID: "1", Subject: "Faulty", Text: "A mail", HTML: strings.Join(lines, lineEnd)}
}

func TestFromACheckToItsPlace(t *testing.T) {
	for _, lineEnd := range []string{"\n", ""} { // a source of one line is wrapped
		for _, w := range []int{100, 40} {
			s := open(t, w, 20, faulty(lineEnd))
			if reason := s.RequireCheck("6"); !strings.HasPrefix(reason, "No finding selected") {
				t.Errorf("in another view: %q", reason)
			}
			s.do("view-checks")
			s.send(uitest.Move(1))
			s.do("show-source")
			if got := s.marks(); len(got) != 1 || !strings.Contains(got[0], "<img") {
				t.Errorf("%d cells wide the lines marked are %q:\n%s", w, got, s.draw())
			}
			s.fit(w+20, 24)
			if got := s.marks(); len(got) != 1 || !strings.Contains(got[0], "<img") {
				t.Errorf("made wider: %q", got)
			}
			if got := s.Back(); !got || s.View != render.Checks || s.check != 1 {
				t.Errorf("esc leads to %v, and check %d of %s", got, s.check, Views[s.View])
			}
			s.layout()
			if got := s.marks(); len(got) == 0 || !strings.Contains(got[0], "alt text") {
				t.Errorf("back at the checks the lines marked are %q", got)
			}
			if s.Back() {
				t.Error("esc does not leave")
			}
			s.do("view-html")
			if got := s.marks(); got != nil {
				t.Errorf("gone to by its key, the source has the marks %q", got)
			}
		}
	}
}

// marks are the rows with a bar.
func (s *scene) marks() []string {
	var rows []string
	for _, row := range s.draw().Rows {
		if strings.HasPrefix(row, "▌") {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestTheCursorOverTheChecks(t *testing.T) {
	s := open(t, 40, 12, faulty("\n"))
	s.do("view-checks")
	for _, c := range []struct {
		msg  any
		want string
	}{
		{uitest.Move(1), "! An image"}, {uitest.Move(1), "· There is no"}, {uitest.Move(1), "· There is no"}, {uitest.Page(-1), "✕"}, {uitest.Last, "· There is no"}, {uitest.First, "✕"},
	} {
		s.send(c.msg)
		if got := s.marks(); len(got) == 0 || !strings.Contains(got[0], c.want) {
			t.Errorf("after %#v the lines marked are %q", c.msg, got)
		}
	}
	s.send(uitest.Move(-1))
	s.draw().See("Acme")
	s.fit(100, 24)
	x, y := s.at("alt text")
	if s.send(click(x, y)); s.check != 1 || s.View != render.Checks {
		t.Errorf("a click selects check %d", s.check)
	}
	if s.send(click(x, y)); s.View != render.HTML {
		t.Error("a second click does not go to the place")
	}
	s = open(t, 60, 20, api.Message{})
	s.await(api.Message{ID: "1"})
	s.Show(message.File("a", "eml", "Subject: A\r\nFrom: a@b.example\r\n\r\nText\r\n"))
	s.layout()
	s.do("view-checks", "show-source")
	if s.View != render.Headers {
		t.Errorf("a check of the header leads to %s", Views[s.View])
	}
	if s.send(uitest.Back); s.View != render.Checks {
		t.Error("esc does not lead back")
	}
}

func TestWhatClientsLackHasAPlace(t *testing.T) {
	s := open(t, 124, 24, api.Message{ID: "1", Subject: "Round", Text: "A mail", HTML: "<html lang=\"en\"><div style=\"display:none\">In short</div><p>A mail</p>\n<b style=\"border-radius:4px\">x</b>"})
	s.do("view-checks")
	s.draw().See("border-radius · 1 place · square corners in Outlook for Windows")
	s.do("show-source")
	if got := s.marks(); s.View != render.HTML || len(got) != 1 || !strings.Contains(got[0], "border-radius:4px") {
		t.Errorf("it leads to %q in %s", got, Views[s.View])
	}
	if s.send(uitest.Back); s.View != render.Checks {
		t.Error("esc does not lead back")
	}
}

func TestAlikeChecksAreFolded(t *testing.T) {
	links := ""
	for n := range 7 {
		links += fmt.Sprintf("<p><a href=\"http://x.example/%d\">Page %d</a></p>\n", n, n)
	}
	s := open(t, 124, 24, api.Message{ID: "1", Subject: "Faulty", Text: "A mail", HTML: `<html lang="en">` + links + "<p>Hi {{name}}</p>"})
	s.do("view-checks")
	s.draw().See("1 error", "placeholder", "7 warnings", "link-http ×7", "1 note", "checks 9")
	s.send(uitest.Move(2))
	if got := s.marks(); len(got) == 0 || !strings.Contains(got[0], "preheader") {
		t.Errorf("below the folded ones the lines marked are %q", got)
	}
	s.do("unfold")
	s.send(uitest.Move(-2))
	if got := s.marks(); len(got) != 2 || !strings.Contains(got[0], "x.example/3") {
		t.Errorf("unfolded, two above, the lines marked are %q", got)
	}
	s.do("unfold")
	if got := s.marks(); len(got) != 2 || !strings.Contains(got[0], "x.example/0") {
		t.Errorf("folded again, the lines marked are %q", got)
	}
	s.do("unfold")
	s.send(uitest.Move(2))
	s.do("show-source")
	if got := s.marks(); len(got) != 1 || !strings.Contains(got[0], "x.example/2") {
		t.Errorf("the third leads to %q", got)
	}
}

func TestTheSource(t *testing.T) {
	s := open(t, 60, 9, api.Message{ID: "1", Subject: "Source", HTML: "<p class=\"a\">A line that is long enough to be wrapped on this screen</p>\n\n\n<p>3</p>"})
	s.do("view-html")
	s.draw().Is(`
 Source

  1 <p class="a">A line that is long enough to be wrapped
    on this screen</p>
  2
  4 <p>3</p>


  rich  text  html  headers  raw  checks 3  web
`)
	s.send(uitest.Search)
	s.press("4", "enter")
	s.draw().See("/4 not found")
	s.fit(29, 9)
	s.draw().See("  <p class=")
	for _, html := range []string{"", uitest.Hostile, "<a " + uitest.Hostile + "=\"" + uitest.Hostile, "<style>a{b:" + uitest.Hostile + "/*", "\r\r\n<x\n\n"} {
		s := open(t, 40, 12, api.Message{ID: "1", HTML: html, Text: "x"})
		s.do("view-html", "view-checks")
		s.draw()
	}
}
