package reader

import (
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/browser"
	"mayfly/render"
	rimage "mayfly/render/image"
	"mayfly/ui/uitest"
)

// webView is the pane on a message in the browser's view, on a terminal with an ability, with a picture of 60 rows.
func webView(t *testing.T, p rimage.Protocol) *scene {
	s := open(t, 84, 24, welcome)
	s.SetLook(uitest.Theme(t), rimage.Mode{Protocol: p, Cell: rimage.Size{Width: 8, Height: 16}}, Hints{Retry: "r"})
	s.do("view-web")
	s.begin()
	s.end(640, 16*60, nil)
	return s
}

var nobody = &browser.Screenshotter{Command: "no-browser-in-tests"}

// begin has the message painted, and reports whether that was wanted.
func (s *scene) begin() bool {
	idle := s.stop == nil
	s.Paint(s.t.Context(), nobody, nil)
	return idle && s.stop != nil
}

// end ends what is being painted with a picture of a size, or an error.
func (s *scene) end(width, height int, err error) {
	picture := browser.Picture{RGBA: image.NewRGBA(image.Rect(0, 0, width, height)), Cut: height > 10_000}
	s.OnPainted(PaintingDone{s.Generation, s.Look, &painted{picture, err}})
	s.layout()
}

func TestAPictureIsAsTallAsTheMail(t *testing.T) {
	for p, cell := range map[rimage.Protocol]string{rimage.Blocks: "▀", rimage.KittyCells: "\U0010eeee"} {
		s := webView(t, p)
		shown := func() int { return strings.Count(strings.Join(s.Draw(true, start), ""), cell) }
		if len(s.lines) != 60 || shown() == 0 && p != rimage.Blocks { // half blocks of a picture without a colour are spaces
			t.Errorf("%v: %d lines, %d cells", p, len(s.lines), shown())
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

func TestAPictureThatIsCutSaysSo(t *testing.T) {
	s := webView(t, rimage.Blocks)
	s.Look.Phone = true
	s.begin()
	s.end(375, 12_000, nil)
	s.Last()
	s.draw().See("Cut here, after 12000 px")
}

func TestEachLookIsPaintedOnce(t *testing.T) {
	s := webView(t, rimage.Blocks)
	if s.begin() {
		t.Error("it is painted twice")
	}
	s.Move(20)
	top := s.top
	s.Look = browser.Viewport{Phone: true, Dark: true}
	if !s.begin() {
		t.Fatal("another look is not painted")
	}
	s.draw().See("Rendering at 375 px…")
	if s.begin() {
		t.Error("two browsers at a time")
	}
	s.end(375, 16*60, nil)
	if s.top != top {
		t.Errorf("the place is lost: %d is at the top, was %d", s.top, top)
	}
	s.Look = browser.Viewport{}
	if s.begin() {
		t.Error("a look is painted again")
	}
	s.read(welcome)
	if s.Paint(t.Context(), nobody, nil) == nil {
		t.Error("the memory of the pictures is not given back")
	}
	s.do("view-web")
	if !s.begin() {
		t.Error("the next message has the pictures of the one before")
	}
}

// TestLeavingAMessageEndsItsBrowser leaves it while the browser works.
func TestLeavingAMessageEndsItsBrowser(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "browser")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n: >"+dir+"/started\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	by := &browser.Screenshotter{Command: script}
	if _, err := by.Browser(); err != nil {
		t.Skip("the browser of this test is a shell script")
	}
	s := open(t, 84, 24, welcome)
	s.do("view-web")
	cmd, ended := s.Paint(t.Context(), by, nil), make(chan tea.Msg)
	go func() { ended <- cmd() }()
	for {
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			break
		}
	}
	s.Close()
	m := (<-ended).(PaintingDone)
	if !errors.Is(m.painted.err, context.Canceled) {
		t.Errorf("the browser ended with %v", m.painted.err)
	}
	s.read(welcome)
	s.do("view-web")
	if s.OnPainted(m); len(s.done) > 0 {
		t.Error("what was painted of a message that was left is shown")
	}
}

func TestWhatCannotBePainted(t *testing.T) {
	s := webView(t, rimage.Blocks)
	s.Look.Dark = true
	s.begin()
	s.end(640, 100, errors.New("no browser was found"))
	s.draw().See("no browser was found", "r try again")
	if s.begin() {
		t.Error("it is tried again by itself")
	}
	s.Repaint()
	if !s.begin() {
		t.Error("it is not tried again")
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
		s := webView(t, p)
		if got := s.over(false); !strings.HasPrefix(got, "\x1b7\x1b[7;3H"+sequence) || !strings.HasSuffix(got, "\x1b8") {
			t.Errorf("%v: drawn is %.60q", p, got)
		}
		if got := s.over(false); got != "" {
			t.Errorf("%v: drawn twice: %.60q", p, got)
		}
		s.Redraw()
		if got := s.over(false); !strings.HasPrefix(got, "\x1b7\x1b[7;3H"+sequence) {
			t.Errorf("%v: after another program had the terminal, drawn is %.60q", p, got)
		}
		s.Move(1)
		if got := s.over(false); !strings.HasPrefix(got, "\x1b7\x1b[6;3H"+sequence) {
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
		if s.Redraw(); s.over(false) != "" {
			t.Errorf("%v: what shows no picture is wiped", p)
		}
	}
}

func TestAwayThereIsNoWebView(t *testing.T) {
	p := &Pane{Away: true, View: render.Checks}
	if p.NextView(); p.View != render.Rich {
		t.Errorf("after the checks comes %s", Views[p.View])
	}
	if names := p.tabNames(); slices.Contains(names, Views[render.Web]) {
		t.Errorf("the views are %q", names)
	}
}
