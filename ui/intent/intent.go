// Package intent is what panes and dialogs want done. They return intents, and the application
// carries them out.
package intent

import (
	"fmt"
	"net/url"

	"mayfly/api"
	"mayfly/render"
)

type (
	// ShowInbox lists the messages of the inbox that the cursor moved to.
	ShowInbox struct{}
	// Preview shows the message that the cursor moved to, where there is room for it.
	Preview struct{}
	// OpenMessage opens the message that has the cursor.
	OpenMessage struct{}
	// FilterChanged has the lists leave out other rows than before.
	FilterChanged struct{}
	// Leave goes one step outwards: there is nothing left to undo inside.
	Leave struct{}
	// Perform runs an action.
	Perform struct{ ActionID string }

	// Fetch fetches the message that the reader begins to show, unless it is shown already.
	Fetch struct{}
	// Announce tells of new mail while nobody is looking.
	Announce struct {
		Inbox, Sender, Subject string // of the newest message
		Count                  int
	}

	// CreateInbox makes an inbox, and copies its address when Copy is set.
	CreateInbox struct {
		Request api.CreateInbox
		Copy    bool
	}
	// AdoptInbox adds an inbox that was made elsewhere.
	AdoptInbox struct{ ID string }
	// LabelInbox gives an inbox a label; an empty one takes it away.
	LabelInbox struct{ ID, Label string }
	// Forget takes an inbox that is gone from the registry.
	Forget struct{ ID string }
	// DeleteInboxes deletes inboxes, one after the other.
	DeleteInboxes struct{ IDs []string }

	// AskOpen shows where a link leads, and asks before it is opened.
	AskOpen struct{ Link render.Link }
	// OpenURL opens a link in the browser.
	OpenURL struct{ URL *url.URL }
	// CopyAddress puts the address of an inbox on the clipboard.
	CopyAddress struct{ ID string }
	// Copy puts text on the clipboard; What names it on the screen.
	Copy struct{ Text, What string }

	// Connect connects to a service. A key is used in place of the one that is kept; with Keep,
	// both are kept as a profile.
	Connect struct {
		Profile, BaseURL, Key string
		Keep                  bool
	}
	// Note shows text in the bottom line.
	Note struct{ Text string }
)

// Text is what a notification says.
func (a Announce) Text() string {
	if a.Count > 1 {
		return fmt.Sprintf("%d new messages, the newest from %s", a.Count, a.Sender)
	}
	return a.Sender + ": " + a.Subject
}
