package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/render"
)

const wheelRows = 3

// mouse turns what the mouse does into what keys do.
func (a *app) mouse(msg tea.MouseMsg) tea.Cmd {
	if a.lay.TooSmall {
		return nil
	}
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		if o := a.top(); o != nil {
			return a.carry(o.update(msg))
		}
		return a.wheel(m)
	case tea.MouseMotionMsg:
		a.drag(m.X)
	case tea.MouseReleaseMsg:
		a.split.dragging = 0
		a.caps.refocused = false
	case tea.MouseClickMsg:
		if a.caps.refocused {
			a.caps.refocused = false // the click that brings the window back does nothing else
			return nil
		}
		if o := a.top(); o != nil {
			return a.clickOverlay(o, m)
		}
		if m.Button == tea.MouseLeft {
			return a.click(m)
		}
	}
	return nil
}

// clicked is an overlay whose rows can be clicked.
type clicked interface{ click(row int) intent }

// clickOverlay gives a click to the overlay; beside it, it closes it.
func (a *app) clickOverlay(o overlay, m tea.Mouse) tea.Cmd {
	rows := o.draw(a.th, a.width, a.height)
	x, y, w := placed(rows, a.width, a.height)
	switch c, ok := o.(clicked); {
	case m.Button != tea.MouseLeft:
	case m.X < x || m.X >= x+w || m.Y < y || m.Y >= y+len(rows):
		a.pop()
	case ok:
		return a.carry(c.click(m.Y - y))
	}
	return nil
}

func (a *app) wheel(m tea.Mouse) tea.Cmd {
	n := wheelRows
	switch m.Button {
	case tea.MouseWheelUp:
		n = -n
	case tea.MouseWheelDown:
	default:
		return nil
	}
	pane, ok := a.lay.At(m.X, m.Y)
	switch {
	case !ok:
	case pane == paneInboxes:
		a.inboxes.list.Scroll(n)
	case pane == paneMessages:
		a.messages.list.Scroll(n)
	default:
		a.reader.scroll(n)
	}
	return nil
}

func (a *app) click(m tea.Mouse) tea.Cmd {
	if d, ok := a.lay.Divider(m.X, m.Y); ok {
		a.split.dragging = d + 1
		if a.lay.Panes[paneInboxes].Empty() {
			a.split.dragging = 2
		}
		return nil
	}
	if m.Y == a.lay.Footer.Y {
		return a.clickHint(m.X)
	}
	pane, ok := a.lay.At(m.X, m.Y)
	if !ok {
		return nil
	}
	a.stopTyping()
	switch pane {
	case paneInboxes:
		a.focus = paneInboxes
		if id := a.inboxes.hit(m.Y); id != "" {
			a.inboxes.list.Select(id)
			return a.moved()
		}
	case paneMessages:
		a.focus = paneMessages
		if key := a.messages.hit(m.Y); key != "" {
			a.messages.list.Select(key)
			return a.openMessage(a.messages.selected())
		}
	case paneReader:
		if a.reader.reading() {
			a.focus = paneReader
			return a.clickReader(m)
		}
	}
	return nil
}

// clickReader takes a link or the name of a view under the mouse.
func (a *app) clickReader(m tea.Mouse) tea.Cmd {
	r := a.reader
	x := m.X - r.rect.X - 2
	if r.tabsShown() && m.Y == r.rect.Y+r.rect.H-1 {
		if !r.tabsFit() {
			return a.nextView()
		}
		if v, ok := r.tabAt(x); ok {
			return a.showView(v)
		}
		return nil
	}
	if _, line := r.lineAt(m.Y); line != nil && r.opened != nil {
		for _, l := range line.Links {
			if x >= l.Col && x < l.Col+l.Width {
				return a.askOpen(linkNumbered(r.opened.mail.Links(), l.N))
			}
		}
	}
	return nil
}

// linkNumbered finds a link of a mail; its zero value is no link.
func linkNumbered(links []render.Link, n int) render.Link {
	for _, l := range links {
		if l.N == n {
			return l
		}
	}
	return render.Link{}
}
