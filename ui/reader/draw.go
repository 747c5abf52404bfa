package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"mayfly/render"
	"mayfly/render/image"
	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// Draw draws the pane.
func (p *Pane) Draw(focused bool, now time.Time) []string {
	out := theme.Blank(p.Rect)
	th, w := p.theme, p.Rect.W
	if p.Message == nil {
		out[0] = theme.Title(th, "Message", "", w, focused)
		return out
	}
	lead := p.lead()
	out[0] = lead + theme.Title(th, p.titleSubject(), p.search.Status(th), w-theme.Width(lead), focused)
	if p.search.Typing {
		out[0] = theme.Title(th, p.search.Prompt(th, w-2), "", w, focused)
	}
	head := p.head()
	for n := range p.textHeight() {
		row := ""
		if y := p.top + n; y < len(head) {
			row = "  " + head[y]
		} else {
			row = p.bar(y-len(head), focused) + p.body(y-len(head), now)
		}
		out[p.Rect.Top()+n] = theme.Fit(row, w)
	}
	if p.tabsShown() {
		out[p.Rect.H-1] = theme.Fit("  "+p.tabs(), w)
	}
	return out
}

// body is row n below the head.
func (p *Pane) body(n int, now time.Time) string {
	opening := time.Time{}
	switch {
	case p.Err != nil:
		return p.trouble(n, p.Err)
	case p.Opened == nil:
		opening = p.since
	case p.View == render.Raw && !p.rawSince.IsZero():
		opening = p.rawSince
	case p.View == render.Web && (p.laidOut.view != render.Web || p.laidOut.painted != p.done[p.Look]):
		return p.unpainted(n - max(p.top-len(p.head()), 0))
	case n < len(p.lines):
		return p.lineNumber(n) + p.search.Mark(p.theme, n, p.lines[n].Styled)
	}
	if !opening.IsZero() && n == 0 && now.Sub(opening) >= OpeningDelay {
		return p.theme.Dim.On("Opening…")
	}
	return ""
}

// bar is what stands before line n of the body: the mark of a selected line, or nothing.
func (p *Pane) bar(n int, focused bool) string {
	switch {
	case p.Opened == nil || n >= len(p.lines) || !p.marked(n):
		return "  "
	case focused:
		return p.theme.Accent.On("▌") + " "
	}
	return p.theme.Dim.On("▌") + " "
}

// numbersFrom is the width of the pane in cells from which source lines are numbered.
const numbersFrom = 30

// gutter is the width in cells of the numbers of source lines.
func (p *Pane) gutter() int {
	if p.Rect.W < numbersFrom {
		return 0
	}
	return len(strconv.Itoa(p.summary.sourceLines)) + 1
}

// lineNumber is the number of a source line, before the first row of it.
func (p *Pane) lineNumber(n int) string {
	w := p.gutter()
	if p.laidOut.view != render.HTML || p.Opened.HTML == "" || w == 0 {
		return ""
	}
	if n > 0 && p.lines[n].Block == p.lines[n-1].Block {
		return theme.Spaces(w)
	}
	style := p.theme.Dim
	if p.marked(n) {
		style = p.theme.Bright
	}
	return style.On(fmt.Sprintf("%*d", w-1, p.lines[n].Block)) + " "
}

// trouble is row n of the error that kept the message from being shown.
func (p *Pane) trouble(n int, err error) string {
	text, next := err.Error(), theme.Hint(p.theme, p.hints.Retry, "try again")
	if p.Ended {
		text, next = "The inbox no longer exists, so this can no longer be fetched.", ""
	}
	lines := append(theme.Wrap(render.Clean(text), max(8, p.Rect.W-4)), "", next)
	switch {
	case n >= len(lines):
		return ""
	case n == 0:
		return p.theme.Bad.On(lines[n])
	}
	return lines[n]
}

// tabsShown reports whether the last row shows the names of the views.
func (p *Pane) tabsShown() bool { return p.Rect.H >= 8 && p.Rect.W >= 24 }

func (p *Pane) textHeight() int {
	h := p.Rect.H - p.Rect.Top()
	if p.tabsShown() {
		h -= 2
	}
	return max(1, h)
}

// head is the rows above the body: who, to whom, when.
func (p *Pane) head() []string {
	m := p.Message
	if m == nil || p.theme == nil || p.View == render.Raw || p.View == render.HTML || p.View == render.Headers {
		return nil
	}
	th, w := p.theme, p.Rect.W-4
	if p.Rect.Low() {
		return p.shortHead(w)
	}
	label := p.labelWidth()
	field := func(name, value string) string {
		return th.Dim.On(theme.Fit(name, label)) + theme.Cut(value, max(1, w-label))
	}
	head := p.subject(w, maxSubject)
	if !slices.ContainsFunc(p.summary.envelope, func(f headerField) bool { return f.name == "From" }) {
		head = append(head, field("From", p.from(w-label)))
	}
	for _, f := range p.summary.envelope {
		name := f.name
		for _, row := range p.folded(f.value, w-label) {
			head, name = append(head, field(name, row)), ""
		}
	}
	if r := p.summary.receivedAs; r != "" {
		short, how := r[:strings.Index(r+"@", "@")]+"@"+theme.Ellipsis, strings.TrimPrefix(r, strings.TrimSuffix(r, " (Bcc)"))
		head = append(head, field("", th.Warn.On(theme.FirstFit([]string{"received as " + r, "received as " + short + how}, w-label))))
	}
	head = append(head, field("At", p.theme.Local(m.Received).Format("2 Jan 2006 15:04:05")))
	if m.Delay > 0 {
		head = append(head, field("", th.Good.On(theme.Elapsed(m.Delay)+" after you copied the address")))
	}
	if p.Opened != nil {
		head = append(append(head, p.attachments(w, label)...), p.notices(w)...)
	}
	if p.Ended && p.Err == nil {
		head = append(head, th.Warn.On(theme.Cut("The inbox no longer exists. This message stays visible until you leave it.", w)))
	}
	return append(head, "")
}

const (
	maxSubject = 6 // rows of a subject
	maxFolded  = 3 // rows of another header field until it is unfolded
	minLabel   = 6 // cells for the names of header fields
)

// labelWidth is the width in cells of the names of header fields.
func (p *Pane) labelWidth() int {
	w := minLabel
	for _, f := range p.summary.envelope {
		w = max(w, len(f.name)+2)
	}
	return w
}

// folded is a header field in rows of w cells, no more than maxFolded unless all is unfolded.
func (p *Pane) folded(value string, w int) []string {
	rows := strings.Split(theme.Cells().Wrap(p.theme.StableWidth(value), max(1, w), ""), "\n") // not within an address
	if !p.unfold && len(rows) > maxFolded {
		rows = rows[:maxFolded]
		rows[maxFolded-1] = theme.Cut(rows[maxFolded-1], w-2) + " " + theme.Ellipsis
	}
	return rows
}

// titleSubject is the subject in the title, as much of it as there is room for.
func (p *Pane) titleSubject() string {
	return theme.Cut(p.theme.StableWidth(p.Message.Subject), p.Rect.W-3-theme.Width(p.lead()))
}

// lead stands before the subject of a low pane, whose body may begin without it: the code, or the link.
func (p *Pane) lead() string {
	f, th := p.Message.Extracted, p.theme
	if !p.Rect.Low() || !f.Any() {
		return ""
	}
	text := th.Link.On("↗ " + th.StableWidth(f.Link.Text))
	if f.Code != "" {
		text = th.Code.On(f.Code)
	}
	return " " + theme.Cut(text, p.Rect.W-4) + th.Dim.On(" ·")
}

// subject is the subject as it was sent, in at most that many rows: none if the title shows it so.
// Nothing stands to the right of it, so that it may take another width than it seems to.
func (p *Pane) subject(w, most int) []string {
	text := p.Message.Subject
	if p.titleSubject() == text {
		return nil
	}
	wrap := theme.Cells().Wrap // on a terminal that counts runes, nothing is cut off at the right
	var rows []string
	for row := range strings.SplitSeq(wrap(theme.Cut(text, w*most), w, ""), "\n") {
		rows = append(rows, p.theme.Bright.On(row))
	}
	return rows[:min(len(rows), most)]
}

// from is the sender and the address. The name gives way to the address.
func (p *Pane) from(w int) string {
	th, m := p.theme, p.Message
	sender, address := th.StableWidth(m.Sender), " <"+th.StableWidth(m.Address)+">"
	if m.Address == "" || m.Address == m.Sender {
		return theme.CutMiddle(m.Sender, w)
	}
	if room := w - theme.Width(address); room >= min(theme.Width(sender), 4) {
		return theme.Cut(sender, room) + th.Dim.On(address)
	}
	return th.Dim.On(theme.CutMiddle(m.Address, w))
}

// shortHead is the head for a low pane.
func (p *Pane) shortHead(w int) []string {
	th, m := p.theme, p.Message
	line := th.Text.On(th.StableWidth(m.Sender)) + th.Dim.On(" · "+th.Local(m.Received).Format("15:04:05"))
	if m.Delay > 0 {
		line += th.Dim.On(" · ") + th.Good.On(theme.Elapsed(m.Delay)+" after you copied the address")
	}
	if p.Ended {
		line = th.Warn.On("The inbox is gone.") + th.Dim.On(" · ") + line
	}
	head := []string{theme.Cut(line, w)}
	if th.StableWidth(m.Subject) != m.Subject {
		head = append(p.subject(w, 1), head...)
	}
	if p.Opened != nil {
		head = append(head, p.attachments(w, minLabel)...)
	}
	return append(head, "")
}

// notices say how the view departs from the message.
func (p *Pane) notices(w int) []string {
	var rows []string
	if p.View == render.Web {
		if p.imageMode.Protocol == image.Blocks {
			rows = append(rows, p.theme.Dim.On(theme.Cut("Half blocks; sharp in kitty, iTerm2 or sixel", w)))
		}
		return rows
	}
	for _, n := range p.summary.notices {
		rows = append(rows, p.theme.Dim.On(theme.Cut(p.theme.StableWidth(n), w)))
	}
	if n := p.summary.images + p.summary.unfetched; n > 0 && !p.showImages && p.imageMode.Protocol != image.Off {
		does := "shows them"
		if n == 1 {
			does = "shows it"
		}
		text := english.Plural(n, "image", "") + ": "
		rows = append(rows, theme.Cut(p.theme.Dim.On(text)+theme.Hint(p.theme, p.hints.Images, does), w))
	}
	return rows
}

// attachments lists the attachments, a row each.
func (p *Pane) attachments(w, labelWidth int) []string {
	var rows []string
	for _, i := range p.Opened.Files() {
		a := p.Opened.Attachments[i]
		name := p.theme.StableWidth(cmp.Or(render.CleanName(a.Filename), render.Clean(a.ContentType)))
		size := render.Bytes(a.Size)
		label := "File"
		if len(rows) > 0 {
			label = ""
		}
		rows = append(rows, p.theme.Dim.On(theme.Fit(label, labelWidth))+theme.Cut(name, max(4, w-labelWidth-2-len(size)))+p.theme.Dim.On("  "+size))
	}
	return rows
}

func (p *Pane) tabAt(x int) (render.View, bool) {
	for v, name := range p.tabNames() {
		if x >= 0 && x < len(name) {
			return render.View(v), true
		}
		x -= len(name) + len(p.tabGap())
	}
	return 0, false
}

// tabGap is what stands between the names of the views: less where there is less room, "" if not all of them fit.
func (p *Pane) tabGap() string {
	gap := "  "
	for gap != "" && len(strings.Join(p.tabNames(), gap)) > p.Rect.W-2-max(1, theme.Width(p.below())) {
		gap = gap[1:]
	}
	return gap
}

// below says how many rows follow.
func (p *Pane) below() string {
	if rest := len(p.head()) + len(p.lines) - p.top - p.textHeight(); rest > 0 {
		return p.theme.Dim.On("   ↓ " + strconv.Itoa(rest))
	}
	return ""
}

// tabNames are the names of the views, that of the checks with their number, the open web view by what it is rendered for.
func (p *Pane) tabNames() []string {
	names := slices.Clone(p.views())
	if p.summary.checks > 0 {
		names[render.Checks] += " " + strconv.Itoa(p.summary.checks)
	}
	if look := p.Look.String(); look != "" && p.View == render.Web {
		names[render.Web] = look
	}
	return names
}

// tabs names the views, and says how many rows follow.
func (p *Pane) tabs() string {
	names := p.tabNames()
	forms := []string{dialog.Tabs(p.theme, names, int(p.View), p.tabGap())}
	if p.tabGap() == "" {
		name := dialog.Tabs(p.theme, names[p.View:p.View+1], 0, "")
		forms = []string{name + p.theme.Dim.On(fmt.Sprintf("  view %d of %d", p.View+1, len(names))), name}
	}
	below := p.below()
	return theme.FirstFit(forms, p.Rect.W-2-theme.Width(below)) + below
}
