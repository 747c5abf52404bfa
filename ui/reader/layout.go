package reader

import (
	"slices"
	"strings"
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
	raw, asked bool // the raw message is here, and its delivery details
	options    render.Options
	painted    *painted // for the web view
}

// LayoutDone is the result of a layout in the background.
type LayoutDone struct {
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
	case render.Rich, render.Text:
		k.options.Width = min(k.options.Width, maxTextWidth)
	case render.HTML:
		k.options.Width = max(1, k.options.Width-p.gutter())
	case render.Web:
		k.options.Images, k.painted = p.imageMode, p.done[p.Look]
	}
	if p.Opened != nil {
		k.raw, k.asked = p.Opened.Raw != nil, p.Opened.Delivery != nil
		if p.showImages && p.View == render.Rich {
			if k.options.Images = p.imageMode; p.imageMode.Protocol.Placed() { // only cells stand between lines
				k.options.Images = image.Mode{Protocol: image.Blocks}
			}
		}
	}
	return k
}

// Prepare returns a function that lays out a message as it is fetched, also in another goroutine.
// While the pane is hidden, it does nothing.
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
	lay := func() []render.Line { return m.Lines(k.view, k.options) }
	if k.view == render.Web {
		lay, small = p.layOutPainting(k), false
	}
	switch ready := p.ready; {
	case lay == nil:
	case p.laidOut == k:
		p.findPending()
	case small, ready.generation == k.generation && ready.view == k.view && ready.options == k.options:
		return p.setLines(LayoutDone{k, lay()})
	case p.laying != k:
		p.laying = k
		return func() tea.Msg { return LayoutDone{k, lay()} }
	}
	return nil
}

// ApplyLayout shows the result of a layout in the background, unless it is stale.
func (p *Pane) ApplyLayout(m LayoutDone) tea.Cmd {
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
	return p.setLines(m)
}

// setLines shows lines and keeps the place in the text.
func (p *Pane) setLines(m LayoutDone) tea.Cmd {
	at, same := p.left[m.key.view], p.laidOut.view == m.key.view && p.laidOut.generation == m.key.generation
	if same {
		at = p.position()
	}
	p.lines, p.laidOut, p.ready = m.lines, m.key, layoutKey{}
	if at != (position{}) {
		p.top = len(p.head()) + p.lineOf(at)
	}
	p.search.In(len(m.lines), func(n int) string { return m.lines[n].Plain })
	if !same {
		p.search.From(p.top - len(p.head()))
	}
	p.findPending()
	if len(p.findings()) > 0 {
		p.selectCheck(0)
	}
	p.seek()
	p.clamp()
	return p.images.release(m.lines)
}

// position is a place in a text, the same at every width: bytes into a block.
type position struct{ block, offset int }

// position is the place at the top of the screen; the zero value while the head is.
func (p *Pane) position() position {
	n := p.top - len(p.head())
	if n <= 0 || n >= len(p.lines) {
		return position{}
	}
	if p.lines[n].Plain == "" && n+1 < len(p.lines) { // what is read begins below it
		n++
	}
	return position{p.lines[n].Block, p.lines[n].Offset}
}

// lineOf is the line with a place: the last that begins before it, or that of a later block if it is folded.
func (p *Pane) lineOf(at position) int {
	best, later := -1, -1
	for n := range p.lines {
		switch l := &p.lines[n]; {
		case l.Block == at.block && l.Offset <= at.offset:
			if best < 0 || l.Offset > p.lines[best].Offset {
				best = n
			}
		case l.Block > at.block && later < 0:
			later = n
		}
	}
	switch {
	case best >= 0:
		return best
	case later >= 0:
		return later
	}
	return max(0, len(p.lines)-1)
}

// images tracks the images that the terminal holds. Half blocks are ordinary cells; a terminal that
// supports kitty's placeholders is sent the pixels before the placeholders are drawn.
type images struct {
	of      *render.Mail // whose images are decoded; released when they leave the screen
	held    []uint32     // the images that the terminal holds
	sending string       // being sent to the terminal; laid is shown once it has arrived
	laid    LayoutDone
}

// TidyImages frees the images that are no longer on the screen.
func (p *Pane) TidyImages() tea.Cmd {
	var shown *render.Mail
	if p.showImages && p.Opened != nil {
		shown = p.Opened.Mail()
	}
	if old := p.images.of; old != nil && old != shown {
		old.ForgetImages()
	}
	p.images.of = shown
	if shown != nil || p.View == render.Web {
		return nil
	}
	return p.images.release(nil)
}

// Quit stops the program, and frees the terminal's images first.
func (p *Pane) Quit() tea.Cmd {
	if release := p.images.release(nil); release != nil {
		return tea.Sequence(release, tea.Quit)
	}
	return tea.Quit
}

// release makes the terminal forget the images that lines do not show.
func (i *images) release(lines []render.Line) tea.Cmd {
	var b strings.Builder
	i.held = slices.DeleteFunc(i.held, func(id uint32) bool {
		if slices.ContainsFunc(lines, func(l render.Line) bool { return l.ImageID == id }) {
			return false
		}
		b.WriteString(image.Forget(id))
		return true
	})
	if b.Len() == 0 {
		return nil
	}
	return tea.Raw(b.String())
}

// send sends the images of lines that the terminal does not hold yet, and reports whether there were any.
func (i *images) send(m LayoutDone) (tea.Cmd, bool) {
	var b strings.Builder
	for n := range m.lines {
		if l := &m.lines[n]; l.ImageID > 0 && !slices.Contains(i.held, l.ImageID) {
			i.held = append(i.held, l.ImageID)
			b.WriteString(l.Draw)
		}
	}
	if b.Len() == 0 {
		return nil, false
	}
	i.sending, i.laid = b.String(), m
	return tea.Raw(i.sending), true
}

// OnRaw shows the lines whose images have now reached the terminal.
func (p *Pane) OnRaw(m tea.RawMsg) tea.Cmd {
	if sent, ok := m.Msg.(string); !ok || sent != p.images.sending || sent == "" {
		return nil
	}
	laid := p.images.laid
	p.images.sending, p.images.laid = "", LayoutDone{}
	return p.ApplyLayout(laid)
}
