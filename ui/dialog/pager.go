package dialog

import (
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
)

// Pager scrolls over lines with keys and the wheel.
type Pager struct{ view viewport.Model }

// NewPager returns a pager without lines.
func NewPager() Pager { return Pager{viewport.New()} }

// SetLines replaces the lines and goes to the first.
func (p *Pager) SetLines(lines []string) {
	p.view.SetContentLines(lines)
	p.view.GotoTop()
}

// Fit makes room for h lines; the first of them stays the first where the others allow it.
func (p *Pager) Fit(h int) {
	p.view.SetHeight(h)
	p.view.SetYOffset(p.view.YOffset())
}

// Update scrolls, and says whether msg was meant for it.
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

// Visible is the range of the lines on the screen: the first, and the one after the last.
func (p *Pager) Visible() (from, to int) {
	from = p.view.YOffset()
	return from, min(from+p.view.Height(), p.view.TotalLineCount())
}

// Scrolls says that there are more lines than are on the screen.
func (p *Pager) Scrolls() bool { return p.view.TotalLineCount() > p.view.Height() }
