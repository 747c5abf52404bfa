package reader

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func TestAMessage(t *testing.T) {
	m := welcome
	m.To = "ada@b.example"
	m.Attachments = []api.Attachment{{Filename: "terms.pdf", Size: 120_400}, {ContentType: "text/calendar", Size: 900}}
	s := open(t, 60, 20, api.Message{})
	s.draw().Is(" Message")
	s.await(m)
	s.Message.Delay = 3200 * time.Millisecond
	s.Show(message.New("a", m))
	s.layout()
	s.draw().Is(`
 Confirm your e-mail address

  From  Acme <no-reply@acme.example>
  To    ada@b.example
  At    4 Mar 2026 12:00:00
        3.2 s after you copied the address
  File  terms.pdf  120 KB
        text/calendar  900 bytes
  1 remote image: not loaded

  Welcome, Ada
  ━━━━━━━━━━━━

  Follow this link¹, or ask².

  Remote



  rich  text  html  headers  raw  checks 4  web
`)
}

func TestTheHeadAtSmallSizes(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{40, 13, " Confirm your e-mail address\n\n  Acme · 12:00:00\n\n  Welcome, Ada\n  ━━━━━━━━━━━━\n\n  Follow this link¹, or ask².\n\n  Remote\n\n\n  rich  view 1 of 7"},
		{24, 8, " Confirm your e-mail …\n  Acme · 12:00:00\n\n  Welcome, Ada\n  ━━━━━━━━━━━━\n\n\n  rich   ↓ 4"},
		{20, 4, " Confirm your e-m…\n  Acme · 12:00:00\n\n  Welcome, Ada"},
	} {
		s := open(t, c.w, c.h, welcome)
		s.draw().Is(c.want)
		s.Ended = true
		s.draw().See("The inbox is go")
		s.send(uitest.Last)
		s.draw().See("Remote")
		s.do("view-html")
		s.draw().See("<h1>")
	}
}

func TestOpeningAndClosing(t *testing.T) {
	s := open(t, 60, 20, api.Message{})
	row := &store.Message{Key: "1", Subject: "One", Received: start}
	s.Open(row, "ada@b.example", start)
	first := s.Generation
	row.Subject = "changed in the store"
	if s.Message == nil || !s.Reads("1") || s.Reads("2") || s.Message != row {
		t.Errorf("it reads %+v", s.Message)
	}
	s.do("next-page")
	for _, c := range []struct {
		after time.Duration
		shown bool
	}{{0, false}, {OpeningDelay - 1, false}, {OpeningDelay, true}, {time.Hour, true}} {
		s.now = start.Add(c.after)
		if got := strings.Contains(s.draw().String(), "Opening…"); got != c.shown {
			t.Errorf("after %v it says that it is opening: %v", c.after, got)
		}
	}
	s.Err = fmt.Errorf("open the message: %w", errors.New("the service is away\x1b[31m "+strings.Repeat("for long ", 9)))
	s.draw().See("open the message: the service is away for long", "r try again")
	s.Ended = true
	s.draw().See("The inbox no longer exists, so this can no longer be")
	s.draw().DontSee("try again", "stays visible")
	s.Open(&store.Message{Key: "2", Subject: "Two"}, "", start)
	if s.Err != nil || s.Generation <= first {
		t.Errorf("the next message begins with %v, as generation %d after %d", s.Err, s.Generation, first)
	}
	s.Show(message.New("a", api.Message{Text: paragraphs(50)}))
	s.layout()
	s.do("view-text", "hidden-text", "unfold", "next-page")
	s.send(uitest.Search)
	s.press("paragraph")
	if s.top == 0 {
		t.Error("a search does not go to its hit")
	}
	second := s.Generation
	s.Close()
	if s.Message != nil || s.Typing() || s.Generation <= second || s.View != render.Rich || s.hidden || s.unfold || s.top != 0 || s.Opened != nil {
		t.Errorf("closed it is %+v", s.Pane)
	}
	s.draw().Is(" Message")
}

func TestTheRawMessageIsWaitedFor(t *testing.T) {
	raw := message.File("a.eml", "eml", "Subject: One\r\nX-Field: value\r\n\r\nText\r\n")
	s := open(t, 60, 20, welcome)
	for view, want := range map[string]bool{"rich": false, "text": false, "html": false, "headers": true, "raw": true, "checks": true} {
		s.do("view-" + view)
		if s.WantsRaw() != want {
			t.Errorf("the view %s needs the raw message: %v", view, s.WantsRaw())
		}
	}
	s.do("view-raw")
	s.AwaitRaw(start)
	if s.WantsRaw() {
		t.Error("the raw message is fetched twice")
	}
	s.draw().DontSee("Opening…", "no raw message")
	s.now = start.Add(OpeningDelay)
	s.draw().See("Opening…")
	s.Show(raw)
	s.layout()
	s.draw().See("X-Field: value")
	s = open(t, 60, 20, welcome)
	s.do("view-raw")
	s.AwaitRaw(start)
	s.FailRaw(api.ErrUnsupported)
	if s.WantsRaw() {
		t.Error("a raw message that there is not is fetched again")
	}
	s.draw().See("There is no raw message")
}

func TestScrolling(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", Subject: "Long", Text: paragraphs(60)})
	for _, c := range []struct {
		msg   tea.Msg
		first string
		rest  string // rows that follow
	}{
		{uitest.Move(1), "To    ada", "↓ 166"},
		{uitest.Move(-5), "From  Acme", "↓ 167"},
		{uitest.Page(1), "a screen that is not the widest.\n\n  Paragraph 004", "↓ 153"},
		{tea.MouseWheelMsg{Button: tea.MouseWheelDown}, "a screen that is not the widest.\n\n  Paragraph 005", "↓ 150"},
		{uitest.Last, "a screen that is not the widest.\n\n  Paragraph 055", ""},
		{uitest.Page(-1), "Paragraph 050", "↓ 14"},
		{uitest.First, "From  Acme", "↓ 167"},
	} {
		s.send(c.msg)
		got := s.draw()
		if !strings.HasPrefix(strings.TrimSpace(strings.Join(got.Rows[2:], "\n")), c.first) || !strings.HasSuffix(got.Rows[19], c.rest) || c.rest == "" && strings.Contains(got.Rows[19], "↓") {
			t.Errorf("after %#v:\n%s", c.msg, got)
		}
	}
	if s.Back() {
		t.Error("esc does not leave")
	}
}

func TestAClick(t *testing.T) {
	long := api.Message{ID: "1", HTML: `<p><a href="https://x.example/">First link</a></p>` + strings.Repeat("<p>Text</p>", 50)}
	for _, c := range []struct {
		name string
		m    api.Message
		text string
		dx   int
		want string // URL
	}{
		{"its first cell", welcome, "this link", 0, "https://acme.example/confirm"},
		{"its last cell", welcome, "this link", 8, "https://acme.example/confirm"},
		{"before it", welcome, "this link", -1, ""},
		{"another", welcome, "ask", 1, "https://acme.example/help"},
		{"the text", welcome, "Welcome", 0, ""},
		{"the head", welcome, "From", 0, ""},
		{"the title", welcome, "Confirm", 0, ""},
		{"the end", long, "↓", 0, ""},
	} {
		s := open(t, 60, 20, c.m)
		x, y := s.at(c.text)
		if s.send(click(x+c.dx, y)); s.clicked.URL != c.want {
			t.Errorf("%s: %q", c.name, s.clicked.URL)
		}
	}
	s := open(t, 60, 20, long)
	s.Fit(theme.Rect{X: 40, Y: 7, W: 60, H: 20})
	x, y := s.at("First link")
	if s.send(click(40+x, 7+y)); s.clicked.URL != "https://x.example/" {
		t.Errorf("beside other panes a click leads to %+v", s.clicked)
	}
	s.send(uitest.Move(6)) // the link is where the title is
	for y := range 2 {
		if s.send(click(43, 7+y)); s.clicked.URL != "" {
			t.Errorf("a click on row %d leads to %+v, which was scrolled away", y, s.clicked)
		}
	}
}

func TestTheNamesOfTheViews(t *testing.T) {
	s := open(t, 60, 20, welcome)
	for n, name := range []string{"text", "checks", "html", "raw", "headers", "rich"} {
		x, y := s.at(name)
		s.send(click(x+len(name)-1, y))
		if Views[s.View] != name {
			t.Errorf("a click on %s shows %s", name, Views[s.View])
		}
		s.send(click(x-1, y), click(59, y))
		if Views[s.View] != name {
			t.Errorf("a click beside %s, the %dth, shows %s", name, n, Views[s.View])
		}
	}
	s.fit(30, 20)
	for _, want := range []string{"text", "html", "headers", "raw", "checks", "web", "rich"} {
		s.send(click(5, 19))
		if s.draw().See(want); Views[s.View] != want {
			t.Errorf("a click shows %s, want %s", Views[s.View], want)
		}
	}
	s.send(uitest.Move(3))
	if s.do("next-view"); s.View != render.Text || s.top != 0 {
		t.Errorf("the next view is %s, from line %d on", Views[s.View], s.top)
	}
}

// TestTheViewIsNamedWhereManyRowsFollow keeps the names of the views whole.
func TestTheViewIsNamedWhereManyRowsFollow(t *testing.T) {
	s := open(t, 44, 20, api.Message{ID: "1", Text: paragraphs(400)})
	s.draw().See("rich  view 1 of 7   ↓ ")
}

func TestReasons(t *testing.T) {
	none, text := api.Message{}, api.Message{ID: "1", Text: "Text"}
	image := api.Message{ID: "1", HTML: `<img src="cid:a" width="100" height="100">`, Attachments: []api.Attachment{{ContentType: "image/png", ContentID: "a"}}}
	for _, c := range []struct {
		m      api.Message
		noRaw  bool
		reason func(*Pane) string
		want   string
	}{
		{none, false, func(p *Pane) string { return p.RequireOpen() }, "Open a message first"},
		{text, false, func(p *Pane) string { return p.RequireOpen() }, ""},
		{none, false, func(p *Pane) string { return p.RequireAttachments() }, "Open a message first"},
		{text, false, func(p *Pane) string { return p.RequireAttachments() }, "This message has no attachments"},
		{image, false, func(p *Pane) string { return p.RequireAttachments() }, ""},
		{text, false, func(p *Pane) string { return p.RequireHits("/") }, "/"},
		{none, false, func(p *Pane) string { return p.RequireImages(false) }, "Open a message first"},
		{text, false, func(p *Pane) string { return p.RequireImages(false) }, "no embedded images"},
		{image, false, func(p *Pane) string { return p.RequireImages(false) }, ""},
		{image, true, func(p *Pane) string { return p.RequireImages(true) }, "does not provide raw messages"},
	} {
		if got := c.reason(open(t, 60, 20, c.m).Pane); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("the reason is %q, want %q", got, c.want)
		}
	}
	s := open(t, 60, 20, text)
	if s.do("hidden-text"); !s.hidden || s.ToggleHidden() {
		t.Error("what was done about hidden text is not said")
	}
	s = open(t, 80, 20, api.Message{ID: "h", HTML: "<p hidden>a<p>&nbsp;<p hidden>b"})
	if got := fmt.Sprint(s.draw()); !strings.Contains(got, "This mail shows nothing: 2 hidden blocks, x shows them") {
		t.Errorf("a mail that shows nothing does not say so:\n%s", got)
	}
}

func TestAHostileMessage(t *testing.T) {
	h, body := uitest.Hostile, strings.ReplaceAll(uitest.Hostile, uitest.Joined, "") // a body shows all emoji whole
	m := api.Message{
		ID: "1", From: "a" + body + "@b.example", FromName: body, To: body, Subject: body, Text: "Text " + body,
		HTML:        "<p title=\"" + body + "\">" + body + "</p><a href=\"https://x.example/?t=" + body + "\">Confirm " + body + "</a><img alt=\"" + body + "\" src=\"cid:" + body + "\">",
		Attachments: []api.Attachment{{Filename: "../" + h + ".sh"}, {ContentType: "text/" + h}},
	}
	for _, size := range [][2]int{{20, 4}, {30, 10}, {58, 32}, {120, 40}} {
		s := open(t, size[0], size[1], m)
		s.Message.Sender, s.Message.Address, s.Message.Subject = render.Clean(h), render.Clean(h), render.Clean(h)
		s.email = render.Clean(h)
		for range Views {
			s.draw()
			s.send(uitest.Page(1))
			s.draw()
			s.do("next-view", "hidden-text", "unfold")
		}
		s.send(uitest.Search, tea.PasteMsg{Content: h})
		s.draw()
		s.press("zzz", "enter")
		s.draw()
		s.Opened = nil
		s.Err = errors.New(h + strings.Repeat(h, 20))
		s.draw()
	}
}

func TestASubjectIsCutOffNowhereWhereRunesAreCounted(t *testing.T) {
	m := welcome
	m.Subject = "A family 👨‍👩‍👧‍👦 writes 確認コードをお送りします"
	const w = 44
	rows := open(t, w+2, 20, m).subject(w, maxSubject)
	if got := strings.ReplaceAll(ansi.Strip(strings.Join(rows, "")), " ", ""); got != strings.ReplaceAll(m.Subject, " ", "") {
		t.Errorf("the subject is shown as %q", got)
	}
	for _, row := range rows {
		if got := ansi.StringWidthWc(row); got > w {
			t.Errorf("%q takes %d of %d columns", ansi.Strip(row), got, w)
		}
	}
}

func TestTheLinkInTheTitleIsAsWideWhereRunesAreCounted(t *testing.T) {
	s := open(t, 40, 10, welcome)
	s.Message.Extracted = &store.Extracted{Link: render.Link{URL: "https://x.example/", Text: "Join " + uitest.Joined}}
	uitest.Draw(t, s.Draw(true, start)[:1], 40).See("↗ Join", "· Confirm your")
}

// hay holds a needle in paragraphs 30 and 61.
var hay = api.Message{ID: "1", Subject: "Hay", Text: strings.Repeat("Nothing here.\n\n", 30) + "The needle is here.\n\n" + strings.Repeat("Nor here.\n\n", 30) + "Another NEEDLE.\n"}

func TestSearching(t *testing.T) {
	s := open(t, 60, 16, hay)
	step := func(ids ...string) func() { return func() { s.do(ids...) } }
	press := func(keys ...string) func() { return func() { s.press(keys...) } }
	for _, c := range []struct {
		what    string
		do      func()
		see     []string
		dontSee string
		typing  bool
		found   bool
	}{
		{"begun", func() { s.send(uitest.Search) }, []string{"/"}, "found", true, false},
		{"typed", press("nee"), []string{"/nee", "2 found", "The needle is here."}, "", true, true},
		{"typed to its end", press("dle is"), []string{"1 found", "The needle is here."}, "", true, true},
		{"deleted again", press("backspace", "backspace", "backspace"), []string{"2 found"}, "", true, true},
		{"done", press("enter"), []string{"1 of 2", "The needle is here."}, "/needle", false, true},
		{"the next", step("next-match"), []string{"2 of 2", "Another NEEDLE."}, "", false, true},
		{"around the end", step("next-match"), []string{"1 of 2", "The needle is here."}, "", false, true},
		{"and back", step("previous-match"), []string{"2 of 2", "Another NEEDLE."}, "", false, true},
		{"in another view", step("view-text"), []string{"1 of 2"}, "", false, true},
		{"narrower", func() { s.fit(30, 16) }, []string{"1 of 2"}, "", false, true},
		{"at the other", step("next-match"), []string{"2 of 2"}, "", false, true},
		{"wider", func() { s.fit(60, 16) }, []string{"2 of 2"}, "", false, true},
		{"undone", func() { s.send(uitest.Back) }, []string{"Hay"}, "of 2", false, false},
		{"nowhere", func() { s.send(uitest.Search); s.press("nowhere to be found", "enter") }, []string{"/nowhere to … not found"}, "", false, false},
		{"given up", func() { s.send(uitest.Search); s.press("nee", "esc") }, []string{"Hay"}, "of 2", false, false},
		{"left by a click", func() { s.send(uitest.Search); s.press("nee"); s.StopTyping() }, []string{"2 of 2"}, "", false, true},
		{"empty", func() { s.send(uitest.Search); s.press("tab") }, []string{"Hay"}, "of 2", false, false},
	} {
		c.do()
		got := s.draw()
		got.See(c.see...)
		if c.dontSee != "" {
			got.DontSee(c.dontSee)
		}
		if hits := s.search.Hits(); s.Typing() != c.typing || (hits > 0) != c.found || (s.RequireHits("/") == "") != (hits > 0) {
			t.Errorf("%s: typing %v, %d hits", c.what, s.Typing(), hits)
		}
	}
}

func TestHitsStandOut(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", HTML: "<p>One <b>two</b> 日本 TWO two</p>"})
	s.send(uitest.Search)
	s.press("two", "enter")
	s.do("next-match")
	th := uitest.Theme(t)
	want := "One " + th.Match.On("two") + theme.Bold.On(" ") + "日本 " + (th.Match + theme.Reverse).On("TWO") + " " + th.Match.On("two")
	cells := func(rows string) string { return lipgloss.NewCanvas(60, 20).Compose(uv.NewStyledString(rows)).Render() }
	if got := strings.Join(s.Draw(true, start), "\n"); !strings.Contains(cells(got), strings.TrimRight(cells(want), "\n")) {
		t.Errorf("%q is not in\n%q", cells(want), cells(got))
	}
	s.draw().See("One two 日本 TWO two")
}

func TestWhoAMessageIsFromAndTo(t *testing.T) {
	const many = "x1@b.example, x2@b.example, x3@b.example, x4@b.example, x5@b.example, x6@b.example, x7@b.example, x8@b.example, x9@b.example, x10@b.example, x11@b.example, x12@b.example"
	for _, c := range []struct {
		header string // "" for the API's object alone
		to     string
		see    []string
		not    []string
	}{
		{"From: Acme <no-reply@acme.example>\r\nTo: Team <team@b.example>\r\nCc: ada@b.example\r\nReply-To: help@acme.example\r\n", "",
			[]string{"From      Acme <no-reply@acme.example>", "To        Team <team@b.example>", "Cc        ada@b.example", "Reply-To  help@acme.example"}, []string{"received as"}},
		{"From: a@acme.example\r\nTo: team@b.example\r\nCc: other@b.example\r\n", "", []string{"To    team@b.example", "received as ada@b.example (Bcc)"}, nil},
		{"From: a@acme.example\r\n", "", []string{"received as ada@b.example (Bcc)"}, []string{"To  "}},
		{"From: a@acme.example\r\nTo: Ada+news@B.example\r\n", "", []string{"To    Ada+news@B.example"}, []string{"received as"}},
		{"From: a@acme.example\r\nTo: " + many + "\r\nCc: ada@b.example\r\n", "", []string{"x1@b.example", "x4@b.example", "…", "Cc    ada@b.example"}, []string{"x12@b.example"}},
		{"", "team@b.example", []string{"From  Acme <no-reply@acme.example>", "To    team@b.example", "received as ada@b.example"}, []string{"(Bcc)"}},
		{"", "ada@b.example", []string{"To    ada@b.example"}, []string{"received as"}},
	} {
		s := open(t, 58, 24, api.Message{})
		s.await(api.Message{ID: "1", Subject: "Hello"})
		m := message.New("a", api.Message{ID: "1", To: c.to, Text: "Hello"})
		if c.header != "" {
			m = message.File("1", "eml", c.header+"\r\nHello\r\n")
		}
		s.Show(m)
		s.layout()
		s.draw().See(c.see...)
		s.draw().DontSee(c.not...)
		if s.ToggleUnfold(); strings.Contains(c.header, many) {
			s.draw().See("x12@b.example")
		}
	}
}
