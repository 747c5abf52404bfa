package store

import (
	"strings"
	"time"
)

// State is the state of watching an inbox.
type State int

const (
	Unlisted State = iota // its list has not arrived yet
	Listed                // its list is up to date
	Failing               // the last request failed with Err
	Gone                  // deleted or expired
)

// Inbox is a listed inbox.
type Inbox struct {
	ID, Email, Label string
	Created, Expires time.Time
	Generation       uint64 // of its follower
	State            State
	Err              error
	Paused           bool
	CopiedAt         time.Time // when its address was last copied
	EndedAt          time.Time // when it was found to be gone
	Since            time.Time // when it was first listed
	Keys             []string  // of its messages, newest first; nil until the first list arrives
	Unread           int
}

// Name is the label of the inbox, otherwise the local part of its address, otherwise its ID.
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

// Domain is the domain of the address.
func (i *Inbox) Domain() string {
	_, domain, _ := strings.Cut(i.Email, "@")
	return domain
}

// Gone reports whether the inbox was deleted or has expired.
func (i *Inbox) Gone(now time.Time) bool {
	return i.State == Gone || !i.Expires.IsZero() && !now.Before(i.Expires)
}

// WaitingSince is when the wait for mail began: when the address was copied, otherwise when the
// inbox was first listed.
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
