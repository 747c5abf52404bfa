package watch

import (
	"bytes"
	"context"
	"errors"
	"time"

	"mayfly/api"
)

// inboxList is the list of the inboxes of the key.
type inboxList struct {
	poll
	has, holds answer
	counts     bool // its inboxes have message counts
	raw        []byte
}

func (f *follower) askInboxes(c *api.Client) {
	l := &f.list
	l.abandon()
	h := api.Hold{ETag: l.etag}
	if l.holds != no && !l.refreshed && f.outage.failures == 0 {
		h.Wait = maxHold
	}
	hold := h.Wait
	if l.etag == "" {
		hold = 0
	}
	l.request = f.start(hold, func(ctx context.Context) func(*request) {
		list, err := c.HoldInboxes(ctx, h)
		return func(r *request) {
			if l.request == r {
				l.request = nil
				if !notSent(err) {
					l.asked = r.began
				}
				f.gotInboxes(r, h, list, err)
			}
		}
	})
}

func (f *follower) gotInboxes(r *request, h api.Hold, list api.InboxList, err error) {
	l := &f.list
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if h.Wait > 0 && list.Held {
			l.holds = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		l.holds = no
		if list.Inboxes == nil && list.ETag == "" {
			if h.Wait == 0 { // otherwise the service may only be unable to hold it
				l.has = no
				f.uncount()
			}
			return
		}
	default:
		f.failedInboxes(r, err)
		return
	}
	f.succeeded(r.began)
	l.has, l.cut, l.trouble = yes, false, outage{}
	changed := list.Inboxes != nil && !bytes.Equal(list.Raw, l.raw)
	if list.Inboxes != nil {
		l.etag, l.raw = list.ETag, list.Raw
		f.count(list.Inboxes, r.began)
	}
	if changed || l.refreshed && list.Inboxes != nil {
		f.emit(Event{Kind: Inboxes, Inboxes: list.Inboxes})
	}
	l.refreshed = false
	f.updateMode()
	// Mails often arrive several at a time.
	l.ready = r.began.Add(listGap)
	if h.Wait > 0 && (!list.Held || !changed && time.Since(r.began) < h.Wait/2) {
		l.ready = r.began.Add(f.pace().list)
	}
}

// count marks the inboxes that have changed according to the list.
func (f *follower) count(inboxes []api.Inbox, asked time.Time) {
	f.list.counts = len(inboxes) == 0 || inboxes[0].MessageCount != nil
	counts := counts(inboxes)
	for _, i := range f.inboxes {
		n, counted := counts[i.id]
		if !counted {
			n = -1
		}
		before := i.count
		i.count, i.overtaken = n, i.request
		switch {
		case counted && n == 0 && !i.known && i.request == nil && !i.paused:
			i.known, i.messages, i.ready = true, []api.Summary{}, time.Now()
			f.emitInbox(i, Event{Kind: Listed, Messages: i.messages})
		case counted && (!i.known || n > i.total || n < min(i.total, before)): // else the list is the older one
			i.markChanged()
		case !counted && i.counted && i.added.Before(asked):
			i.markChanged() // no longer in the list: it is gone, or soon will be
		}
		if counted || i.added.Before(asked) {
			i.counted = counted
		}
	}
}

// counts are the numbers of messages, by the ID of the inbox.
func counts(inboxes []api.Inbox) map[string]int {
	counts := make(map[string]int, len(inboxes))
	for _, i := range inboxes {
		if i.MessageCount != nil {
			counts[i.ID] = *i.MessageCount
		}
	}
	return counts
}

// uncount is for when the list of inboxes no longer shows what has changed.
func (f *follower) uncount() {
	f.list.counts = false
	for _, i := range f.inboxes {
		i.counted = false
	}
}
