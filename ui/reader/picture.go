package reader

import (
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/browser"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/render/layout"
)

// painting is the message as a browser paints it.
type painting struct {
	look  browser.Look // that is shown, of this message and the next
	done  map[browser.Look]browser.Picture
	err   error
	since time.Time          // when it began; zero while nothing is painted
	stop  context.CancelFunc // of what is being painted
	drawn drawn
}

// NeedPainted is why the message is not shown as a browser paints it; key shows it so.
func (p *Pane) NeedPainted(key string) string {
	if p.View != render.Web {
		return "Only what a browser paints has that: " + key + " shows it"
	}
	return ""
}

// TogglePhone changes between the widths of a desktop and of a phone.
func (p *Pane) TogglePhone() { p.repaint(func(l *browser.Look) { l.Phone = !l.Phone }) }

// ToggleDark changes between light and dark colours.
func (p *Pane) ToggleDark() { p.repaint(func(l *browser.Look) { l.Dark = !l.Dark }) }

// Repaint paints anew what could not be painted.
func (p *Pane) Repaint() { p.painting.err = nil }

func (p *Pane) repaint(change func(*browser.Look)) {
	p.stopPainting()
	change(&p.painting.look)
	p.painting.err = nil
}

func (p *Pane) stopPainting() {
	if p.painting.stop != nil {
		p.painting.stop()
	}
	p.painting.stop, p.painting.since = nil, time.Time{}
}

// WantsPainting returns the look in which the message is to be painted, and false while it need not be.
func (p *Pane) WantsPainting() (browser.Look, bool) {
	t := &p.painting
	_, done := t.done[t.look]
	waits := p.View != render.Web || p.Opened == nil || !p.rawSince.IsZero() || p.imageMode.Protocol == image.Off
	return t.look, !waits && !done && t.err == nil && t.since.IsZero()
}

// AwaitPainting records that the message is being painted, which stop ends.
func (p *Pane) AwaitPainting(now time.Time, stop context.CancelFunc) {
	p.painting.since, p.painting.stop = now, stop
}

// ShowPainting shows what was painted of the message with a generation, or why nothing was.
func (p *Pane) ShowPainting(generation uint64, look browser.Look, picture browser.Picture, err error) {
	t := &p.painting
	if generation != p.Generation || look != t.look {
		return
	}
	p.stopPainting()
	if t.err = err; err != nil {
		return
	}
	if t.done == nil {
		t.done = map[browser.Look]browser.Picture{}
	}
	t.done[look] = picture
}

// layOut returns a function that lays out a view, nil if what it shows is not there yet.
func (p *Pane) layOut(k layoutKey) func() []render.Line {
	m := p.Opened.Mail()
	if k.view != render.Web {
		return func() []render.Line { return m.Lines(k.view, k.options) }
	}
	done, ok := p.painting.done[k.look]
	if !ok {
		return nil
	}
	return func() []render.Line {
		return layout.Picture(image.NewPicture(done.Image, k.options.Width, k.options.Images), k.options.Theme, k.options.Images.Protocol.Placed())
	}
}

// unpainted is row n of a view that a browser has not painted yet.
func (p *Pane) unpainted(n int, now time.Time) string {
	t := &p.painting
	switch {
	case p.imageMode.Protocol == image.Off && n == 0:
		return p.theme.Dim.On("This terminal has no colours to draw images with")
	case t.err != nil:
		return p.trouble(n, t.err)
	case n == 0 && !t.since.IsZero() && now.Sub(t.since) >= OpeningDelay:
		return p.theme.Dim.On("Painting at " + t.look.String() + "…")
	}
	return ""
}

// paintedNotices say what the picture is not.
func (p *Pane) paintedNotices() []string {
	var rows []string
	if p.imageMode.Protocol == image.Blocks {
		rows = append(rows, "half blocks: a terminal with kitty's, iTerm2's or sixel images shows the letters")
	}
	if done := p.painting.done[p.painting.look]; done.Cut {
		rows = append(rows, "the first "+strconv.Itoa(done.Image.Rect.Dy())+" px: the message is taller")
	}
	return rows
}

// drawn is what was last drawn over the cells of the screen, by a protocol that does so.
type drawn struct {
	picture *image.Picture
	key     layoutKey
	row     int // of the picture, at the top
	x, y    int
	rows    int // none: nothing is drawn
}

// drawDelay is how long after a frame its picture is drawn: the cells below have then been written.
const drawDelay = 40 * time.Millisecond

// DrawOver is the picture that is to be drawn over the last frame.
type DrawOver struct {
	at       drawn
	sequence string
}

// Overlay draws the rows of a picture that are in view over their cells, if the terminal has no other way to show
// it. With covered, something else is there. What was drawn before and is no longer in view is wiped.
func (p *Pane) Overlay(covered bool) tea.Cmd {
	at := drawn{}
	if p.pictureMode.Protocol.Placed() && !covered && p.laidOut.view == render.Web && p.View == render.Web && p.laidOut == p.key() {
		at = p.overlay()
	}
	before := p.painting.drawn
	if at.key == before.key {
		at.picture = before.picture
	} else if at.rows > 0 {
		at.picture = image.NewPicture(p.painting.done[at.key.look].Image, at.key.options.Width, at.key.options.Images)
	}
	if at == before {
		return nil
	}
	p.painting.drawn = at
	if at.rows == 0 {
		return tea.ClearScreen
	}
	draw := tea.Tick(drawDelay, func(time.Time) tea.Msg {
		return DrawOver{at, ansi.SaveCursor + ansi.CursorPosition(at.x+1, at.y+1) + at.picture.Draw(at.row, at.row+at.rows).Sequence + ansi.RestoreCursor}
	})
	if before.rows > 0 && (at.key != before.key || at.rows < before.rows || at.y > before.y) {
		return tea.Sequence(tea.ClearScreen, draw)
	}
	return draw
}

// overlay is where the rows of the picture are that are in view.
func (p *Pane) overlay() drawn {
	above := max(len(p.head())-p.top, 0) // rows of the head
	from := max(p.top-len(p.head()), 0)
	return drawn{key: p.laidOut, row: from, x: p.Rect.X + 2, y: p.Rect.Y + p.Rect.Top() + above, rows: min(p.textHeight()-above, len(p.lines)-from)}
}

// OnDraw draws a picture, unless the screen has changed since.
func (p *Pane) OnDraw(m DrawOver) tea.Cmd {
	if m.at != p.painting.drawn {
		return nil
	}
	return tea.Raw(m.sequence)
}
