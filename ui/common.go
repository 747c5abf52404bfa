package ui

import (
	"context"
	"errors"
	"log/slog"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/term"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// common is what every subject has: the screen, the dialogs over it, the bottom line, the connection and the machine.
type common struct {
	ctx        context.Context
	log        *slog.Logger
	host       *host.Host
	settings   *settings
	connection *session.Connection
	terminal   term.Capabilities
	table      table // the actions of all subjects
	now        time.Time

	screen
	dialogStack
	footer footer
}

// serviceNow is the time by the service's clock, with which the times of inboxes and messages are compared.
func (c *common) serviceNow() time.Time { return c.now.Add(c.store.Ahead) }

// busy reports whether a dialog is open or a line is being typed. What arrives from outside then
// leaves the focus alone, so that no letter meant for them becomes a command.
func (c *common) busy() bool { return len(c.dialogs) > 0 || c.pane().Typing() }

// note shows text in the bottom line, unless it is empty.
func (c *common) note(text string) {
	if text != "" {
		c.footer.say(func() string { return text }, c.now)
	}
}

// noteEither notes that something is on now, or off.
func (c *common) noteEither(is bool, on, off string) {
	c.note(either(is, on, off))
}

func either(is bool, on, off string) string {
	if is {
		return on
	}
	return off
}

// report shows the outcome of work in the bottom line, if there is one.
func (c *common) report(d host.Result) tea.Cmd {
	if d == (host.Result{}) {
		return nil
	}
	if d.Err != nil {
		c.log.Warn("failed", "error", d.Err)
	}
	c.footer.show(outcome{Result: d}, c.now)
	if limited := errors.Is(d.Err, api.ErrRateLimited); limited || errors.Is(d.Err, api.ErrUnavailable) {
		if s := c.session(); s != nil && limited {
			s.Watcher.Report(d.Err)
		}
		c.footer.outcome.now = func() string { return c.connection.Sentence(c.now) } // rather than one of several times
	}
	return nil
}

// goneOn is said instead of showing what was asked for before the user began to type or opened a dialog.
const goneOn = "Cancelled because you moved on; try again"

// unlessBusy does what was asked for, unless the user has gone on to something else.
func (c *common) unlessBusy(do func() tea.Cmd) tea.Cmd {
	if c.busy() {
		c.note(goneOn)
		return nil
	}
	return do()
}

// copy copies text; what names it on the screen.
func (c *common) copy(text, what string) tea.Cmd {
	c.report(host.Copied(what))
	return c.host.Copy(c.ctx, c.terminal.Env, text, what)
}

// put adds inboxes to the store and watches the new ones.
func (c *common) put(inboxes ...api.Inbox) {
	for _, in := range inboxes {
		if i, isNew := c.store.Put(in, c.now); isNew {
			i.Generation = c.session().Watcher.Add(i.ID)
		}
	}
}

// drop removes an inbox that was deleted here. While the user is busy, the focus stays.
func (c *common) drop(id string) {
	c.store.Drop(id)
	c.updateLists()
	if c.inboxes.Inbox() == nil && !c.busy() {
		c.focus = theme.Inboxes
	}
}

// What several subjects need for an action: an item, or the reason why there is none, as the screen shows it.

func (c *common) theService() (s *session.Session, disabledReason string) {
	return c.session(), c.connection.RequireService(c.table.keyFor("connect"), c.table.keyFor("refresh"), c.now)
}

func (c *common) theMessage() (m *store.Message, disabledReason string) {
	if m = c.message(); m == nil {
		return nil, "Select a message first"
	}
	return m, ""
}

func (c *common) theInbox() (i *store.Inbox, disabledReason string) {
	switch i = c.inbox(); {
	case c.session() == nil:
		_, disabledReason = c.theService()
	case i == nil && len(c.store.Order) == 0:
		disabledReason = "No inboxes yet: " + c.table.keyFor("new-inbox") + " creates one"
	case i == nil:
		disabledReason = "Select an inbox first"
	}
	return i, disabledReason
}

// theLiveInbox is one that is not gone.
func (c *common) theLiveInbox() (i *store.Inbox, disabledReason string) {
	if i, disabledReason = c.theInbox(); disabledReason == "" && i.Gone(c.serviceNow()) {
		disabledReason = "This inbox has expired or was deleted: " + c.table.keyFor("new-inbox") + " creates a new one"
	}
	return i, disabledReason
}

// canChange is a live inbox of a service that is not known to lack a change of it.
func (c *common) canChange(cannot func(*api.Client) bool, lacking string) func() (i *store.Inbox, disabledReason string) {
	return func() (*store.Inbox, string) {
		s, reason := c.theService()
		switch {
		case reason != "":
			return nil, reason
		case cannot(s.Client):
			return nil, lacking
		}
		return c.theLiveInbox()
	}
}
