package reader

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/render/image"
)

// images tracks the images that the terminal holds. Half blocks are ordinary cells; a terminal that
// supports kitty's placeholders is sent the pixels before the placeholders are drawn.
type images struct {
	of      *render.Mail // whose images are decoded; released when they leave the screen
	held    []uint32     // the images that the terminal holds
	sending string       // being sent to the terminal; laid is shown once it has arrived
	laid    Laid
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
	if shown != nil {
		return nil
	}
	return p.images.release(nil)
}

// Quit ends the program, and frees the terminal's images first.
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

// send sends the terminal the images that lines show by placeholders and it does not hold yet, and
// reports whether there were any.
func (i *images) send(m Laid) (tea.Cmd, bool) {
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
	p.images.sending, p.images.laid = "", Laid{}
	return p.Take(laid)
}
