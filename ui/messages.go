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

// messagePane is the column of messages of the selected inbox, or of all of them.
type messagePane struct {
	column // its marks are keys of messages, for comparing
	book   *book
	inbox  string            // ID of the inbox shown, or allInboxes
	places map[string]string // inbox → the message last selected in it
}

func newMessagePane(b *book) *messagePane {
	return &messagePane{column: column{marks: map[string]bool{}}, book: b, places: map[string]string{}}
}

// show changes the inbox.
func (p *messagePane) show(inboxID string) {
	if p.inbox == inboxID {
		return
	}
	if sel := p.list.Selected(); sel != "" {
		p.places[p.inbox] = sel
	}
	p.inbox = inboxID
	p.list = list.List{}
	p.filter = filter{typing: p.filter.typing} // what is typed on does not become commands
	clear(p.marks)
	p.refresh()
	p.list.Select(p.places[inboxID])
}

// refresh takes the messages from the book.
func (p *messagePane) refresh() {
	keys := p.book.keys(p.inbox)
	if p.filter.on() {
		var kept []string
		for _, k := range keys {
			m := p.book.messages[k]
			words := m.words
			if i := p.book.inboxes[m.inboxID]; i != nil && p.inbox == allInboxes {
				words += "\n" + strings.ToLower(i.email+"\n"+i.label)
			}
			if p.filter.matches(words) || m.peek != nil && p.filter.matches(strings.ToLower(m.peek.code)) {
				kept = append(kept, k)
			}
		}
		keys = kept
	}
	p.list.Set(keys)
	for k := range p.marks {
		if p.book.messages[k] == nil {
			delete(p.marks, k)
		}
	}
}

func (p *messagePane) selected() *message { return p.book.messages[p.list.Selected()] }

func (p *messagePane) tall(key string) int {
	if p.dense() {
		return 1
	}
	if m := p.book.messages[key]; m != nil && m.peek != nil && (m.peek.code != "" || m.peek.linkURL != "") {
		return 3
	}
	return 2
}

func (p *messagePane) place(r layout.Rect) { p.lay(r, p.tall) }

func (p *messagePane) wake(now time.Time, a *alarm) {
	for _, row := range p.rows {
		if m := p.book.messages[row.ID]; m != nil {
			_, next := age(now.Sub(m.received))
			a.in(next)
		}
	}
}

func (p *messagePane) title(w int) string {
	if i := p.book.inboxes[p.inbox]; i != nil {
		if i.label != "" {
			return cell.Cut(i.label+"  "+i.email, w)
		}
		return address(i.email, w)
	}
	return "All inboxes"
}

func (p *messagePane) draw(th *theme.Theme, now time.Time, focused bool, empty []string) []string {
	out := blankRows(p.rect)
	right := ""
	if before, after := p.list.More(p.rows); before+after > 0 {
		right = fmt.Sprintf("%d/%d ", p.list.Index()+1, p.list.Len())
	}
	room := p.rect.W - 2 - cell.Width(right)
	title := p.filter.title(th, p.title(room), room)
	out[0] = titleRow(th, title, th.Dim.On(right), p.rect.W, focused)
	if p.list.Len() == 0 {
		placeText(out, p.rect.W, p.listTop(), empty)
		return out
	}
	for _, row := range p.rows {
		lines := p.row(th, now, row, focused)
		for n := range row.H {
			out[p.listTop()+row.Y+n] = lines[n]
		}
	}
	return out
}

func (p *messagePane) row(th *theme.Theme, now time.Time, row list.Row, focused bool) []string {
	b := bar{th: th, selected: row.Selected, focused: focused, w: p.rect.W}
	m := p.book.messages[row.ID]
	mark := " "
	sender, subject := span{m.sender, th.Text}, span{m.subject, th.Dim}
	if m.unread {
		mark, sender.style, subject.style = "●", th.Bright, th.Text
	}
	if p.marks[row.ID] {
		mark = "✓"
	}
	when, _ := age(now.Sub(m.received))
	at := span{when, th.Dim}
	if p.dense() {
		return []string{b.line(mark, sender, span{"  " + subject.text, subject.style}, at)}
	}
	first := []span{sender}
	if p.inbox == allInboxes {
		if i := p.book.inboxes[m.inboxID]; i != nil {
			first = append(first, span{" · " + i.name(), th.Dim})
		}
	}
	lines := []string{
		b.line(mark, append(first, at)...),
		b.line(" ", subject, span{}),
	}
	if m.peek != nil {
		lines = append(lines, b.line(" ", p.inside(th, m)...))
	}
	return lines
}

// inside is the line of a row that says what `c` and `o` would take.
func (p *messagePane) inside(th *theme.Theme, m *message) []span {
	var spans []span
	if m.peek.code != "" {
		spans = append(spans, span{m.peek.code, th.Code})
	}
	if m.peek.linkURL != "" {
		if len(spans) > 0 {
			spans = append(spans, span{"   ", ""})
		}
		spans = append(spans, span{"↗ " + m.peek.linkText, th.Link})
	}
	return append(spans, span{})
}

// placeText puts lines into a pane from a row on, indented.
func placeText(out []string, w, from int, lines []string) {
	for n, line := range lines {
		if from+n >= len(out) {
			return
		}
		out[from+n] = cell.Fit("  "+line, w)
	}
}

// hint names a key and what it does.
func hint(th *theme.Theme, key, does string) string {
	return th.Accent.On(key) + " " + th.Dim.On(does)
}

// wrapDim wraps secondary text for a pane w cells wide.
func wrapDim(th *theme.Theme, text string, w int) []string {
	lines := cell.Wrap(text, max(w, 8))
	for i := range lines {
		lines[i] = th.Dim.On(strings.TrimRight(lines[i], " "))
	}
	return lines
}
