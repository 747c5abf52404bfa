package ui

import (
	"strings"
	"time"

	"mayfly/letter"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/cell"
	"mayfly/ui/layout"
	"mayfly/ui/theme"
)

// views are the ways to look at a message, in the order of the keys 1 to 6.
var views = []struct {
	view render.View
	name string
}{
	{render.Rich, "rich"}, {render.Text, "text"}, {render.HTML, "html"},
	{render.Headers, "headers"}, {render.Raw, "raw"}, {render.Checks, "checks"},
}

// widest is the longest line that is comfortable to read.
const widest = 100

// reader is the pane that shows one message.
type reader struct {
	rect  layout.Rect
	th    *theme.Theme
	retry string // the hint on how to try again

	pictureMode image.Mode
	pictureHint string // the hint on how to see pictures

	message    *message // nil when nothing is read; a copy, so that it outlives its inbox
	inboxEmail string
	seen       bool // it has counted as read; marking it unread stays
	ended      bool // the inbox is gone; the message stays until it is left
	generation uint64
	since      time.Time // when opening began
	opened     *opened   // nil while loading
	rawSince   time.Time // when fetching the raw message began; zero while it is not fetched
	err        error

	view     render.View
	hidden   bool
	unfold   bool
	pictures bool // shown
	top      int

	lines   []render.Line // of the body, for laidOut
	laidOut layoutKey
	laying  layoutKey // lines that are being made beside the frames
	search  search
}

// opened is a message that was fetched and read into a document.
type opened struct {
	letter letter.Letter
	mail   *render.Mail
	rawErr error    // why the raw message is not to be had
	checks int      // findings worth a look
	notice []string // what is not shown as the mail has it
	// pictures is how many the message carries, picturesAway how many more whose parts are not at hand.
	pictures, picturesAway int

	big bool // laying it out takes longer than a frame may
}

// layoutKey is what the lines of a body depend on.
type layoutKey struct {
	generation     uint64
	view           render.View
	width          int
	theme          string
	dark           bool
	hidden, unfold bool
	pictures       image.Mode
	raw            bool
}

// reading says that a message is open or on its way.
func (r *reader) reading() bool { return r.message != nil }

// open begins to show a message; what was asked for before is stale from now on.
func (r *reader) open(m *message, email string, now time.Time) {
	copied := *m
	*r = reader{
		rect: r.rect, th: r.th, retry: r.retry, pictureMode: r.pictureMode, pictureHint: r.pictureHint, view: r.view, generation: r.generation + 1,
		message: &copied, inboxEmail: email, since: now,
	}
}

func (r *reader) close() {
	*r = reader{rect: r.rect, th: r.th, retry: r.retry, pictureMode: r.pictureMode, pictureHint: r.pictureHint, view: r.view, generation: r.generation + 1}
}

// setView changes the view and goes to its beginning.
func (r *reader) setView(v render.View) {
	if v != r.view {
		r.view, r.top = v, 0
		r.search.clearHits()
	}
}

func (r *reader) bodyWidth() int { return max(1, min(r.rect.W-4, widest)) }

func (r *reader) key() layoutKey {
	k := layoutKey{generation: r.generation, view: r.view, width: r.bodyWidth(), hidden: r.hidden, unfold: r.unfold}
	if r.th != nil {
		k.theme, k.dark = r.th.Name+r.th.Profile.String(), r.th.Dark
	}
	if r.opened != nil {
		k.raw = r.opened.letter.Raw != nil
	}
	if r.pictures && r.view == render.Rich && r.opened != nil {
		k.pictures = r.pictureMode
	}
	if r.view == render.HTML || r.view == render.Raw || r.view == render.Headers {
		k.width = max(1, r.rect.W-4)
	}
	return k
}

// settled says that the lines on the screen are those for the present size, view and theme.
func (r *reader) settled() bool { return r.opened == nil || r.laidOut == r.key() }

// take puts laid-out lines on the screen and keeps the place in the text.
func (r *reader) take(k layoutKey, lines []render.Line) {
	if k != r.key() {
		return
	}
	before := len(r.lines)
	if before > 0 && r.laidOut.view == k.view && r.laidOut.generation == k.generation && r.top > 0 {
		r.top = r.top * len(lines) / before
	}
	r.lines, r.laidOut = lines, k
	r.search.find(lines)
	r.clamp()
}

// tabsShown says that the names of the views stand in the last row.
func (r *reader) tabsShown() bool { return r.rect.H >= 8 && r.rect.W >= 24 }

func (r *reader) textHeight() int {
	h := r.rect.H - 1
	if r.rect.H >= 9 {
		h-- // a blank row under the title
	}
	if r.tabsShown() {
		h -= 2
	}
	return max(1, h)
}

func (r *reader) scroll(n int) {
	r.top += n
	r.clamp()
}

func (r *reader) clamp() {
	r.top = max(0, min(r.top, len(r.head())+len(r.lines)-r.textHeight()))
}

// reveal scrolls until a line of the body is on the screen, not at its very edge.
func (r *reader) reveal(line int) {
	n := line + len(r.head())
	if h := r.textHeight(); n < r.top || n >= r.top+h {
		r.top = n - h/3
		r.clamp()
	}
}

func (r *reader) end() { r.top = 1 << 30; r.clamp() }

// lineAt returns the line of the body at a row of the screen, for links under the mouse; nil when there is none.
func (r *reader) lineAt(y int) (int, *render.Line) {
	n := y - r.rect.Y - r.textTop() + r.top - len(r.head())
	if n < 0 || n >= len(r.lines) || y-r.rect.Y-r.textTop() >= r.textHeight() {
		return 0, nil
	}
	return n, &r.lines[n]
}

func (r *reader) textTop() int {
	if r.rect.H >= 9 {
		return 2
	}
	return 1
}

// head is what stands above the body: who, to whom, when.
func (r *reader) head() []string {
	m := r.message
	if m == nil || r.th == nil || r.view == render.Raw || r.view == render.HTML || r.view == render.Headers {
		return nil
	}
	th, w := r.th, r.rect.W-4
	if r.rect.H < roomyHead {
		return r.shortHead(w)
	}
	field := func(name, value string) string {
		return th.Dim.On(cell.Fit(name, 6)) + cell.Cut(value, max(1, w-6))
	}
	from := cell.Steady(m.sender)
	if m.address != "" && m.address != m.sender {
		from += th.Dim.On(" <" + m.address + ">")
	}
	head := []string{field("From", from), field("To", cell.Steady(r.inboxEmail))}
	head = append(head, field("At", m.received.Local().Format("2 Jan 2006 15:04:05")))
	if m.delay > 0 {
		head = append(head, field("", th.Good.On(elapsed(m.delay)+" after you copied the address")))
	}
	if r.opened != nil {
		head = append(head, r.attachments(w)...)
		for _, n := range r.opened.notice {
			head = append(head, th.Dim.On(cell.Cut(cell.Steady(n), w)))
		}
		if n := r.opened.pictures + r.opened.picturesAway; n > 0 && !r.pictures && r.pictureMode.Protocol != image.Off {
			head = append(head, cell.Cut(th.Dim.On(picturesText(n)+": ")+r.pictureHint, w))
		}
	}
	if r.ended {
		head = append(head, th.Warn.On(cell.Cut("The inbox is gone. This message stays here until you leave it.", w)))
	}
	return append(head, "")
}

// roomyHead is the height of the pane from which the head has a row for each field.
const roomyHead = 14

// shortHead is the head where rows are few.
func (r *reader) shortHead(w int) []string {
	th, m := r.th, r.message
	line := th.Text.On(cell.Steady(m.sender)) + th.Dim.On(" · "+m.received.Local().Format("15:04:05"))
	if m.delay > 0 {
		line += th.Dim.On(" · ") + th.Good.On(elapsed(m.delay)+" after you copied the address")
	}
	if r.ended {
		line = th.Warn.On("The inbox is gone.") + th.Dim.On(" · ") + line
	}
	head := []string{cell.Cut(line, w)}
	if r.opened != nil {
		head = append(head, r.attachments(w)...)
	}
	return append(head, "")
}

func (r *reader) attachments(w int) []string {
	var rows []string
	for _, a := range r.opened.letter.Message.Attachments {
		if a.Inline && a.ContentID != "" {
			continue
		}
		name := cell.Steady(render.Clean(a.Filename))
		if name == "" {
			name = render.Clean(a.ContentType)
		}
		size := bytesText(a.Size)
		label := "File"
		if len(rows) > 0 {
			label = ""
		}
		rows = append(rows, r.th.Dim.On(cell.Fit(label, 6))+cell.Cut(name, max(4, w-8-len(size)))+r.th.Dim.On("  "+size))
	}
	return rows
}

func (r *reader) draw(focused bool, idle []string, now time.Time) []string {
	out := blankRows(r.rect)
	th := r.th
	if r.message == nil {
		out[0] = titleRow(th, "Message", "", r.rect.W, focused)
		placeText(out, r.rect.W, r.textTop(), idle)
		return out
	}
	out[0] = titleRow(th, cell.Cut(cell.Steady(r.message.subject), r.rect.W-3), r.search.status(th), r.rect.W, focused)
	if r.search.typing {
		out[0] = titleRow(th, r.search.prompt(th, r.rect.W-2), "", r.rect.W, focused)
	}
	head := r.head()
	body := func(n int) string {
		switch {
		case n < len(head):
			return head[n]
		case r.err != nil:
			return r.trouble(n - len(head))
		case r.opened == nil:
			if n == len(head) && now.Sub(r.since) >= patience {
				return th.Dim.On("Opening…")
			}
		case r.view == render.Raw && !r.rawSince.IsZero():
			if n == 0 && now.Sub(r.rawSince) >= patience {
				return th.Dim.On("Opening…")
			}
		case n-len(head) < len(r.lines):
			return r.search.mark(th, n-len(head), r.lines[n-len(head)])
		}
		return ""
	}
	for n := range r.textHeight() {
		out[r.textTop()+n] = cell.Fit("  "+body(r.top+n), r.rect.W)
	}
	if r.tabsShown() {
		out[r.rect.H-1] = cell.Fit("  "+r.tabs(), r.rect.W)
	}
	return out
}

func (r *reader) trouble(n int) string {
	lines := append(cell.Wrap(plainError(r.err), max(8, r.rect.W-4)), "", r.retry)
	if n < len(lines) {
		if n == 0 {
			return r.th.Bad.On(lines[n])
		}
		return lines[n]
	}
	return ""
}

// tabAt is the view whose name stands at a column.
func (r *reader) tabAt(x int) (render.View, bool) {
	for _, v := range views {
		n := cell.Width(r.tabName(v.view, v.name))
		if x >= 0 && x < n {
			return v.view, true
		}
		x -= n + 2
	}
	return 0, false
}

// tabsFit says that there is room for the names of all views.
func (r *reader) tabsFit() bool {
	w := 2 * (len(views) - 1)
	for _, v := range views {
		w += cell.Width(r.tabName(v.view, v.name))
	}
	return w <= r.rect.W-3
}

func (r *reader) tabName(v render.View, name string) string {
	if v == render.Checks && r.opened != nil && r.opened.checks > 0 {
		return name + " " + itoa(r.opened.checks)
	}
	return name
}

// tabs names the views.
func (r *reader) tabs() string {
	var b strings.Builder
	for i, v := range views {
		if i > 0 {
			b.WriteString("  ")
		}
		name := r.tabName(v.view, v.name)
		if v.view == r.view {
			b.WriteString((r.th.Accent + "\x1b[4m").On(name))
		} else {
			b.WriteString(r.th.Dim.On(name))
		}
	}
	row := b.String()
	if !r.tabsFit() {
		n := int(r.view)
		row = (r.th.Accent + "\x1b[4m").On(r.tabName(r.view, views[n].name)) + r.th.Dim.On("  view "+itoa(n+1)+" of "+itoa(len(views)))
	}
	if rest := len(r.head()) + len(r.lines) - r.top - r.textHeight(); rest > 0 {
		row += r.th.Dim.On("   ↓ " + itoa(rest))
	}
	return row
}
