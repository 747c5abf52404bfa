// Package reader is the pane that shows one message.
//
// reader.go holds its state, layout.go lays out the lines of a view and keeps the place in them, draw.go draws
// them, picture.go shows what a browser renders, and checks.go says what can be done: with a check, a link, a search.
package reader

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/browser"
	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/image"
	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Views are the names of the views, in the order of [render.View] and of the keys 1 to 7.
var Views = [...]string{"rich", "text", "html", "headers", "raw", "checks", "web"}

// Pane shows one message.
type Pane struct {
	Message *store.Message   // nil when none is open
	Opened  *message.Message // nil while loading
	summary summary          // of Opened
	Err     error            // why the message could not be opened
	View    render.View
	Look    browser.Viewport // of the web view, for this message and the next
	Ended   bool             // the inbox is gone; the message stays until the user leaves it
	Rect    theme.Rect
	Away    bool // no browser renders for the user, who is elsewhere: there is no web view

	// Generation counts openings: a result for an earlier one is stale.
	Generation uint64

	look
	email    string    // of the inbox
	since    time.Time // when opening began
	rawSince time.Time // when fetching the raw message began; zero while it is not fetched
	rawErr   error     // why there is no raw message

	hidden, unfold, showImages bool

	lines   []render.Line // of the body, for laidOut
	laidOut layoutKey
	laying  layoutKey // being laid out in the background
	ready   layoutKey // laid out while the message was being fetched
	top     int
	search  dialog.Search
	pending []string // to be searched for as soon as there are lines: the first that occurs
	images  images
	painting

	left       [len(Views)]position // where each view was left
	check      int                  // the selected one
	target     position             // of a check, in the HTML source
	targetLine int                  // that has it; -1 if none
	seeking    bool                 // the source is not laid out yet
	fromChecks bool                 // esc goes back to them
}

// look is how the pane appears, whatever it shows.
type look struct {
	theme     *theme.Theme
	imageMode image.Mode
	hints     Hints
}

// Hints are the keys that the pane names.
type Hints struct{ Retry, Images, Hidden string }

// SetLook sets the theme, the image mode of the terminal, and the keys to mention.
func (p *Pane) SetLook(th *theme.Theme, m image.Mode, h Hints) { p.look = look{th, m, h} }

// Reads reports whether the message with the given key is open or on its way.
func (p *Pane) Reads(key string) bool { return p.Message != nil && p.Message.Key == key }

// Open starts showing a message in the rich view; results for an earlier one are stale from now on.
func (p *Pane) Open(m *store.Message, email string, now time.Time) {
	p.Close()
	p.Message, p.email, p.since = m, email, now
}

// Close closes the message.
func (p *Pane) Close() {
	if p.stop != nil {
		p.stop()
	}
	*p = Pane{Rect: p.Rect, look: p.look, Generation: p.Generation + 1, images: p.images,
		Look: p.Look, painting: painting{done: map[browser.Viewport]*painted{}, drawn: p.drawn, garbage: p.garbage || len(p.done) > 0}}
}

// Show shows a message that has been fetched.
func (p *Pane) Show(m *message.Message) {
	p.Opened, p.summary, p.Err, p.rawSince = m, summarize(m, p.email), nil, time.Time{}
}

// summary is what every frame says of a message.
type summary struct {
	notices           []string // what is not shown as the mail has it
	images, unfetched int      // images, and those in parts that were not fetched
	checks            int      // findings
	invitation        bool     // there is one that was not fetched
	envelope          []headerField
	receivedAs        string // how the message reached the inbox, if neither To nor Cc names it; "" otherwise
	// sourceLines is the number of lines of the HTML source, or more.
	sourceLines int
}

// headerField is a header field that says who wrote to whom, cleaned.
type headerField struct{ name, value string }

// envelopeOf returns the fields that say who wrote to whom as they were sent, and how the message reached the inbox with
// an address. The API's object has only the first of To.
func envelopeOf(m *message.Message, inbox string) (fields []headerField, receivedAs string) {
	names := false
	for _, name := range []string{"From", "To", "Cc", "Bcc", "Reply-To"} {
		value := ""
		for _, f := range m.Fields {
			if strings.EqualFold(f.Name, name) && f.Value != "" {
				value = strings.TrimPrefix(value+", "+f.Value, ", ")
			}
		}
		if name == "To" && len(m.Fields) == 0 {
			value = m.Recipients()
		}
		if value = render.Clean(value); value == "" {
			continue
		}
		fields = append(fields, headerField{name, value})
		names = names || name != "From" && name != "Reply-To" && slices.ContainsFunc(mail.Addresses(value), func(a mail.Address) bool { return reaches(a.Addr, inbox) })
	}
	switch {
	case names || inbox == "":
	case len(m.Fields) > 0:
		receivedAs = inbox + " (Bcc)"
	case len(fields) > 0:
		receivedAs = inbox
	}
	return fields, receivedAs
}

// reaches reports whether mail to an address is for an inbox, whose tag a sender may choose.
func reaches(address, inbox string) bool {
	local, domain, _ := strings.Cut(address, "@")
	local, _, _ = strings.Cut(local, "+")
	return strings.EqualFold(address, inbox) || strings.EqualFold(local+"@"+domain, inbox)
}

func summarize(m *message.Message, inbox string) summary {
	opened := m.Mail()
	f := summary{notices: opened.Notice()}
	f.envelope, f.receivedAs = envelopeOf(m, inbox)
	f.images, f.unfetched = opened.CountImages()
	f.checks = check.Count(opened.Checks())
	f.invitation = slices.ContainsFunc(m.Attachments, func(a mail.Attachment) bool { return a.Calendar() && a.Content == nil })
	f.sourceLines = 1 + strings.Count(m.HTML, "\n") + strings.Count(m.HTML, "\r")
	return f
}

// WantsRaw reports whether the view needs the raw message, or its delivery details, which is neither here nor being fetched.
func (p *Pane) WantsRaw() bool {
	if p.Opened == nil || p.rawErr != nil || !p.rawSince.IsZero() {
		return false
	}
	if p.Opened.Raw != nil {
		return p.View == render.Headers && p.Opened.Delivery == nil
	}
	return p.View >= render.Headers || p.summary.invitation || p.showImages && p.summary.unfetched > 0
}

// AwaitRaw records that the raw message is being fetched since now; the zero time means that it is not.
func (p *Pane) AwaitRaw(now time.Time) { p.rawSince = now }

// FailRaw records why there is no raw message.
func (p *Pane) FailRaw(err error) { p.rawErr, p.rawSince = err, time.Time{} }

// Typing reports whether a search is being typed.
func (p *Pane) Typing() bool { return p.search.Typing }

// StopTyping ends the typing of a search and keeps what was typed.
func (p *Pane) StopTyping() { p.search.Typing = false }

// Move scrolls by lines, or moves the cursor over the checks; negative is up.
func (p *Pane) Move(n int) { p.move(n, n) }

// Page scrolls by pages, or moves the cursor over three checks; negative is up.
func (p *Pane) Page(n int) { p.move(n*max(1, p.textHeight()-2), 3*n) }

// First goes to the beginning.
func (p *Pane) First() { p.move(-1<<30, -1<<30) }

// Last goes to the end.
func (p *Pane) Last() { p.move(1<<30, 1<<30) }

// StartTyping starts the typing of a search.
func (p *Pane) StartTyping() { p.search.Start() }

// Type applies a key or a paste to the search being typed. No key goes on to the pane.
func (p *Pane) Type(msg tea.Msg) bool {
	if line, ok := p.search.Type(msg, p.top-len(p.head())); ok {
		p.reveal(line)
	}
	return false
}

// Back ends the search, or goes back to the checks. It reports false when there is nothing to undo.
func (p *Pane) Back() bool {
	switch {
	case p.search.On():
		p.search.Clear()
	case p.fromChecks:
		p.ShowView(render.Checks)
	default:
		return false
	}
	return true
}

// ShowView changes the view and goes to where it was left.
func (p *Pane) ShowView(v render.View) {
	if v == p.View {
		return
	}
	if p.laidOut.view == p.View {
		p.left[p.View] = p.position()
	}
	p.View, p.top, p.target, p.fromChecks = v, 0, position{}, false
}

// NextView shows the next view.
func (p *Pane) NextView() { p.ShowView((p.View + 1) % render.View(len(p.views()))) }

// views are the names of the views that can be shown.
func (p *Pane) views() []string {
	if p.Away {
		return Views[:render.Web]
	}
	return Views[:]
}

// ToggleHidden shows or hides the text that the message hides, and reports whether it is shown.
func (p *Pane) ToggleHidden() bool {
	p.hidden = !p.hidden
	return p.hidden
}

// ToggleImages shows or hides the images embedded in the message, and reports whether they are shown.
func (p *Pane) ToggleImages() bool {
	p.showImages = !p.showImages
	if p.showImages {
		p.ShowView(render.Rich)
	}
	return p.showImages
}

// Step goes to the next hit of the search, or to the one before.
func (p *Pane) Step(n int) {
	if line, ok := p.search.Step(n); ok {
		p.reveal(line)
	}
}

// ToggleUnfold shows footers and quotes whole, or folds them.
func (p *Pane) ToggleUnfold() { p.unfold = !p.unfold }

// Find searches the message for the first of several texts that occurs in it, once it is laid out.
func (p *Pane) Find(texts []string) {
	p.ShowView(render.Rich)
	p.pending = texts
}

func (p *Pane) findPending() {
	for _, text := range p.pending {
		if p.search.For(text) {
			p.Step(0)
			break
		}
		p.search.Clear()
	}
	p.pending = nil
}

// move scrolls by lines, or moves the cursor over the checks by their number.
func (p *Pane) move(lines, checks int) {
	if !p.moveCheck(checks) {
		p.Scroll(lines)
	}
}

// Scroll scrolls by lines; negative is up.
func (p *Pane) Scroll(n int) {
	p.top += n
	p.clamp()
}

func (p *Pane) clamp() {
	p.top = max(0, min(p.top, len(p.head())+len(p.lines)-p.textHeight()))
}

// Scrolled reports whether the message has been scrolled away from its beginning.
func (p *Pane) Scrolled() bool { return p.top > 0 }

// reveal scrolls a line of the body into view, away from the very edge.
func (p *Pane) reveal(line int) {
	n := line + len(p.head())
	if h := p.textHeight(); n < p.top || n >= p.top+h {
		p.top = n - h/3
		p.clamp()
	}
}

// Click shows a view, selects a check or goes to its place. It returns the link that was clicked, the zero
// value if none was, and the reason if the check has no place.
func (p *Pane) Click(m tea.MouseClickMsg) (l render.Link, reason string) {
	x := m.X - p.Rect.X - 2
	if p.tabsShown() && m.Y == p.Rect.Y+p.Rect.H-1 {
		if p.tabGap() == "" {
			p.NextView()
		} else if v, ok := p.tabAt(x); ok {
			p.ShowView(v)
		}
		return render.Link{}, ""
	}
	line := p.lineAt(m.Y)
	switch {
	case line == nil || p.Opened == nil:
		return render.Link{}, ""
	case len(p.findings()) > 0:
		return render.Link{}, p.clickCheck(line.Block - 1)
	}
	for _, at := range line.Links {
		if x >= at.Col && x < at.Col+at.Width {
			return p.link(at.N), ""
		}
	}
	return render.Link{}, ""
}

// link finds a link of the message by its number; the zero value means none.
func (p *Pane) link(n int) render.Link {
	for _, l := range p.Opened.Mail().Links() {
		if l.N == n {
			return l
		}
	}
	return render.Link{}
}

// lineAt returns the line of the body at row y of the screen, nil if there is none.
func (p *Pane) lineAt(y int) *render.Line {
	row := y - p.Rect.Y - p.Rect.Top()
	n := row + p.top - len(p.head())
	if row < 0 || row >= p.textHeight() || n < 0 || n >= len(p.lines) {
		return nil
	}
	return &p.lines[n]
}
