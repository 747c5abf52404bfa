package action

import (
	"time"

	"mayfly/ui/session"
	"mayfly/ui/store"
)

// Subject is what an action is about. Its methods are the reasons for which an action cannot be
// done now, in the words the screen shows; empty when it can.
type Subject struct {
	Session *session.Session // nil before the first connection
	Store   *store.Store
	Inbox   *store.Inbox   // the selected one, or that of the message; nil without one
	Message *store.Message // the one being read, else the selected one; nil without one
	Keys    Table
	Now     time.Time
}

// NeedService is the reason why nothing can be asked of the service.
func (s Subject) NeedService() string {
	if s.Session == nil {
		return "Not connected yet"
	}
	return ""
}

// NeedInbox is the reason why nothing can be done with the inbox.
func (s Subject) NeedInbox() string {
	switch {
	case s.Session == nil:
		return s.NeedService()
	case s.Inbox != nil:
		return ""
	case len(s.Store.Order) == 0:
		return "There are no inboxes yet: " + s.Keys.KeyFor("new-inbox") + " creates one"
	}
	return "Select an inbox first"
}

// NeedLive is NeedInbox, of an inbox that is not gone.
func (s Subject) NeedLive() string {
	if reason := s.NeedInbox(); reason != "" {
		return reason
	}
	if s.Inbox.Gone(s.Now) {
		return "This inbox is gone: " + s.Keys.KeyFor("new-inbox") + " creates a new one"
	}
	return ""
}

// NeedSMTP is NeedLive, of an inbox to which sample mails can be sent.
func (s Subject) NeedSMTP() string {
	if s.Session != nil && s.Session.SMTPAddr == "" {
		return "Sample messages can only be sent to the local service"
	}
	return s.NeedLive()
}

// NeedMessage is the reason why nothing can be done with the message.
func (s Subject) NeedMessage() string {
	if s.Message == nil {
		return "Select a message first"
	}
	return ""
}

// NeedCode is the reason why there is no code to copy.
func (s Subject) NeedCode() string {
	switch {
	case s.Message == nil:
		return s.NeedMessage()
	case s.Message.Findings == nil:
		return "Still looking for a code"
	case s.Message.Findings.Code == "":
		return "No code was found in this message"
	}
	return ""
}

// NeedLink is the reason why there is no link to open.
func (s Subject) NeedLink() string {
	switch {
	case s.Message == nil:
		return s.NeedMessage()
	case s.Message.Findings == nil:
		return "Still looking for a link"
	case s.Message.Findings.Link.URL == "":
		return "No confirmation link was found: " + s.Keys.KeyFor("labels") + " labels every link"
	}
	return ""
}
