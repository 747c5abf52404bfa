package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"mayfly/api"
)

func (f *follower) askMessages(c *api.Client, i *inbox) {
	i.abandon()
	h := api.Hold{ETag: i.etag}
	if i.held && !i.refreshed && !i.changed && f.outage.failures == 0 {
		h.Wait = maxHold
	}
	if (f.holds == yes || f.list.holds == yes) && len(i.messages) >= longList && i.etag != "" && !i.refreshed {
		h.Limit = newest
	}
	hold := h.Wait
	if i.etag == "" {
		hold = 0 // it will be answered immediately
	}
	stale := i.stale
	if hold > 0 {
		i.stale = time.Time{}
	}
	i.request = f.start(hold, func(ctx context.Context) func(*request) {
		list, err := c.HoldMessages(ctx, i.id, h)
		return func(r *request) {
			if i.request == r { // otherwise it was abandoned
				i.request = nil
				if notSent(err) {
					i.stale = stale
				} else {
					i.asked = r.began
					i.markStale()
				}
				f.gotMessages(i, r, h, list, err)
			}
		}
	})
}

// answered handles the error of a request for messages, and reports whether there is an answer.
func (f *follower) answered(i *inbox, r *request, h api.Hold, list api.List, err error) bool {
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if h.Wait > 0 && list.Held {
			f.holds = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		f.holds = no
		if list.Messages == nil && list.ETag == "" {
			return false // known before: nothing was sent
		}
	case errors.Is(err, api.ErrNotFound):
		f.succeeded(r.began)
		f.w.forget(i.id, i.generation)
		f.remove(i.id)
		f.emitInbox(i, Event{Kind: Gone})
		return false
	default:
		f.failed(i, r, err)
		return false
	}
	return true
}

func (f *follower) gotMessages(i *inbox, r *request, h api.Hold, list api.List, err error) {
	if !f.answered(i, r, h, list, err) {
		return
	}
	f.succeeded(r.began)
	f.updateMode()
	i.cut = false
	refreshed := i.refreshed
	i.refreshed = false
	event, changed := Event{Kind: Listed}, !i.known
	if list.Messages != nil {
		i.etag = list.ETag
		slices.SortStableFunc(list.Messages, func(a, b api.Summary) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
		whole, fresh, ok := i.join(list, h.Limit)
		if !ok {
			i.etag = "" // more has changed than the newest messages show
			i.markChanged()
			return
		}
		if i.known && len(fresh) > 0 {
			event.Kind, event.New = Arrived, fresh
		}
		changed = changed || event.Kind == Arrived || !sameIDs(i.messages, whole)
		i.messages, i.total, i.known = whole, list.Total, true
	}
	i.stale = r.began
	if r.hold > 0 {
		i.stale = time.Now()
	}
	i.changed = i.changed && i.overtaken == r && (i.count > i.total || i.count < 0)
	if i.trouble.failures > 0 {
		i.trouble = outage{}
		f.emitInbox(i, Event{Kind: Recovered})
	}
	if changed || refreshed {
		event.Messages = i.messages
		f.emitInbox(i, event)
	}
	i.ready = time.Now()
	if h.Wait > 0 && (!list.Held || !changed && time.Since(r.began) < h.Wait/2) {
		// An early answer without news is no better than a poll.
		i.ready = r.began.Add(f.pace().intervals[f.class(i, time.Now())])
	}
}

// join returns the complete list after an answer, and the IDs that are new in it. With a limit the
// answer may have the newest messages only; unless they simply precede those that were known, ok is
// false.
func (i *inbox) join(answer api.List, limit int) (whole []api.Summary, fresh []string, ok bool) {
	part := answer.Messages
	if limit == 0 || len(part) > limit || len(part) == answer.Total {
		return part, i.fresh(part), true
	}
	n := slices.IndexFunc(part, func(m api.Summary) bool { return m.ID == i.messages[0].ID })
	if n < 0 || len(i.messages)+n != answer.Total || !sameIDs(part[n:], i.messages[:len(part)-n]) {
		return nil, nil, false
	}
	for _, m := range part[:n] {
		fresh = append(fresh, m.ID)
	}
	return slices.Concat(part[:n], i.messages), fresh, true
}

// fresh returns the IDs of the messages that are not in the list of the inbox.
func (i *inbox) fresh(messages []api.Summary) []string {
	old := make(map[string]bool, len(i.messages))
	for _, m := range i.messages {
		old[m.ID] = true
	}
	var fresh []string
	for _, m := range messages {
		if !old[m.ID] {
			fresh = append(fresh, m.ID)
		}
	}
	return fresh
}

func sameIDs(a, b []api.Summary) bool {
	return slices.EqualFunc(a, b, func(a, b api.Summary) bool { return a.ID == b.ID })
}
