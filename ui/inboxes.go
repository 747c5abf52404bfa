package ui

import (
	"fmt"
	"strings"
	"time"

	"mayfly/ui/cell"
	"mayfly/ui/layout"
	"mayfly/ui/list"
	"mayfly/ui/theme"
)

// inboxPane is the column of inboxes.
type inboxPane struct {
	column
	book  *book
	mixed bool // the addresses are of several domains
}

func newInboxPane(b *book) *inboxPane {
	return &inboxPane{column: column{marks: map[string]bool{}}, book: b}
}

// refresh takes the inboxes from the book.
func (p *inboxPane) refresh() {
	ids := make([]string, 0, len(p.book.order)+1)
	if !p.filter.on() {
		ids = append(ids, allInboxes)
	}
	for _, id := range p.book.order {
		i := p.book.inboxes[id]
		if p.filter.matches(strings.ToLower(i.label + "\n" + i.email + "\n" + i.id)) {
			ids = append(ids, id)
		}
	}
	p.list.Set(ids)
	p.mixed = p.book.mixedDomains()
	for id := range p.marks {
		if p.book.inboxes[id] == nil {
			delete(p.marks, id)
		}
	}
}

// selected is the inbox that has the cursor; nil on the row of all inboxes.
func (p *inboxPane) selected() *inbox { return p.book.inboxes[p.list.Selected()] }

// marked returns the marked inboxes in their order.
func (p *inboxPane) marked() []*inbox {
	var in []*inbox
	for _, id := range p.book.order {
		if p.marks[id] {
			in = append(in, p.book.inboxes[id])
		}
	}
	return in
}

func (p *inboxPane) tall(id string) int {
	if id == allInboxes || p.dense() {
		return 1
	}
	return 2
}

// place lays the rows out in r.
func (p *inboxPane) place(r layout.Rect) { p.lay(r, p.tall) }

// wake notes when a row next changes by itself.
func (p *inboxPane) wake(now time.Time, a *alarm) {
	for _, row := range p.rows {
		if i := p.book.inboxes[row.ID]; i != nil {
			_, next := p.status(i, now)
			a.in(next)
		}
	}
}

func (p *inboxPane) draw(th *theme.Theme, now time.Time, focused bool) []string {
	w := p.rect.W
	out := blankRows(p.rect)
	right := ""
	if n := len(p.marks); n > 0 {
		right = fmt.Sprintf("%d marked ", n)
	}
	out[0] = titleRow(th, p.filter.title(th, "Inboxes", w-2-cell.Width(right)), th.Dim.On(right), w, focused)
	for _, row := range p.rows {
		lines := p.row(th, now, row, focused)
		for n := range row.H {
			out[p.listTop()+row.Y+n] = lines[n]
		}
	}
	return out
}

func (p *inboxPane) row(th *theme.Theme, now time.Time, row list.Row, focused bool) []string {
	b := bar{th: th, selected: row.Selected, focused: focused, w: p.rect.W}
	if row.ID == allInboxes {
		return []string{b.line(" ", span{"All inboxes", th.Text}, count(th, p.book.totalUnread(), len(p.book.messages)))}
	}
	i := p.book.inboxes[row.ID]
	mark := " "
	if p.marks[row.ID] {
		mark = "✓"
	}
	name := span{i.name(), th.Text}
	switch {
	case i.gone(now):
		name.style = th.Dim
	case i.unread > 0:
		name.style = th.Bright
	}
	status, _ := p.status(i, now)
	first := []span{name}
	if _, domain, ok := strings.Cut(i.email, "@"); ok && p.mixed && i.label == "" && cell.Width(i.email)+9 <= p.rect.W {
		first = append(first, span{"@" + domain, th.Dim})
	}
	first = append(first, count(th, i.unread, len(i.ids)))
	if p.dense() {
		return []string{b.line(mark, first...)}
	}
	return []string{
		b.line(mark, first...),
		b.line(" ", p.statusSpan(th, i, status, now)),
	}
}

// status says how an inbox is, and when that changes by itself.
func (p *inboxPane) status(i *inbox, now time.Time) (string, time.Duration) {
	left, next := remaining(i.expires.Sub(now))
	switch {
	case i.state == stateGone && (i.expires.IsZero() || now.Before(i.expires)):
		return "✕ deleted", 0
	case i.gone(now):
		ago, next := age(now.Sub(i.expires))
		if ago == "now" {
			return "✕ expired just now", next
		}
		return "✕ expired " + ago + " ago", next
	case i.expires.IsZero():
		left = ""
	case i.expires.Sub(now) <= nearEnd:
		left = "ends in " + left
	default:
		left += " left"
	}
	switch {
	case i.paused:
		return strings.TrimSuffix("○ paused · "+left, " · "), next
	case i.state == stateFailing:
		return strings.TrimSuffix("! failing · "+left, " · "), next
	case i.state == stateNew:
		return strings.TrimSuffix("○ "+left, " "), next
	}
	return strings.TrimSuffix("● "+left, " "), next
}

// nearEnd is when an inbox says that it is about to go.
const nearEnd = 5 * time.Minute

func (p *inboxPane) statusSpan(th *theme.Theme, i *inbox, text string, now time.Time) span {
	switch {
	case i.state == stateFailing && !i.gone(now):
		return span{text, th.Bad}
	case !i.gone(now) && !i.expires.IsZero() && i.expires.Sub(now) <= nearEnd:
		return span{text, th.Warn}
	}
	return span{text, th.Dim}
}

// count is the number at the end of a row: unread messages stand out.
func count(th *theme.Theme, unread, total int) span {
	switch {
	case unread > 0:
		return span{fmt.Sprintf("%d", unread), th.Accent + th.Bright}
	case total > 0:
		return span{fmt.Sprintf("%d", total), th.Dim}
	}
	return span{"", th.Dim}
}

// cut keeps both ends of an address that does not fit.
func address(s string, w int) string { return cell.CutMiddle(s, w) }
