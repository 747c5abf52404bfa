package reader

import (
	"context"
	"fmt"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/render/layout"
	"mayfly/ui/host"
	"mayfly/ui/theme"
)

// painting is the message as a browser renders it.
type painting struct {
	done  map[browser.Viewport]*painted // not nil while a message is open
	stop  context.CancelFunc            // stops the browser; nil while none works
	drawn drawn
	// garbage is set when tens of megabytes can be given back: the collector may not run for minutes.
	garbage bool
}

// rendered is what a browser rendered, or why it did not.
type painted struct {
	browser.Picture
	err error
}

// PaintingDone is the end of a painting.
type PaintingDone struct {
	generation uint64
	look       browser.Viewport
	painted    *painted
}

// Paint has the message rendered for the web view, unless it is or will be, and gives back what others took.
func (p *Pane) Paint(ctx context.Context, by *browser.Screenshotter, c *api.Client) (cmd tea.Cmd) {
	if p.garbage {
		p.garbage = false
		cmd = func() tea.Msg { host.FreeMemory(); return nil }
	}
	waits := p.Opened == nil || !p.rawSince.IsZero() || p.stop != nil
	if p.View != render.Web || waits || p.done[p.Look] != nil || p.imageMode.Protocol == image.Off {
		return cmd
	}
	ctx, p.stop = context.WithCancel(ctx)
	m, out := p.Opened, PaintingDone{p.Generation, p.Look, &painted{}}
	return tea.Batch(cmd, func() tea.Msg {
		out.painted.Picture, out.painted.err = by.Paint(ctx, c, m, out.look)
		by.Close() // it takes hundreds of megabytes
		return out
	})
}

// OnPainted takes what a browser rendered, unless the message was left.
func (p *Pane) OnPainted(m PaintingDone) {
	if p.garbage = true; m.generation == p.Generation {
		p.stop()
		p.stop, p.done[m.look] = nil, m.painted
	}
}

// Repaint has rendered again what could not be rendered.
func (p *Pane) Repaint() {
	maps.DeleteFunc(p.done, func(_ browser.Viewport, d *painted) bool { return d.err != nil })
}

// layOutPainting returns a function that lays out the web view, nil while there is nothing to show.
func (p *Pane) layOutPainting(k layoutKey) func() []render.Line {
	if k.painted == nil || k.painted.err != nil {
		return nil
	}
	dim := p.theme.Dim
	return func() []render.Line {
		lines := layout.Picture(k.picture(), k.options.Theme)
		if k.painted.Cut {
			text := fmt.Sprintf("Cut here, after %d px", k.painted.Rect.Dy())
			lines = append(lines, render.Line{Plain: text, Styled: dim.On(theme.Cut(text, k.options.Width))})
		}
		return lines
	}
}

func (k layoutKey) picture() image.Picture {
	return image.NewPicture(k.painted.RGBA, k.options.Width, k.options.Images)
}

// unpainted is row n on the screen of a web view that is not laid out.
func (p *Pane) unpainted(n int) string {
	switch d := p.done[p.Look]; {
	case d != nil && d.err != nil:
		return p.trouble(n, d.err)
	case n > 0 || d != nil:
		return ""
	case p.imageMode.Protocol == image.Off:
		return p.theme.Dim.On("This terminal cannot show images (no colours)")
	}
	return p.theme.Dim.On(fmt.Sprintf("Rendering at %d px…", p.Look.Width()))
}

// drawn is what is drawn over the cells of the screen, by a protocol that does so.
type drawn struct {
	picture         image.Picture
	x, y, row, rows int // row is that of the picture at the top; with no rows nothing is drawn
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
	before, at := p.drawn, drawn{}
	if k := p.key(); !covered && k.view == render.Web && k == p.laidOut && p.imageMode.Protocol.Placed() {
		picture, head := k.picture(), len(p.head())
		above, from := max(head-p.top, 0), max(p.top-head, 0)
		at = drawn{picture, p.Rect.X + 2, p.Rect.Y + p.Rect.Top() + above, from, min(p.textHeight()-above, picture.Rows-from)}
	}
	p.drawn = at
	switch {
	case at == before, at.rows+before.rows == 0:
		return nil
	case at.rows <= 0:
		return tea.ClearScreen
	}
	draw := tea.Tick(drawDelay, func(time.Time) tea.Msg {
		return DrawOver{at, ansi.SaveCursor + ansi.CursorPosition(at.x+1, at.y+1) + at.picture.Draw(at.row, at.rows).Sequence + ansi.RestoreCursor}
	})
	if before.rows > 0 && (at.picture != before.picture || at.rows < before.rows || at.y > before.y) {
		return tea.Sequence(tea.ClearScreen, draw)
	}
	return draw
}

// Redraw has the picture drawn again: the terminal may have lost it.
func (p *Pane) Redraw() { p.drawn.x = -1 }

// OnDraw draws a picture, unless the screen has changed since.
func (p *Pane) OnDraw(m DrawOver) tea.Cmd {
	if m.at != p.drawn {
		return nil
	}
	return tea.Raw(m.sequence)
}
