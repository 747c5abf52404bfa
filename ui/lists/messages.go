package lists

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Messages is the pane of messages. Rows and marks are identified by message keys.
type Messages struct {
	Pane
	InboxID string // of the inbox shown, or [store.All]
	store   *store.Store
	places  map[string]string // inbox → the message that the user went to in it
}

// NewMessages returns a pane that lists the messages of all inboxes of a store.
func NewMessages(s *store.Store) *Messages {
	return &Messages{
		Pane: Pane{Marks: map[string]bool{}}, InboxID: store.All,
		store: s, places: map[string]string{},
	}
}

// Show lists the messages of another inbox, or of [store.All].
func (p *Messages) Show(inboxID string) {
	if p.InboxID == inboxID {
		return
	}
	delete(p.places, p.InboxID)
	if sel := p.Selected(); sel != "" && p.UserMoved() {
		p.places[p.InboxID] = sel
	}
	typing := p.Typing()
	p.InboxID, p.List, p.Filter = inboxID, dialog.List{}, Filter{}
	if typing { // so that the letters that follow are not commands
		p.StartTyping()
	}
	clear(p.Marks)
	p.Refresh()
	p.Select(p.places[inboxID])
}

// Refresh updates the list from the store. The cursor stays with its message, or else with the newest.
func (p *Messages) Refresh() {
	keys := p.store.Keys(p.InboxID)
	if p.Filter.On() {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !p.kept(p.store.Messages[k]) })
	}
	p.Set(keys)
	if !p.UserMoved() {
		p.First()
	}
	maps.DeleteFunc(p.Marks, func(k string, _ bool) bool { return p.store.Messages[k] == nil })
}

func (p *Messages) kept(m *store.Message) bool {
	inbox := ""
	if i := p.store.Inboxes[m.InboxID]; i != nil && p.InboxID == store.All {
		inbox = i.Words()
	}
	return m.Has(p.Filter.words, inbox, false) // bodies are read for ctrl+f
}

// Message is the selected message, nil in an empty list.
func (p *Messages) Message() *store.Message { return p.store.Messages[p.Selected()] }

// Lists reports whether the messages of an inbox are listed, alone or among all.
func (p *Messages) Lists(inboxID string) bool { return p.InboxID == inboxID || p.InboxID == store.All }

// Marked returns the marked messages, the newest first.
func (p *Messages) Marked() (in []*store.Message) {
	for _, key := range p.marked(p.store.Keys(p.InboxID)) {
		in = append(in, p.store.Messages[key])
	}
	return in
}

// Keys returns the keys of the messages on the screen.
func (p *Messages) Keys() []string {
	keys := make([]string, len(p.Shown))
	for n, row := range p.Shown {
		keys[n] = row.ID
	}
	return keys
}

// Fit lays the rows out in r.
func (p *Messages) Fit(r theme.Rect) {
	p.layout(r, 0, func(string) int {
		if r.Low() {
			return 1
		}
		return 2 // before and after it is read: no row moves away from under the cursor
	})
}

func (p *Messages) title(th *theme.Theme, w int) string {
	if i := p.store.Inboxes[p.InboxID]; i != nil {
		whole := i.Email
		if i.Label != "" {
			whole = i.Label + "  " + i.Email
		}
		if whole = th.StableWidth(whole); theme.Width(whole) <= w {
			return whole
		}
		return theme.CutMiddle(i.Name(), w)
	}
	return "All inboxes"
}

// Draw draws the pane; empty is shown while there are no messages.
func (p *Messages) Draw(th *theme.Theme, now time.Time, focused bool, empty []string) []string {
	out := theme.Blank(p.Rect)
	right := ""
	if before, after := p.More(); before+after > 0 {
		right = fmt.Sprintf("%d of %d ", p.Index()+1, p.Len())
	}
	if n := len(p.Marks); n > 0 {
		right = fmt.Sprintf("%d marked ", n)
	}
	room := p.Rect.W - 2 - theme.Width(right)
	out[0] = theme.Title(th, p.Filter.Title(th, p.title(th, room), room), th.Dim.On(right), p.Rect.W, focused)
	if p.Len() == 0 {
		for n, line := range empty[:min(len(empty), len(out)-p.Rect.Top())] {
			out[p.Rect.Top()+n] = theme.Fit("  "+line, p.Rect.W)
		}
	}
	for _, row := range p.Shown {
		copy(out[p.Rect.Top()+row.Y:], p.row(th, now, row, focused)[:row.H])
	}
	return out
}

func (p *Messages) row(th *theme.Theme, now time.Time, row dialog.Row, focused bool) []string {
	b := bar{Theme: th, Selected: row.Selected, Focused: focused, W: p.Rect.W}
	m := p.store.Messages[row.ID]
	mark := " "
	sender, subject := span{Text: th.StableWidth(m.Sender), Style: th.Text}, span{Text: th.StableWidth(m.Subject), Style: th.Dim}
	if m.Unread {
		mark, sender.Style, subject.Style = "●", th.Bright, th.Text
	}
	if p.Marks[row.ID] {
		mark = "✓"
	}
	at, files := span{Text: theme.Age(now.Sub(m.Received)), Style: th.Dim}, span{Text: m.Extracted.FilesText(), Style: th.Dim}
	name := ""
	if i := p.store.Inboxes[m.InboxID]; i != nil && p.InboxID == store.All {
		name = th.StableWidth(i.Name())
	}
	if p.Rect.Low() {
		return []string{b.line(mark, oneLine(th, b.room(span{}), m.Extracted, sender, subject, name, files.Text, at.Text)...)}
	}
	first := []span{sender}
	if name != "" {
		inbox := span{Text: " · " + name, Style: th.Dim, Ends: true}
		first[0].Text = beside(sender.Text, inbox.Text, b.room(at))
		first = append(first, inbox)
	}
	room := b.room(files)
	found, _ := findings(th, room, room/2, m.Extracted)
	return []string{b.line(mark, append(first, at)...), b.line(" ", append(found, subject, files)...)}
}

const (
	minText = 12 // cells of a row of one line that are for sender and subject, before its end
	minName = 5  // cells in which the two ends of a name can be told
)

// oneLine is a row of one line, w cells wide: the code or the link, then sender and subject. At its end is as much of the
// inbox, the number of files and the age as there is room for.
func oneLine(th *theme.Theme, w int, f *store.Extracted, sender, subject span, inbox, files, age string) []span {
	spans, w := findings(th, w, w/3, f)
	subject.Text = "  " + subject.Text
	room := w - 1 - min(max(minText, w/2), theme.Width(sender.Text+subject.Text))
	end := ""
	for _, parts := range [][]string{{inbox, files, age}, {inbox, age}, {inbox}} {
		end = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
		if theme.Width(end) <= room {
			break
		}
	}
	if theme.Width(end) > room && room < minName {
		end = ""
	}
	if end = theme.CutMiddle(end, room); end != "" {
		w -= theme.Width(end) + 1
	}
	sender.Text = beside(sender.Text, subject.Text, w)
	return append(spans, sender, subject, span{Text: end, Style: th.Dim})
}

// beside cuts a text that shares w cells with another, of which it gets half if both need more.
func beside(text, other string, w int) string {
	return theme.Cut(text, max(w/2, w-theme.Width(other)))
}

// findings are the code and an arrow for a link, or the link in at most that many cells, with which a line of w cells
// begins, and how many are left.
func findings(th *theme.Theme, w, most int, f *store.Extracted) (spans []span, left int) {
	switch {
	case !f.Any():
		return nil, w
	case f.Code == "":
		spans = []span{{Text: theme.Cut("↗ "+th.StableWidth(f.Link.Text), most), Style: th.Link}}
	default:
		spans = []span{{Text: theme.Cut(th.StableWidth(f.Code), w*2/3), Style: th.Code}}
		if f.Link.URL != "" {
			spans = append(spans, span{Text: " ↗", Style: th.Link})
		}
	}
	spans = append(spans, span{Text: "  "})
	for _, s := range spans {
		w -= theme.Width(s.Text)
	}
	return spans, w
}
