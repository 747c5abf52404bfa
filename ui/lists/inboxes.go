package lists

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// NearEnd is how long before it expires an inbox shows a warning.
const NearEnd = 5 * time.Minute

// legendFrom is the width in cells from which the title says what the numbers of the rows count.
const legendFrom = 22

// Inboxes is the pane of inboxes.
type Inboxes struct {
	Pane
	store *store.Store
	mixed bool // the addresses have several domains
	// ByMail is set where the inbox with the newest mail comes first, and not the one created last.
	ByMail bool
	// Unwatched is set while the service cannot be asked: then no inbox is being watched.
	Unwatched bool
	brief     bool // there are so many inboxes that each has one line
}

// NewInboxes returns a pane that lists the inboxes of a store.
func NewInboxes(s *store.Store) *Inboxes {
	p := &Inboxes{Pane: Pane{Marks: map[string]bool{}}, store: s}
	p.Refresh()
	return p
}

// Refresh updates the list from the store. The cursor stays where it is.
func (p *Inboxes) Refresh() {
	ids := make([]string, 0, len(p.store.Order)+1)
	if !p.Filter.On() {
		ids = append(ids, store.All)
	}
	order := p.store.Order
	if p.ByMail {
		order = slices.Clone(order)
		slices.SortStableFunc(order, func(a, b string) int { return p.store.Active(b).Compare(p.store.Active(a)) })
	}
	for _, id := range order {
		i := p.store.Inboxes[id]
		if p.Filter.Matches(i.Words()) {
			ids = append(ids, id)
		}
	}
	p.Set(ids)
	p.mixed = len(p.store.Domains()) > 1
	maps.DeleteFunc(p.Marks, func(id string, _ bool) bool { return p.store.Inboxes[id] == nil })
}

// Inbox is the selected inbox, nil on the row of all inboxes.
func (p *Inboxes) Inbox() *store.Inbox { return p.store.Inboxes[p.Selected()] }

// ShownID is the ID of the inbox whose messages to list, or [store.All].
func (p *Inboxes) ShownID() string { return cmp.Or(p.Selected(), store.All) }

// Marked returns the marked inboxes in order.
func (p *Inboxes) Marked() (in []*store.Inbox) {
	for _, id := range p.marked(p.store.Order) {
		in = append(in, p.store.Inboxes[id])
	}
	return in
}

// Fit lays the rows out in r.
func (p *Inboxes) Fit(r theme.Rect) {
	below := 0
	if p.store.More > 0 { // which the last line says
		below = 1
	}
	p.brief = r.Top()+1+2*len(p.store.Order)+below > r.H // also while a filter leaves few of them
	p.layout(r, below, func(id string) int {
		if id == store.All || p.brief {
			return 1
		}
		return 2
	})
}

// Numbers are the unread and all messages that a row counts, without those of inboxes that are gone.
func (p *Inboxes) Numbers(id string) (unread, total int) {
	if i := p.store.Inboxes[id]; i != nil {
		return i.Unread, len(i.Keys)
	}
	for _, i := range p.store.Inboxes {
		if i.State != store.Gone {
			unread, total = unread+i.Unread, total+len(i.Keys)
		}
	}
	return unread, total
}

// Draw draws the pane.
func (p *Inboxes) Draw(th *theme.Theme, now time.Time, focused bool) []string {
	w := p.Rect.W
	out := theme.Blank(p.Rect)
	right := ""
	if n := len(p.Marks); n > 0 {
		right = fmt.Sprintf("%d marked ", n)
	} else if _, total := p.Numbers(store.All); total > 0 && !p.Typing() && !p.Filter.On() && w >= legendFrom {
		right = "unread/all "
	}
	title := p.Filter.Title(th, "Inboxes", w-2-theme.Width(right))
	out[0] = theme.Title(th, title, th.Dim.On(right), w, focused)
	if n := p.store.More; n > 0 {
		out[len(out)-1] = th.Dim.On(theme.Fit("  "+humanize.Comma(int64(n))+" more", w))
	}
	for _, row := range p.Shown {
		copy(out[p.Rect.Top()+row.Y:], p.row(th, now, row, focused)[:row.H])
	}
	return out
}

func (p *Inboxes) row(th *theme.Theme, now time.Time, row dialog.Row, focused bool) []string {
	b := bar{Theme: th, Selected: row.Selected, Focused: focused, W: p.Rect.W}
	if row.ID == store.All {
		return []string{b.line(" ", span{Text: "All inboxes", Style: th.Text}, p.count(th, row.ID, "All inboxes"))}
	}
	i := p.store.Inboxes[row.ID]
	mark := " "
	if p.Marks[row.ID] {
		mark = "✓"
	}
	name := span{Text: th.StableWidth(i.Name()), Style: th.Text, Ends: true}
	switch {
	case i.Gone(now):
		name.Style = th.Dim
	case i.Unread > 0:
		name.Style = th.Bright
	}
	first := []span{name}
	if domain := i.Domain(); domain != "" && p.mixed && i.Label == "" && theme.Width(i.Email)+9 <= p.Rect.W {
		first = append(first, span{Text: "@" + domain, Style: th.Dim})
	}
	whole := name.Text
	if p.mixed && i.Label == "" {
		whole = theme.StableWidth(i.Email)
	}
	total := p.count(th, row.ID, whole)
	unread := span{Text: strconv.Itoa(i.Unread), Style: total.Style}
	switch n := theme.Width(name.Text); {
	case i.State == store.Unlisted && !i.Gone(now) && !i.Paused:
		total.Text = theme.Ellipsis // not known to be empty
	case i.Unread > 0 && n > b.room(total) && n <= b.room(unread): // rather the whole name than the number of all
		total = unread
	}
	long, short := p.status(i, now)
	state := span{Text: short, Style: p.statusStyle(th, i, now)}
	if p.brief {
		if state.Text != "" { // beside the count, and the name in what is left
			room := b.room(total) - theme.Width(state.Text)
			name.Text = theme.CutMiddle(name.Text, room-1)
			first = []span{name, {Text: theme.Spaces(room - theme.Width(name.Text))}, state}
		}
		return []string{b.line(mark, append(first, total)...)}
	}
	short, _, _ = strings.Cut(strings.TrimSuffix(long, " left"), " · ") // a time beside a word would be how long it has lasted
	state.Text = theme.FirstFit([]string{long, short}, b.room(span{}))
	return []string{b.line(mark, append(first, total)...), b.line(" ", state)}
}

// failing reports whether an inbox fails by itself, and not with the whole service.
func (p *Inboxes) failing(i *store.Inbox) bool { return i.State == store.Failing && !p.Unwatched }

// status is the state of an inbox in words, and in one word where it is out of the ordinary.
func (p *Inboxes) status(i *store.Inbox, now time.Time) (long, short string) {
	left, counts := i.Expires.Sub(now), !i.Expires.IsZero()
	end := ""
	switch {
	case i.Deleted():
		return "✕ deleted", "deleted"
	case i.Gone(now):
		if ago := theme.Age(-left); ago != "now" {
			return "✕ expired " + ago + " ago", "expired"
		}
		return "✕ expired just now", "expired"
	case counts && left <= NearEnd:
		short = theme.Remaining(left)
		end = "expires in " + short
	case counts:
		end = theme.Remaining(left) + " left"
	}
	sign := "● "
	switch {
	case i.Paused:
		sign, short = "○ paused · ", "paused"
	case p.failing(i):
		sign, short = "! failing · ", "failing"
	case i.State == store.Unlisted, p.Unwatched:
		sign = "○ "
	}
	return strings.TrimRight(sign+end, " ·"), short
}

func (p *Inboxes) statusStyle(th *theme.Theme, i *store.Inbox, now time.Time) theme.Style {
	switch {
	case i.Gone(now):
	case p.failing(i):
		return th.Bad
	case !i.Expires.IsZero() && i.Expires.Sub(now) <= NearEnd:
		return th.Warn
	}
	return th.Dim
}

// count is the numbers of unread and of all messages at the end of a row, after its name.
func (p *Inboxes) count(th *theme.Theme, id, name string) span {
	unread, total := p.Numbers(id)
	numbers := span{Text: fmt.Sprintf("%d/%d", unread, total), Style: th.Dim}
	switch {
	case total == 0:
		numbers.Text = ""
	case !p.brief: // in words where there is room
		if words := fmt.Sprintf("%d of %d unread", unread, total); theme.Width(name+words)+5 <= p.Rect.W {
			numbers.Text = words
		}
	}
	if unread > 0 {
		numbers.Style = th.Accent + th.Bright
	}
	return numbers
}
