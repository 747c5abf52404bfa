package reader

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/theme"
)

// maxTextWidth is the longest line, in cells, that is comfortable to read.
const maxTextWidth = 100

// bigBody is the size in bytes above which a body is laid out in the background.
const bigBody = 48 << 10

// OpeningDelay is how long opening may take before the pane mentions it.
const OpeningDelay = 150 * time.Millisecond

// layoutKey is what the lines of a body depend on.
type layoutKey struct {
	generation uint64
	view       render.View
	raw        bool
	options    render.Options
}

// Laid is the result of a layout in the background.
type Laid struct {
	key   layoutKey
	lines []render.Line
}

// Fit gives the pane its place on the screen.
func (p *Pane) Fit(r theme.Rect) {
	p.Rect = r
	p.clamp()
}

func (p *Pane) key() layoutKey {
	k := layoutKey{generation: p.Generation, view: p.View, options: render.Options{
		Width: max(1, p.Rect.W-4), Theme: p.theme.Render(), Hidden: p.hidden, Unfold: p.unfold, HiddenKey: p.hints.Hidden,
	}}
	switch p.View {
	case render.Rich, render.Text, render.Checks:
		k.options.Width = min(k.options.Width, maxTextWidth)
	case render.HTML:
		k.options.Width = max(1, k.options.Width-p.gutter())
	}
	if p.Opened != nil {
		k.raw = p.Opened.Raw != nil
		if p.showImages && p.View == render.Rich {
			k.options.Images = p.imageMode
		}
	}
	return k
}

// Prepare returns a function that lays out a message while it is being fetched, so that its first
// frame is complete. The function may be called from another goroutine. While the pane is hidden,
// its width is unknown and the function does nothing.
func (p *Pane) Prepare() func(*render.Mail) {
	if p.Rect.Empty() {
		return func(*render.Mail) {}
	}
	p.ready = p.key()
	k := p.ready
	return func(m *render.Mail) { m.Lines(k.view, k.options) }
}

// Layout updates the lines for the current size, view and theme.
func (p *Pane) Layout() tea.Cmd {
	if p.Rect.Empty() || p.Opened == nil {
		return nil
	}
	k, m := p.key(), p.Opened.Mail()
	small := len(p.Opened.Text)+len(p.Opened.HTML)+len(p.Opened.Raw) <= bigBody && k.options.Images.Protocol == image.Off
	switch ready := p.ready; {
	case p.laidOut == k:
	case small, ready.generation == k.generation && ready.view == k.view && ready.options == k.options:
		return p.put(Laid{k, m.Lines(k.view, k.options)})
	case p.laying != k:
		p.laying = k
		return func() tea.Msg { return Laid{k, m.Lines(k.view, k.options)} }
	}
	return nil
}

// Take shows the result of a layout in the background, unless it is stale.
func (p *Pane) Take(m Laid) tea.Cmd {
	if m.key != p.key() { // another layout may be under way
		if m.key == p.laying {
			p.laying = layoutKey{}
		}
		return nil
	}
	if cmd, ok := p.images.send(m); ok {
		return cmd
	}
	p.laying = layoutKey{}
	return p.put(m)
}

// put shows lines and keeps the place in the text.
func (p *Pane) put(m Laid) tea.Cmd {
	at, same := p.places[m.key.view], p.laidOut.view == m.key.view && p.laidOut.generation == m.key.generation
	if same {
		at = p.here()
	}
	p.lines, p.laidOut, p.ready = m.lines, m.key, layoutKey{}
	if at != (place{}) {
		p.top = len(p.head()) + p.lineOf(at)
	}
	p.search.In(len(m.lines), func(n int) string { return m.lines[n].Plain })
	if !same {
		p.search.From(p.top - len(p.head()))
	}
	p.findWanted()
	p.seek()
	p.clamp()
	return p.images.release(m.lines)
}
