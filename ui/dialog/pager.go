package dialog

import (
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
)

// Pager scrolls lines with keys and the wheel.
type Pager struct{ view viewport.Model }

// NewPager returns an empty pager.
func NewPager() Pager { return Pager{viewport.New()} }

// SetLines replaces the lines and scrolls to the top.
func (p *Pager) SetLines(lines []string) {
	p.view.SetContentLines(lines)
	p.view.GotoTop()
}

// Fit sets the height to h lines. The first visible line stays in place if it can.
func (p *Pager) Fit(h int) {
	p.view.SetHeight(h)
	p.view.SetYOffset(p.view.YOffset())
}

// Update scrolls, and reports whether msg was a key or wheel event that scrolls.
func (p *Pager) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		p.view, _ = p.view.Update(msg)
		return true
	case tea.KeyPressMsg:
		return p.key(msg.String())
	}
	return false
}

func (p *Pager) key(name string) bool {
	switch name {
	case "j", "down":
		p.view.ScrollDown(1)
	case "k", "up":
		p.view.ScrollUp(1)
	case "pgdown", "space", "ctrl+d", "ctrl+f":
		p.view.PageDown()
	case "pgup", "ctrl+u", "ctrl+b":
		p.view.PageUp()
	case "g", "home":
		p.view.GotoTop()
	case "G", "end":
		p.view.GotoBottom()
	default:
		return false
	}
	return true
}

// Show scrolls to line n unless it is on the screen.
func (p *Pager) Show(n int) { p.view.EnsureVisible(n, 0, 0) }

// Visible is the range of visible lines, the end excluded.
func (p *Pager) Visible() (from, to int) {
	from = p.view.YOffset()
	return from, min(from+p.view.Height(), p.view.TotalLineCount())
}

// scrolls reports whether there are more lines than fit.
func (p *Pager) scrolls() bool { return p.view.TotalLineCount() > p.view.Height() }
