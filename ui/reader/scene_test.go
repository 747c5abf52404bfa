package reader

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/store"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// scene is the pane, with what the root does around it.
type scene struct {
	*Pane
	t   testing.TB
	now time.Time
	raw []string // sequences sent to the terminal

	clicked render.Link
	reason  string // why an action did nothing
}

// open opens the pane on a message, at the corner of the screen; without an ID none is open.
func open(t testing.TB, w, h int, m api.Message) *scene {
	t.Helper()
	s := &scene{Pane: &Pane{}, t: t, now: start}
	s.SetLook(uitest.Theme(t), image.Mode{Protocol: image.Blocks}, Hints{Retry: "r", Images: "i", Hidden: "x"})
	s.fit(w, h)
	if m.ID != "" {
		s.read(m)
	}
	return s
}

// read shows a message.
func (s *scene) read(m api.Message) {
	s.await(m)
	m.To = cmp.Or(m.To, "ada@b.example")
	s.Show(message.New("a", m))
	s.layout()
}

// await begins to show a message.
func (s *scene) await(m api.Message) {
	s.Open(&store.Message{Key: m.ID, ID: m.ID, InboxID: "a", Sender: "Acme", Address: "no-reply@acme.example", Subject: m.Subject, Received: start}, "ada@b.example", start)
}

func (s *scene) fit(w, h int) {
	s.Fit(theme.Rect{W: w, H: h})
	s.layout()
}

// layout brings the lines up to date, and waits for them.
func (s *scene) layout() { s.run(s.Layout()) }

// run runs a command and what it leads to.
func (s *scene) run(cmd tea.Cmd) {
	for cmd != nil {
		switch m := cmd().(type) {
		case LayoutDone:
			cmd = s.ApplyLayout(m)
		case tea.RawMsg:
			s.raw = append(s.raw, fmt.Sprint(m.Msg))
			cmd = s.OnRaw(m)
		default:
			return
		}
	}
}

// send does things to the pane.
func (s *scene) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		switch msg := msg.(type) {
		case uitest.Do:
			msg(s.Pane)
		case tea.MouseWheelMsg:
			s.Scroll(theme.WheelRows(msg))
		case tea.MouseClickMsg:
			s.clicked, s.reason = s.Click(msg)
		default:
			s.Type(msg)
		}
		s.layout()
	}
}

func (s *scene) press(names ...string) {
	for _, k := range uitest.Keys(names...) {
		s.send(k)
	}
}

// do runs actions, named as in the root's table; one that cannot be done now fails the test.
func (s *scene) do(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.act(id)
		s.run(s.TidyImages())
		s.layout()
	}
}

// act runs one action, without what the root does after it.
func (s *scene) act(id string) {
	s.t.Helper()
	reason := s.RequireOpen()
	switch id {
	case "next-page":
		reason = ""
		s.Page(1)
	case "next-match":
		if reason = s.RequireHits("/"); reason == "" {
			s.Step(1)
		}
	case "show-source":
		if reason = s.RequireCheck("6"); reason == "" {
			s.reason = s.ShowPlace()
		}
	case "next-view":
		s.NextView()
	case "previous-match":
		s.Step(-1)
	case "clear-search":
		s.Back()
	case "unfold":
		s.ToggleUnfold()
	case "hidden-text":
		s.ToggleHidden()
	case "images":
		if reason = s.RequireImages(false); reason == "" {
			s.ToggleImages()
		}
	default:
		s.ShowView(render.View(slices.Index(Views[:], strings.TrimPrefix(id, "view-"))))
	}
	if reason != "" {
		s.t.Fatalf("%s: %s", id, reason)
	}
}

func (s *scene) draw() uitest.Screen {
	s.t.Helper()
	return uitest.DrawLast(s.t, s.Draw(true, s.now), s.Rect.W)
}

func click(x, y int) tea.Msg { return tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft} }

// at is the cell at which a text begins on the screen.
func (s *scene) at(text string) (x, y int) {
	s.t.Helper()
	for y, row := range s.draw().Rows {
		if before, _, ok := strings.Cut(row, text); ok {
			return len([]rune(before)), y
		}
	}
	s.t.Fatalf("%q is not on the screen:\n%s", text, s.draw())
	return 0, 0
}

// paragraphs are n paragraphs, by number.
func paragraphs(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "Paragraph %03d is one of those that have to be wrapped on a screen that is not the widest.\n\n", k)
	}
	return b.String()
}

var welcome = api.Message{ID: "1", Subject: "Confirm your e-mail address", HTML: `<h1>Welcome, Ada</h1><p>Follow <a href="https://acme.example/confirm">this link</a>, ` +
	`or <a href="https://acme.example/help">ask</a>.</p><p><img src="https://x.example/a.png" width="100" height="100" alt="Remote"></p>`}
