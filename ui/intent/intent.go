// Package intent defines what panes and dialogs ask the application to do.
package intent

import (
	"fmt"
	"net/url"

	"mayfly/api"
	"mayfly/render"
)

type (
	// ShowInbox lists the messages of the selected inbox.
	ShowInbox struct{}
	// Preview shows the selected message, if there is room.
	Preview struct{}
	// OpenMessage opens the selected message.
	OpenMessage struct{}
	// ShowMessage goes to a message in the list of its inbox, and opens it at the first of several
	// texts that occurs in it.
	ShowMessage struct {
		Key  string
		Find []string
	}
	// FilterChanged updates the lists after a filter has changed.
	FilterChanged struct{}
	// Leave goes one step back, when the pane has nothing left to undo.
	Leave struct{}
	// Perform runs an action.
	Perform struct{ ActionID string }

	// Fetch fetches the message that the reader is opening, unless it was cached.
	Fetch struct{}
	// Announce notifies the user of new mail while the window is out of focus.
	Announce struct {
		Inbox           string // its name, or how many there are
		Sender, Subject string // of the newest message
		Count           int
	}

	// CreateInbox creates an inbox, and copies its address if Copy is set.
	CreateInbox struct {
		Request api.CreateInbox
		Copy    bool
	}
	// AdoptInbox adds an inbox that was created elsewhere.
	AdoptInbox struct{ ID string }
	// LabelInbox sets the label of an inbox; an empty one removes it.
	LabelInbox struct{ ID, Label string }
	// Forget removes an inbox that is gone from the registry.
	Forget struct{ ID string }
	// DeleteInboxes deletes inboxes one by one. What names them: an address, or how many.
	DeleteInboxes struct {
		IDs  []string
		What string
	}

	// AskOpen shows the destination of a link, and asks before opening it.
	AskOpen struct{ Link render.Link }
	// OpenURL opens a link in the browser.
	OpenURL struct{ URL *url.URL }
	// CopyAddress copies the address of an inbox.
	CopyAddress struct{ ID string }
	// Copy copies text; What names it on the screen.
	Copy struct{ Text, What string }

	// Connect connects to a service. Key, if set, replaces the saved one; with Keep, the service
	// and the key are saved as a profile.
	Connect struct {
		Profile, BaseURL, Key string
		Keep                  bool
	}
	// Late is what a command led to: an intent to carry out, unless the user has gone on to something
	// else, or an error.
	Late struct {
		Intent any
		Err    error
	}
	// Note shows text in the bottom line.
	Note struct{ Text string }
)

// Toggled notes that something is on now, or off.
func Toggled(is bool, on, off string) Note {
	if is {
		return Note{Text: on}
	}
	return Note{Text: off}
}

// Text is what a notification says.
func (a Announce) Text() string {
	if a.Count > 1 {
		return fmt.Sprintf("%d new messages, the newest from %s: %s", a.Count, a.Sender, a.Subject)
	}
	return a.Sender + ": " + a.Subject
}
