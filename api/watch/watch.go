// Package watch follows inboxes within the request budget of their key.
package watch

import (
	"context"
	"time"

	"mayfly/api"
)

// Kind says what an [Event] is about.
type Kind int

const (
	// Listed has the list of an inbox: the first one, and the answer to Refresh.
	Listed Kind = iota
	// Arrived has the list of an inbox in which there are new messages.
	Arrived
	// Gone: the inbox was deleted or has expired, and is not followed any more.
	Gone
	// Failed has the error and the time of the next attempt. Without an inbox it
	// is about the service, and all inboxes wait.
	Failed
	// Recovered ends Failed.
	Recovered
	// ModeChanged has the mode.
	ModeChanged
	// Inboxes has the list of the inboxes of the key. It comes only from a service that has such a list.
	Inboxes
)

// Mode is how the service is followed.
type Mode int

const (
	Unknown Mode = iota // nothing was answered yet
	Live                // the service tells at once
	Polling             // the service is asked again and again
)

// Event is something that the user of the watcher should know.
type Event struct {
	Kind    Kind
	InboxID string // empty where the event is about the service
	// Generation is the one that Add returned. An event of an earlier one is stale.
	Generation uint64

	Messages []api.Summary // Listed, Arrived: the whole list, the newest first
	New      []string      // Arrived: the IDs of the messages that were not in the list before
	Err      error         // Failed
	RetryAt  time.Time     // Failed
	Mode     Mode          // ModeChanged
	Inboxes  []api.Inbox   // Inboxes
}

// Budget is what the screen shows: requests in the last minute, and the most there may be.
type Budget struct{ Used, Limit int }

// Options are the choices of a [Watcher].
type Options struct{}

// Watcher follows inboxes.
type Watcher struct{ events chan Event }

// New returns a watcher that makes its requests with c and counts on c's budget.
func New(c *api.Client, o Options) *Watcher { return &Watcher{events: make(chan Event)} }

// Run follows the inboxes until ctx ends, and returns when all its requests
// have. It closes the channel of events.
func (w *Watcher) Run(ctx context.Context) error { return nil }

// Events returns the channel of events. Whoever reads it slowly gets fewer
// events, never stale ones.
func (w *Watcher) Events() <-chan Event { return w.events }

// Add follows an inbox, and returns its generation. An inbox that is followed keeps its generation.
func (w *Watcher) Add(inboxID string) uint64 { return 0 }

// Remove ends following an inbox.
func (w *Watcher) Remove(inboxID string) {}

// Pause stops the requests for an inbox, or goes on with them.
func (w *Watcher) Pause(inboxID string, paused bool) {}

// SetView says which inboxes are on the screen.
func (w *Watcher) SetView(inboxIDs []string) {}

// Touch says that an inbox was just used: its address copied, a message of it opened.
func (w *Watcher) Touch(inboxID string) {}

// SetFocused says whether the terminal has the focus.
func (w *Watcher) SetFocused(focused bool) {}

// Refresh asks for the list of an inbox now, also one that fails; with an empty ID, of all.
func (w *Watcher) Refresh(inboxID string) {}

// Budget returns the state of the budget.
func (w *Watcher) Budget() Budget { return Budget{} }
