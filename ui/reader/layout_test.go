package reader

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/message"
	rimage "mayfly/render/image"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

// firstParagraph is the number of the first paragraph that begins on the screen.
func (s *scene) firstParagraph() int {
	s.t.Helper()
	for _, row := range s.draw().Rows {
		var n int
		if _, err := fmt.Sscanf(strings.TrimSpace(row), "Paragraph %d", &n); err == nil {
			return n
		}
	}
	s.t.Fatalf("no paragraph begins on the screen:\n%s", s.draw())
	return 0
}

func TestThePlaceIsKept(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", Text: paragraphs(400)})
	s.send(uitest.Page(40))
	want := s.firstParagraph()
	for _, w := range []int{100, 30, 45, 200, 60} {
		s.fit(w, 20)
		if got := s.firstParagraph(); got != want && got != want-1 { // the one before is read on
			t.Errorf("%d cells wide it begins with paragraph %d, and before with %d", w, got, want)
		}
	}
	s.fit(60, 10)
	s.send(uitest.Last)
	s.fit(60, 60)
	s.draw().DontSee("↓")
	s.draw().See("Paragraph 390", "Paragraph 399")
	want = s.firstParagraph()
	if s.do("view-text"); s.firstParagraph() != 0 {
		t.Errorf("another view begins with paragraph %d", s.firstParagraph())
	}
	if s.do("view-rich"); s.firstParagraph() != want {
		t.Errorf("left at paragraph %d the view begins with %d", want, s.firstParagraph())
	}
	s.send(uitest.Page(9))
	s.read(api.Message{ID: "2", Text: paragraphs(400)})
	if got := s.firstParagraph(); got != 0 {
		t.Errorf("the next message begins with paragraph %d", got)
	}
}

func TestALargeBodyIsLaidOutBesideTheFrames(t *testing.T) {
	m := api.Message{ID: "1", Text: paragraphs(1000)}
	s := open(t, 60, 20, api.Message{})
	s.await(m)
	s.Show(message.New("a", m))
	first := s.Layout()
	if first == nil || s.Layout() != nil {
		t.Fatal("its layout is not one command")
	}
	s.draw().DontSee("Paragraph")
	s.Fit(theme.Rect{W: 40, H: 20})
	second := s.Layout()
	s.run(first)
	s.draw().DontSee("Paragraph")
	s.run(second)
	s.draw().See("Paragraph 000 is one")
	s.Close()
	s.run(s.Layout())
	s.run(func() tea.Msg { return second() }) // too late
	s.draw().DontSee("Paragraph")
}

// illustrated is a message with an image in it, and one in a part of it.
func illustrated(t *testing.T) api.Message {
	m := image.NewRGBA(image.Rect(0, 0, 160, 80))
	for i := range m.Pix {
		m.Pix[i] = []uint8{30, 160, 70, 255}[i%4]
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return api.Message{
		ID: "1", HTML: `<p>Hills</p><img alt="Noon" src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(b.Bytes()) + `">`,
	}
}

// gallery is the pane on a message with an image, on a terminal with so much of an ability.
func gallery(t *testing.T, p rimage.Protocol) *scene {
	s := open(t, 60, 24, api.Message{})
	s.SetLook(uitest.Theme(t), rimage.Mode{Protocol: p, Cell: rimage.Size{Width: 10, Height: 20}}, Hints{Images: "i"})
	s.read(illustrated(t))
	return s
}

func TestImages(t *testing.T) {
	for p, cell := range map[rimage.Protocol]string{rimage.Blocks: "▀", rimage.KittyCells: "\U0010eeee"} {
		s := gallery(t, p)
		shown := func() int {
			return strings.Count(strings.Join(s.Draw(true, start), ""), cell)
		}
		s.draw().See("1 image: i shows it", "Noon")
		for _, c := range []struct {
			what  string
			do    func()
			cells bool
			sends string // what the terminal is sent
		}{
			{"shown", func() { s.do("images") }, true, "\x1b_G"},
			{"as large, elsewhere", func() { s.fit(59, 24) }, true, ""},
			{"in the text view", func() { s.do("view-text") }, false, "\x1b_Ga=d"},
			{"and back", func() { s.do("view-rich") }, true, "\x1b_G"},
			{"hidden", func() { s.do("images") }, false, "\x1b_Ga=d"},
			{"shown again", func() { s.do("images") }, true, "\x1b_G"},
			{"closed", func() { s.Close(); s.run(s.TidyImages()) }, false, "\x1b_Ga=d"},
		} {
			s.raw = nil
			c.do()
			sent := strings.Join(s.raw, "")
			if p == rimage.Blocks {
				c.sends = ""
			}
			if (shown() > 0) != c.cells || !strings.HasPrefix(sent, c.sends) || (sent == "") != (c.sends == "") {
				t.Errorf("%s: %d cells, sent %.60q", c.what, shown(), sent)
			}
			if strings.Contains(c.sends, "a=d") && len(s.images.held) > 0 || c.cells && (len(s.images.held) > 0) != (p == rimage.KittyCells) {
				t.Errorf("%s: the terminal holds %d images", c.what, len(s.images.held))
			}
		}
	}
}

func TestThePixelsComeBeforeTheirCells(t *testing.T) {
	s := gallery(t, rimage.KittyCells)
	s.act("images")
	s.run(s.TidyImages())
	raw := s.ApplyLayout(s.Layout()().(LayoutDone))
	if raw == nil {
		t.Fatal("the terminal is sent nothing")
	}
	s.draw().See("Noon")
	s.OnRaw(tea.RawMsg{Msg: "another sequence"})
	s.draw().See("Noon")
	s.OnRaw(raw().(tea.RawMsg))
	if got := strings.Join(s.Draw(true, start), ""); !strings.Contains(got, "\U0010eeee") {
		t.Error("the image is not shown")
	}
	if s.OnRaw(raw().(tea.RawMsg)) != nil {
		t.Error("a sequence that comes twice does something")
	}
	if msg := fmt.Sprintf("%T", s.Quit()()); !strings.Contains(msg, "sequence") {
		t.Errorf("at the end the terminal keeps the image: %s", msg)
	}
	if _, ok := (&Pane{}).Quit()().(tea.QuitMsg); !ok {
		t.Error("without images the end is no end")
	}
}

func TestAnOvertakenLayoutIsMadeAgain(t *testing.T) {
	for _, between := range [][2]string{{"images", "images"}, {"view-text", "view-rich"}} {
		s := gallery(t, rimage.Blocks)
		run := func(id string) tea.Cmd {
			s.act(id)
			s.run(s.TidyImages())
			return s.Layout()
		}
		late := run("images")
		s.run(run(between[0]))
		s.run(late)
		s.run(run(between[1]))
		if got := strings.Join(s.Draw(true, start), ""); !strings.Contains(got, "▀") {
			t.Errorf("after %s the image is not shown:\n%s", between, s.draw())
		}
	}
}
