package ui

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/api"
	"mayfly/letter"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/image"
	"mayfly/render/layout"
	"mayfly/ui/theme"
)

// bigBody is the size in bytes from which a body is laid out beside the frames, not between them.
const bigBody = 48 << 10

// openedMsg is the outcome of opening a message.
type openedMsg struct {
	session    *session
	generation uint64
	key        string
	opened     *opened
	peek       *peek
	lines      []render.Line
	laidOut    layoutKey
	err        error
}

// openMessage shows a message in the reader, and it counts as read.
func (a *app) openMessage(m *message) tea.Cmd {
	cmd := a.showMessage(m)
	a.readWhatIsSeen()
	return cmd
}

// showMessage shows a message in the reader: at once when it is on the shelf, else when it was fetched.
func (a *app) showMessage(m *message) tea.Cmd {
	i := a.book.inboxes[m.inboxID]
	email := ""
	if i != nil {
		email = i.email
		a.session.watcher.Touch(i.id)
	}
	a.reader.open(m, email, a.now)
	if o := a.mails.get(m.key); o != nil {
		a.reader.opened = o
		return a.fetchRaw()
	}
	a.peeks[m.key] = true // opening it looks into it as well
	s, generation, key := a.session, a.reader.generation, m.key
	inboxID, id := m.inboxID, m.id
	want, th := a.reader.key(), a.renderTheme()
	return s.do(func(ctx context.Context) tea.Msg {
		out := openedMsg{session: s, generation: generation, key: key}
		msg, err := s.conn.Client.Message(ctx, inboxID, id)
		if err != nil {
			out.err = err
			return out
		}
		out.opened = openMail(letter.Letter{Message: msg})
		out.peek = look(out.opened.mail)
		out.laidOut, out.lines = want, lay(out.opened.mail, want, th)
		return out
	})
}

func (m openedMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	if m.opened != nil {
		a.mails.put(m.key, m.opened)
		a.looked(m.key, m.peek)
	}
	if m.generation != a.reader.generation {
		return m.opened.giveBack() // another message is read by now
	}
	if m.err != nil {
		a.reader.err = m.err
		return nil
	}
	a.reader.opened, a.reader.err = m.opened, nil
	if a.reader.message != nil {
		a.reader.message.peek = m.peek
	}
	a.reader.take(m.laidOut, m.lines)
	return tea.Batch(a.fetchRaw(), m.opened.giveBack())
}

// openMail reads a letter into a document.
func openMail(l letter.Letter) *opened {
	l.Message.Raw = nil // the object as it came holds everything once more
	o := &opened{letter: l, big: len(l.Message.Text)+len(l.Message.HTML)+len(l.Raw) > bigBody}
	o.mail = render.Open(l.Content())
	o.checks, o.notice = countChecks(o.mail), o.mail.Notice()
	o.pictures, o.picturesAway = o.mail.CountImages()
	return o
}

// giveBack returns what reading a large message took to the system, at once: nothing else may happen for minutes.
func (o *opened) giveBack() tea.Cmd {
	if o == nil || o.weight() < 1<<20 {
		return nil
	}
	return func() tea.Msg { debug.FreeOSMemory(); return nil }
}

// countChecks is the number of findings that a tester should look at.
func countChecks(m *render.Mail) int {
	n := 0
	for _, f := range m.Checks() {
		if f.Level > check.Info {
			n++
		}
	}
	return n
}

// lay makes the lines of a view.
func lay(m *render.Mail, k layoutKey, th render.Theme) []render.Line {
	return m.Lines(k.view, render.Options{Width: k.width, Theme: th, Hidden: k.hidden, Unfold: k.unfold, Images: k.pictures})
}

// renderTheme is the theme in the terms of the renderer.
func (a *app) renderTheme() render.Theme { return renderTheme(a.th, true) }

func renderTheme(th *theme.Theme, hyperlinks bool) render.Theme {
	r := render.Theme{Dark: th.Dark, Hyperlinks: hyperlinks}
	switch {
	case th.Profile >= colorprofile.TrueColor:
		r.Profile = layout.TrueColor
	case th.Profile >= colorprofile.ANSI256:
		r.Profile = layout.ANSI256
	case th.Profile >= colorprofile.ANSI:
		r.Profile = layout.ANSI16
	}
	c := th.Colors
	r.Accent, r.Good, r.Warning, r.Bad, r.Dim = c.Accent, c.Good, c.Warn, c.Bad, c.Dim
	return r
}

// laidMsg carries lines that were made beside the frames.
type laidMsg struct {
	key   layoutKey
	lines []render.Line
}

func (m laidMsg) apply(a *app) tea.Cmd {
	if m.key != a.reader.key() { // the lines are of no use any more; others may be in the making
		if a.reader.laying == m.key {
			a.reader.laying = layoutKey{}
		}
		return nil
	}
	if cmd, given := a.give(m); given {
		return cmd
	}
	a.reader.laying = layoutKey{}
	a.reader.take(m.key, m.lines)
	return a.takeBack(m.lines)
}

// layOut brings the lines of the reader up to date with its size, view and theme.
func (a *app) layOut() tea.Cmd {
	r := a.reader
	if r.rect.Empty() || r.settled() {
		return nil
	}
	k, m, th := r.key(), r.opened.mail, a.renderTheme()
	if !r.opened.big && k.pictures.Protocol == image.Off {
		r.take(k, lay(m, k, th))
		return nil
	}
	if r.laying == k {
		return nil
	}
	r.laying = k
	return func() tea.Msg { return laidMsg{k, lay(m, k, th)} }
}

// eagerRaw is the size in bytes up to which the embedded service is asked for the raw message before a view needs it.
const eagerRaw = 1 << 20

// rawMsg is the outcome of fetching a raw message.
type rawMsg struct {
	session *session
	key     string
	opened  *opened // nil when it was not to be had
	err     error
}

// fetchRaw fetches the raw message of what is read, where the service gives it: the views of headers and
// source, and some checks, are made from it.
func (a *app) fetchRaw() tea.Cmd {
	r := a.reader
	if r.opened == nil || r.opened.letter.Raw != nil || r.opened.rawErr != nil || a.noRaw {
		return nil
	}
	if (!a.session.conn.Embedded || r.message.size > eagerRaw) && r.view < render.Headers && !(r.pictures && r.opened.picturesAway > 0) {
		return nil // what may never be needed; the budget is small elsewhere, and it takes time and memory
	}
	if !r.rawSince.IsZero() {
		return nil // it is on its way
	}
	r.rawSince = a.now
	s, o, key := a.session, r.opened, r.message.key
	inboxID, id := r.message.inboxID, r.message.id
	return s.do(func(ctx context.Context) tea.Msg {
		raw, err := s.conn.Client.Raw(ctx, inboxID, id)
		if err != nil {
			return rawMsg{session: s, key: key, err: err}
		}
		return rawMsg{session: s, key: key, opened: openMail(letter.Letter{Message: o.letter.Message, Raw: raw})}
	})
}

func (m rawMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	if errors.Is(m.err, api.ErrUnsupported) {
		a.noRaw = true
	}
	if m.opened != nil {
		a.mails.put(m.key, m.opened)
	}
	r := a.reader
	if r.message == nil || r.message.key != m.key || r.opened == nil {
		return nil
	}
	r.rawSince = time.Time{}
	if m.err != nil {
		r.opened.rawErr = m.err
		return nil
	}
	r.opened = m.opened
	return m.opened.giveBack()
}

// leaveMessage closes what is read.
func (a *app) leaveMessage() {
	a.reader.close()
	if a.focus == paneReader {
		a.focus = paneMessages
	}
}

// readWhatIsSeen marks the message on the screen read, when somebody is looking.
func (a *app) readWhatIsSeen() {
	if a.caps.blurred || a.reader.message == nil || a.reader.seen {
		return
	}
	a.reader.seen = true
	if m := a.book.messages[a.reader.message.key]; m != nil {
		a.book.setUnread(m, false)
	}
}

func (a *app) toggleUnread() tea.Cmd {
	m := a.book.messages[a.current().key]
	if m == nil {
		return nil
	}
	a.book.setUnread(m, !m.unread)
	return nil
}

func (a *app) showView(v render.View) tea.Cmd {
	a.reader.setView(v)
	return a.fetchRaw()
}

func (a *app) nextView() tea.Cmd {
	return a.showView((a.reader.view + 1) % render.View(len(views)))
}

func (a *app) toggleUnfold() tea.Cmd {
	a.reader.unfold = !a.reader.unfold
	return nil
}

func (a *app) toggleHidden() tea.Cmd {
	a.reader.hidden = !a.reader.hidden
	if a.reader.hidden {
		return a.say(note, "Hidden text is shown")
	}
	return a.say(note, "Hidden text is hidden again")
}

func (a *app) toggleFollow() tea.Cmd {
	a.follow = !a.follow
	if a.follow {
		return a.say(note, "Following: the newest message opens as it arrives")
	}
	return a.say(note, "Not following")
}

// shelf keeps the messages opened last.
type shelf struct {
	keys  []string // the last used at the end
	mails map[string]*opened
}

// shelfSize is how many messages are kept, and shelfBytes how much of them. The last one is kept in any case.
const (
	shelfSize  = 24
	shelfBytes = 16 << 20
)

// weight is about how many bytes a message takes: the document of an HTML body is several times its source.
func (o *opened) weight() int {
	n := len(o.letter.Raw) + 2*len(o.letter.Message.Text) + 5*len(o.letter.Message.HTML)
	for _, a := range o.letter.Message.Attachments {
		n += len(a.Content)
	}
	return n
}

func (s *shelf) get(key string) *opened {
	o := s.mails[key]
	if o != nil {
		s.touch(key)
	}
	return o
}

func (s *shelf) put(key string, o *opened) {
	if s.mails == nil {
		s.mails = map[string]*opened{}
	}
	s.mails[key] = o
	s.touch(key)
	bytes := 0
	for i := len(s.keys) - 1; i >= 0; i-- {
		bytes += s.mails[s.keys[i]].weight()
		if i < len(s.keys)-1 && (bytes > shelfBytes || len(s.keys)-i > shelfSize) {
			for _, k := range s.keys[:i+1] {
				delete(s.mails, k)
			}
			s.keys = s.keys[i+1:]
			return
		}
	}
}

func (s *shelf) touch(key string) {
	for i, k := range s.keys {
		if k == key {
			s.keys = append(s.keys[:i:i], s.keys[i+1:]...)
			break
		}
	}
	s.keys = append(s.keys, key)
}

// oneLine joins the words of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
