package store

import (
	"strings"
	"time"
)

// State is what the watch knows about an inbox.
type State int

const (
	Unlisted State = iota // nothing has been heard of it yet
	Listed                // its list is known and kept up to date
	Failing               // the last request failed; Err says how
	Gone                  // deleted or expired
)

// Inbox is an inbox on the screen.
type Inbox struct {
	ID, Email, Label string
	Created, Expires time.Time
	Generation       uint64 // of its follower
	State            State
	Err              error
	Paused           bool
	CopiedAt         time.Time // when its address was last copied
	EndedAt          time.Time // when it was found gone
	Since            time.Time // when it appeared on the screen
	Keys             []string  // of its messages, the newest first; nil before its first list
	Unread           int
}

// Name is the label of the inbox, else what stands before the @.
func (i *Inbox) Name() string {
	if i.Label != "" {
		return i.Label
	}
	local, _, _ := strings.Cut(i.Email, "@")
	if local == "" {
		return i.ID
	}
	return local
}

// Domain is what stands behind the @.
func (i *Inbox) Domain() string {
	_, domain, _ := strings.Cut(i.Email, "@")
	return domain
}

// Gone reports whether the inbox was deleted or has expired.
func (i *Inbox) Gone(now time.Time) bool {
	return i.State == Gone || !i.Expires.IsZero() && !now.Before(i.Expires)
}

// WaitingSince is when the wait for mail began: when the address was copied, else when the inbox
// appeared.
func (i *Inbox) WaitingSince() time.Time {
	if i.CopiedAt.IsZero() {
		return i.Since
	}
	return i.CopiedAt
}

func (i *Inbox) count(messages map[string]*Message) {
	i.Unread = 0
	for _, key := range i.Keys {
		if messages[key].Unread {
			i.Unread++
		}
	}
}
