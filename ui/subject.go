package ui

import (
	"time"

	"mayfly/internal/message"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// Subject is what actions apply to. Its methods return the reason why an action is unavailable, as
// the screen shows it; "" if it is available.
type Subject struct {
	Link    *session.Link
	Store   *store.Store
	Inbox   *store.Inbox   // the selected one, or that of the message; nil if none
	Message *store.Message // the open one, otherwise the selected one; nil if none
	Keys    Table
	Now     time.Time
}

// Fetch fetches the message with its raw form, and computes an intent from it and the address of its
// inbox.
func (s Subject) Fetch(then func(m *message.Message, address string) any) session.Request {
	address := ""
	if i := s.Store.Inboxes[s.Message.InboxID]; i != nil {
		address = i.Email
	}
	return s.Link.Session.Fetch(s.Message, s.Store.Opened.Get(s.Message.Key), func(m *message.Message) any { return then(m, address) })
}

// NeedService is the reason when the service cannot be asked.
func (s Subject) NeedService() string {
	return s.Link.NeedService(s.Keys.KeyFor("connect"), s.Keys.KeyFor("refresh"), s.Now)
}

// NeedInbox is the reason when there is no inbox.
func (s Subject) NeedInbox() string {
	switch {
	case s.Link.Session == nil:
		return s.NeedService()
	case s.Inbox != nil:
		return ""
	case len(s.Store.Order) == 0:
		return "There are no inboxes yet: " + s.Keys.KeyFor("new-inbox") + " creates one"
	}
	return "Select an inbox first"
}

// NeedLive is the reason when there is no inbox or it is gone.
func (s Subject) NeedLive() string {
	if reason := s.NeedInbox(); reason != "" {
		return reason
	}
	if s.Inbox.Gone(s.Now) {
		return "This inbox is gone: " + s.Keys.KeyFor("new-inbox") + " creates a new one"
	}
	return ""
}

// NeedSMTP is the reason when no sample message can be sent to the inbox.
func (s Subject) NeedSMTP() string {
	if c := s.Link.Session; c != nil && c.SMTPAddr == "" {
		return "Sample messages can only be sent to the local service"
	}
	return s.NeedLive()
}

// NeedMessage is the reason when there is no message.
func (s Subject) NeedMessage() string {
	if s.Message == nil {
		return "Select a message first"
	}
	return ""
}
