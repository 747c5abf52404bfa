package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/lists"
	"mayfly/ui/reader"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// screen is what is on the screen: the panes, what they show, which of them has focus, and where they lie.
// It knows neither the service nor what the keys do.
type screen struct {
	width, height int
	layout        theme.Layout
	theme         *theme.Theme
	ticking       bool // the timer runs, by which it is drawn again

	store    *store.Store
	inboxes  *lists.Inboxes
	messages *lists.Messages
	reader   *reader.Pane
	focus    theme.Pane
	zoomed   bool // the message has the whole screen
}

// pane is what the three panes have in common.
type pane interface {
	Move(n int)   // the cursor by rows, or the text by lines; negative is up
	Page(n int)   // by pages
	Scroll(n int) // without the cursor
	First()
	Last()
	StartTyping()               // a filter or a search
	Typing() bool               // the keys go to that
	Type(msg tea.Msg) (on bool) // reports whether the key ended that and goes on to the pane
	StopTyping()
	Back() bool // undoes the last step inside the pane; false if there is none
}

func (s *screen) panes() [3]pane {
	return [3]pane{theme.Inboxes: s.inboxes, theme.Messages: s.messages, theme.Reader: s.reader}
}

// pane is the pane that has focus.
func (s *screen) pane() pane { return s.panes()[s.focus] }

// reset forgets everything about a service.
func (s *screen) reset(now time.Time) {
	typing := s.store != nil && s.pane().Typing()
	s.store = store.New(now)
	byMail := s.inboxes != nil && s.inboxes.ByMail
	s.inboxes, s.messages = lists.NewInboxes(s.store), lists.NewMessages(s.store)
	s.inboxes.ByMail = byMail
	s.reader.Close()
	s.focus = theme.Messages
	if typing { // the letters that follow are not commands
		s.messages.StartTyping()
	}
}

// layOut lays the panes out on the screen.
func (s *screen) layOut() {
	s.layout = theme.Compute(theme.Input{
		Width: s.width, Height: s.height, Focus: s.focus, Reading: s.message() != nil, Zoomed: s.zoomed,
	})
	s.inboxes.Fit(s.layout.Panes[theme.Inboxes])
	s.messages.Fit(s.layout.Panes[theme.Messages])
	s.reader.Fit(s.layout.Panes[theme.Reader])
}

// message is the selected message. The reader shows it, and every action applies to it; see showSelected.
func (s *screen) message() *store.Message { return s.messages.Message() }

// inbox is the inbox an action applies to: the selected one, or that of the message.
func (s *screen) inbox() *store.Inbox {
	if i := s.inboxes.Inbox(); i != nil {
		return i
	}
	if m := s.message(); m != nil && s.focus != theme.Inboxes {
		return s.store.Inboxes[m.InboxID]
	}
	return nil
}

// chosenMessage is the message that the user went to, open or selected; nil if they went to none.
func (s *screen) chosenMessage() *store.Message {
	if s.focus == theme.Reader || s.messages.UserMoved() {
		return s.message()
	}
	return nil
}

// nameOf is the name of the inbox of a message.
func (s *screen) nameOf(m *store.Message) string {
	if i := s.store.Inboxes[m.InboxID]; i != nil {
		return theme.CutMiddle(i.Name(), max(20, s.width/4))
	}
	return m.InboxID
}

// inView returns the IDs of the inboxes whose messages are listed.
func (s *screen) inView() []string {
	if s.messages.InboxID == store.All {
		return append([]string(nil), s.store.Order...)
	}
	return []string{s.messages.InboxID}
}

// filtered updates the lists after a filter or the marks have changed.
func (s *screen) filtered() {
	s.inboxes.Refresh()
	s.showInbox()
	s.messages.Refresh()
}

// paneLeft moves the focus to the left, as far as there is a pane.
func (s *screen) paneLeft() { s.focus = max(s.focus-1, theme.Inboxes) }

// previousPane moves the focus to the left, and from the first pane to the last.
func (s *screen) previousPane() {
	switch {
	case s.focus != theme.Inboxes:
		s.paneLeft()
	case s.message() != nil:
		s.focus = theme.Reader
	default:
		s.focus = theme.Messages
	}
}

// showInbox lists the messages of the selected inbox.
func (s *screen) showInbox() {
	before := s.messages.InboxID
	s.messages.Show(s.inboxes.ShownID())
	if s.messages.InboxID != before {
		s.focus = min(s.focus, theme.Messages)
	}
}

// selectInbox moves the cursor to an inbox and shows its messages.
func (s *screen) selectInbox(id string) {
	s.inboxes.Filter.Clear()
	s.inboxes.Refresh()
	s.inboxes.Select(id)
	s.showInbox()
	s.messages.Refresh()
}

// goTo selects a message. From the newest, the cursor goes on to newer mail.
func (s *screen) goTo(m *store.Message) {
	if !s.messages.Lists(m.InboxID) {
		s.selectInbox(m.InboxID)
	}
	if s.messages.Select(m.Key) && s.messages.Index() == 0 {
		s.messages.First()
	}
}

// newestUnread is the newest unread message of all inboxes, nil if all are read.
func (s *screen) newestUnread() *store.Message {
	for _, key := range s.store.Keys(store.All) {
		if m := s.store.Messages[key]; m.Unread && s.store.Inboxes[m.InboxID].State != store.Gone {
			return m
		}
	}
	return nil
}

// updateLists updates both lists from the store. No cursor moves.
func (s *screen) updateLists() {
	s.inboxes.Refresh()
	s.messages.Show(s.inboxes.ShownID())
	s.messages.Refresh()
}

// prune removes inboxes that have been gone for a while, unless they are in use.
func (s *screen) prune(now time.Time) {
	if s.store.Prune(now, func(id string) bool {
		return id == s.inboxes.Selected() || s.inboxes.Marks[id] || s.message() != nil && s.message().InboxID == id
	}) {
		s.updateLists()
	}
}

// place names what the one pane that is shown is about; "" when several are. The reader has the subject in its title.
func (s *screen) place() string {
	switch i := s.store.Inboxes[s.messages.InboxID]; {
	case s.layout.Columns > 1:
		return ""
	case s.focus == theme.Inboxes:
		return "Inboxes"
	case i == nil:
		return "All"
	default:
		return theme.CutMiddle(i.Name(), s.width/2)
	}
}

// tickMsg means that a second has passed, redrawMsg that something is to be mentioned by now.
type (
	tickMsg   struct{}
	redrawMsg struct{}
)

// redrawIn draws the screen again after a delay from which on something is mentioned there.
func redrawIn(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return redrawMsg{} })
}
