package ui

import (
	"strings"

	"mayfly/api/watch"
	"mayfly/ui/cell"
	"mayfly/ui/layout"
)

// frame draws the whole screen: exactly height rows of exactly width cells.
func (a *app) frame() string {
	if a.width <= 0 || a.height <= 0 {
		return ""
	}
	if a.lay.TooSmall {
		return strings.Join(a.tooSmall(), "\n")
	}
	rows := make([]string, a.height)
	rows[a.lay.Header.Y] = a.header()
	rows[a.lay.Footer.Y] = a.footer()
	a.drawPanes(rows)
	for n, y := range a.lay.Rules {
		rows[y] = a.rule(n == 0)
	}
	for _, o := range a.overlay {
		if l, ok := o.(*labels); ok {
			l.over(a, rows)
			continue
		}
		placeOver(rows, o.draw(a.th, a.width, a.height), a.width)
	}
	return strings.Join(rows, "\n")
}

func (a *app) drawPanes(rows []string) {
	var columns [][]string
	for p, r := range a.lay.Panes {
		if r.Empty() {
			continue
		}
		focused := a.focus == layout.Pane(p) && a.top() == nil
		var col []string
		switch layout.Pane(p) {
		case paneInboxes:
			col = a.inboxes.draw(a.th, a.now, focused)
		case paneMessages:
			col = a.messages.draw(a.th, a.now, focused, a.emptyText(r))
		default:
			col = a.reader.draw(focused, a.idleText(r), a.now)
		}
		columns = append(columns, col)
	}
	edge := a.th.Faint.On("│")
	top := a.lay.Header.H + min(1, len(a.lay.Rules))
	for y := range columns[0] {
		parts := make([]string, len(columns))
		for n, col := range columns {
			parts[n] = col[y]
		}
		rows[top+y] = strings.Join(parts, edge)
	}
}

// rule is a horizontal line that meets the vertical ones.
func (a *app) rule(top bool) string {
	joint := "┴"
	if top {
		joint = "┬"
	}
	var b strings.Builder
	from := 0
	for _, d := range a.lay.Dividers {
		b.WriteString(strings.Repeat("─", d-from) + joint)
		from = d + 1
	}
	b.WriteString(strings.Repeat("─", a.width-from))
	return a.th.Faint.On(b.String())
}

// header says which service, and how it is.
func (a *app) header() string {
	th := a.th
	left := " " + (th.Accent + "\x1b[1m").On("mayfly")
	if a.lay.Columns == 1 {
		left = " " + a.path(a.width >= roomyPath)
	} else if a.session != nil {
		left += "  " + th.Text.On(a.session.conn.Name)
		if s := a.session.conn.SMTPAddr; s != "" {
			left += th.Dim.On(" · SMTP ") + th.Text.On(s)
		}
	}
	parts := a.vitals()
	right := ""
	for n := range parts {
		// What says least goes first when there is no room.
		try := strings.Join(parts[n:], th.Faint.On(" · ")) + " "
		if cell.Width(left)+cell.Width(try)+2 <= a.width || n == len(parts)-1 {
			right = try
			break
		}
	}
	return cell.Spread(left, right, a.width)
}

// roomyPath is the width from which the path begins with the name of the program.
const roomyPath = 30

// path is where one is when only one pane is shown.
func (a *app) path(named bool) string {
	th := a.th
	parts := []string{"Inboxes"}
	if a.focus != paneInboxes {
		name := "All"
		if i := a.book.inboxes[a.messages.inbox]; i != nil {
			name = i.name()
		}
		parts = append(parts, cell.Steady(name))
	}
	if a.focus == paneReader && a.reader.message != nil {
		parts = append(parts, cell.Steady(a.reader.message.subject))
	}
	last := len(parts) - 1
	if last == 0 && named {
		return (th.Accent + "\x1b[1m").On("mayfly") + th.Faint.On(" › ") + th.Bright.On(parts[0])
	}
	head := ""
	for _, p := range parts[min(1, last):last] {
		head += th.Dim.On(p) + th.Faint.On(" › ")
	}
	return head + th.Bright.On(parts[last])
}

// vitals are the facts at the end of the header, what says least first.
func (a *app) vitals() []string {
	th := a.th
	var parts []string
	if a.newest != nil && a.newest.delay > 0 {
		parts = append(parts, th.Dim.On("last mail after "+elapsed(a.newest.delay)))
	}
	if a.session != nil {
		if b := a.session.watcher.Budget(); b.Limit > 0 {
			parts = append(parts, th.Dim.On(itoa(b.Used)+"/"+itoa(b.Limit)+" a minute"))
		}
	}
	if i := a.inboxes.selected(); i != nil && !i.expires.IsZero() && !i.gone(a.now) {
		left, _ := remaining(i.expires.Sub(a.now))
		style := th.Dim
		if i.expires.Sub(a.now) <= nearEnd {
			style = th.Warn
		}
		parts = append(parts, style.On(left+" left"))
	}
	if a.follow {
		parts = append(parts, th.Accent.On("following"))
	}
	return append(parts, a.pulse())
}

// pulse says in one word how the connection is.
func (a *app) pulse() string {
	th, now := a.th, a.now
	wait := ""
	if c := a.link.countdown(now); c != "" {
		wait = ", again in " + c
	}
	switch kindOf(a.link.err) {
	case troubleNoKey:
		return th.Warn.On("○ no key")
	case troubleKey:
		return th.Bad.On("✕ key refused")
	case troublePlan:
		return th.Bad.On("✕ not in the plan")
	case troubleLimit:
		return th.Warn.On("! limit reached" + wait)
	case troubleAway:
		return th.Bad.On("✕ away" + wait)
	}
	i := a.inboxes.selected()
	switch {
	case a.session == nil && now.Sub(a.link.since) < patience:
		return ""
	case a.session == nil:
		return th.Dim.On("○ starting")
	case i != nil && i.gone(now):
		return th.Dim.On("✕ gone")
	case i != nil && i.paused:
		return th.Warn.On("○ paused")
	case i != nil && i.state == stateFailing:
		return th.Bad.On("! failing")
	case a.link.mode == watch.Live:
		return th.Good.On("●") + th.Text.On(" live")
	case a.link.mode == watch.Polling:
		return th.Good.On("●") + th.Text.On(" polling")
	}
	return th.Dim.On("○ connected")
}

// footer has the keys that matter now, and the outcome of the last one.
func (a *app) footer() string {
	right := a.outcome()
	return cell.Spread(a.hints(a.hintRoom()), right, a.width)
}

// hintRoom is the room that the outcome of the last key leaves to the hints.
func (a *app) hintRoom() int { return a.width - cell.Width(a.outcome()) - 1 }

// outcome is what the last key did, or is doing.
func (a *app) outcome() string {
	th, right := a.th, ""
	switch {
	case a.work.total > 0:
		right = th.Accent.On(a.work.what + " " + itoa(a.work.done) + "/" + itoa(a.work.total) + " " + a.gauge())
	case a.flash.showing(a.now):
		style, sign := a.flash.style(th)
		text := sign + cell.Steady(a.flash.text)
		if a.flash.mood == trouble { // what failed stands at the start, why at the end
			text = cell.CutMiddle(text, a.width-2)
		}
		right = style.On(cell.Cut(text, a.width-2))
	}
	if right != "" {
		right += " "
	}
	return right
}

// gauge is work of several steps as a bar.
func (a *app) gauge() string {
	const cells = 10
	full := cells * a.work.done / a.work.total
	return strings.Repeat("━", full) + strings.Repeat("╌", cells-full)
}

// hints are the keys of the actions that can be done now, as many as there is room for.
func (a *app) hints(room int) string {
	var b strings.Builder
	for _, h := range a.hintList(room) {
		b.WriteString(" " + hint(a.th, h.key, h.text) + " ")
	}
	return b.String()
}

type keyHint struct {
	key, text string
	action    *action
	x, w      int
}

func (a *app) hintList(room int) []keyHint {
	var out []keyHint
	x := 0
	add := func(c *action) {
		h := keyHint{key: showKey(c.keys[0]), text: c.hint, action: c, x: x}
		h.w = cell.Width(h.key) + cell.Width(h.text) + 3
		if x+h.w <= room {
			out = append(out, h)
			x += h.w
		}
	}
	help := byID(a.table, "help")
	for _, c := range a.table {
		if c.hint == "" || c == help || len(c.keys) == 0 || !c.where.has(a.focus) || c.reason(a) != "" {
			continue
		}
		if helpWidth := len(help.keys); helpWidth > 0 && x+cell.Width(c.hint)+cell.Width(showKey(c.keys[0]))+3+8 > room {
			continue
		}
		add(c)
	}
	if len(help.keys) > 0 {
		add(help)
	}
	return out
}

// showKey writes a key as keyboards do.
func showKey(k string) string {
	switch k {
	case "pgdown":
		return "pgdn"
	case "pgup":
		return "pgup"
	}
	return k
}

// tooSmall says that there is no room, in the room there is.
func (a *app) tooSmall() []string {
	rows := make([]string, a.height)
	for y := range rows {
		rows[y] = cell.Spaces(a.width)
	}
	text := cell.Wrap("mayfly needs 20×6", a.width)
	from := max(0, (a.height-len(text))/2)
	for n, t := range text {
		if from+n < a.height {
			rows[from+n] = cell.Center(t, a.width)
		}
	}
	return rows
}
