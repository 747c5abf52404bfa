package reader

import (
	"context"
	"errors"
	"image"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/browser"
	rimage "mayfly/render/image"
	"mayfly/ui/uitest"
)

// painted is the pane on a message in the browser's view, on a terminal with an ability.
func painted(t *testing.T, p rimage.Protocol) *scene {
	s := open(t, 84, 24, welcome)
	images := rimage.Mode{Protocol: p, Cell: rimage.Size{Width: 8, Height: 16}}
	if p.Placed() {
		images = rimage.Mode{Protocol: rimage.Blocks}
	}
	s.SetLook(uitest.Theme(t), images, rimage.Mode{Protocol: p, Cell: rimage.Size{Width: 8, Height: 16}}, Hints{Retry: "r"})
	s.do("view-web")
	look, ok := s.WantsPainting()
	if !ok || look != (browser.Look{}) {
		t.Fatalf("it is to be painted: %v, as %v", ok, look)
	}
	s.AwaitPainting(start, func() {})
	if _, ok := s.WantsPainting(); ok {
		t.Error("it is to be painted twice")
	}
	s.paint(look, 640, 16*60)
	return s
}

// paint shows a picture of a size.
func (s *scene) paint(look browser.Look, width, height int) {
	s.ShowPainting(s.Generation, look, browser.Picture{Image: image.NewRGBA(image.Rect(0, 0, width, height))}, nil)
	s.layout()
}

func TestAPictureIsAsTallAsTheMail(t *testing.T) {
	for p, cell := range map[rimage.Protocol]string{rimage.Blocks: "▀", rimage.KittyCells: "\U0010eeee"} {
		s := painted(t, p)
		shown := func() int { return strings.Count(strings.Join(s.Draw(true, start), ""), cell) }
		rows := len(s.lines)
		if rows != 60 || shown() == 0 && p != rimage.Blocks { // half blocks of a picture without a colour are spaces
			t.Errorf("%v: %d lines, %d cells", p, rows, shown())
		}
		s.Last()
		s.draw()
		if s.top == 0 {
			t.Errorf("%v: it does not scroll", p)
		}
		if s.do("view-text"); shown() > 0 {
			t.Errorf("%v: the text shows %d cells of it", p, shown())
		}
	}
}

func TestEachLookIsPaintedOnce(t *testing.T) {
	s := painted(t, rimage.Blocks)
	s.TogglePhone()
	s.ToggleDark()
	look, ok := s.WantsPainting()
	if want := (browser.Look{Phone: true, Dark: true}); !ok || look != want {
		t.Fatalf("to be painted: %v, %v", look, ok)
	}
	ended := false
	s.AwaitPainting(start, func() { ended = true })
	s.now = start.Add(OpeningDelay)
	s.draw().See("Painting at 375 px, dark…")
	s.TogglePhone()
	if !ended {
		t.Error("what is not wanted any more is painted on")
	}
	s.paint(look, 375, 100)
	if len(s.painting.done) != 1 {
		t.Error("a picture in a look that is not shown any more was taken")
	}
	s.ToggleDark()
	if look, ok := s.WantsPainting(); ok {
		t.Errorf("painted again: %v", look)
	}
	s.read(welcome)
	if s.do("view-web"); len(s.painting.done) > 0 {
		t.Error("the next message has the pictures of the one before")
	}
}

func TestWhatCannotBePainted(t *testing.T) {
	s := painted(t, rimage.Blocks)
	s.ToggleDark()
	_, stop := context.WithCancel(t.Context())
	s.AwaitPainting(start, stop)
	s.ShowPainting(s.Generation, browser.Look{Dark: true}, browser.Picture{}, errors.New("no browser was found"))
	s.layout()
	s.draw().See("no browser was found", "r try again")
	if _, ok := s.WantsPainting(); ok {
		t.Error("it is tried again by itself")
	}
	if s.Repaint(); true {
		if _, ok := s.WantsPainting(); !ok {
			t.Error("it is not tried again")
		}
	}
}

// over is what is drawn over the last frame: "" for nothing.
func (s *scene) over(covered bool) string {
	switch m := run(s.Overlay(covered)).(type) {
	case DrawOver:
		if raw, ok := run(s.OnDraw(m)).(tea.RawMsg); ok {
			return raw.Msg.(string)
		}
	case nil:
	default:
		return "wiped"
	}
	return ""
}

func run(cmd tea.Cmd) tea.Msg {
	if cmd == nil {
		return nil
	}
	return cmd()
}

func TestAPictureDrawnOverTheCells(t *testing.T) {
	for p, sequence := range map[rimage.Protocol]string{rimage.ITerm2: "\x1b]1337;File=", rimage.Sixel: "\x1bP"} {
		s := painted(t, p)
		if got := s.over(false); !strings.HasPrefix(got, "\x1b7\x1b[8;3H"+sequence) || !strings.HasSuffix(got, "\x1b8") {
			t.Errorf("%v: drawn is %.60q", p, got)
		}
		if got := s.over(false); got != "" {
			t.Errorf("%v: drawn twice: %.60q", p, got)
		}
		s.Move(1)
		if got := s.over(false); !strings.HasPrefix(got, "\x1b7\x1b[7;3H"+sequence) {
			t.Errorf("%v: one line down, drawn is %.60q", p, got)
		}
		late := run(func() tea.Cmd { s.Move(1); return s.Overlay(false) }()).(DrawOver)
		s.Move(1)
		s.Overlay(false)
		if s.OnDraw(late) != nil {
			t.Errorf("%v: what was overtaken is drawn", p)
		}
		if got := s.over(true); got != "wiped" {
			t.Errorf("%v: below a dialog: %.60q", p, got)
		}
		if got := s.over(false); !strings.Contains(got, sequence) {
			t.Errorf("%v: after it: %.60q", p, got)
		}
		if s.do("view-rich"); s.over(false) != "wiped" {
			t.Errorf("%v: it stays in the rich view", p)
		}
	}
}
