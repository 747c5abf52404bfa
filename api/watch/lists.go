package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mayfly/api"
)

func (f *follower) askMessages(c *api.Client, i *inbox) {
	i.abandon()
	ask := api.Poll{ETag: i.etag}
	if i.longPolled && !i.refreshed && !i.changed && f.outage.failures == 0 {
		ask.Wait = maxWait
	}
	if (f.waits == yes || f.list.waits == yes) && len(i.messages) >= longList && i.etag != "" && !i.refreshed {
		ask.Limit = newest
	}
	stale := i.stale
	f.start(&i.poll, ask.Wait, func(ctx context.Context) func(*request) {
		list, err := c.PollMessages(ctx, i.id, ask)
		if errors.Is(err, api.ErrNotFound) {
			err = gone(ctx, c, i.id, err)
		}
		return func(r *request) {
			if notSent(err) {
				i.stale = stale
			} else {
				i.asked = r.began
				i.markStale()
			}
			f.gotMessages(i, r, ask, list, err)
		}
	})
	if i.request.wait > 0 {
		i.stale = time.Time{}
	}
}

// gone returns notFound, the error of a list, if the inbox does not exist, and else a failure: no other 404 ends a watch.
func gone(ctx context.Context, c *api.Client, inboxID string, notFound error) error {
	switch _, err := c.Inbox(ctx, inboxID); {
	case err == nil:
		return fmt.Errorf("%w: the inbox exists, but not its list: %v", api.ErrUnexpected, notFound)
	case errors.Is(err, api.ErrNotFound):
		return notFound
	default:
		return err
	}
}

// answered handles the error of a request for messages, and reports whether there is an answer.
func (f *follower) answered(i *inbox, r *request, ask api.Poll, list api.List, err error) bool {
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if ask.Wait > 0 && list.Waited {
			f.waits = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		f.waits = no
		return list.Messages != nil || list.ETag != "" // else it was known before, and nothing was sent
	case errors.Is(err, api.ErrNotFound):
		f.succeeded(r.began)
		f.w.forget(i.id, i.generation)
		f.remove(i.id)
		f.list.etag, f.list.raw = "", nil // a list that has it after all, as after a change of the clock, is news
		f.emitInbox(i, Event{Kind: Gone})
		return false
	default:
		f.failed(&i.poll, i, r, err)
		return false
	}
	return true
}

func (f *follower) gotMessages(i *inbox, r *request, ask api.Poll, list api.List, err error) {
	if !f.answered(i, r, ask, list, err) {
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
		whole, arrived, ok := i.join(list, ask.Limit)
		if !ok {
			i.etag = "" // more has changed than the newest messages show
			i.markChanged()
			return
		}
		if i.known && len(arrived) > 0 {
			event.Kind, event.New = Arrived, arrived
		}
		changed = changed || event.Kind == Arrived || !sameIDs(i.messages, whole)
		i.messages, i.total, i.known = whole, list.Total, true
	}
	i.stale = r.began
	if r.wait > 0 {
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
	if futile(r, ask, list.Waited, changed) {
		i.ready = r.began.Add(f.pace().intervals[f.class(i, time.Now())])
	}
}

// futile reports whether a long poll was answered early and without news, as a poll is.
func futile(r *request, ask api.Poll, waited, changed bool) bool {
	return ask.Wait > 0 && (!waited || !changed && time.Since(r.began) < ask.Wait/2)
}

// join returns the complete list after an answer, and the IDs that are new in it. With a limit the
// answer may have the newest messages only; unless they simply precede those that were known, ok is
// false.
func (i *inbox) join(answer api.List, limit int) (whole []api.Summary, arrived []string, ok bool) {
	whole = answer.Messages
	if limit > 0 && len(whole) <= limit && len(whole) < answer.Total {
		n := slices.IndexFunc(whole, func(m api.Summary) bool { return m.ID == i.messages[0].ID })
		if n < 0 || len(i.messages)+n != answer.Total || !sameIDs(whole[n:], i.messages[:len(whole)-n]) {
			return nil, nil, false
		}
		whole = slices.Concat(whole[:n], i.messages)
	}
	old := make(map[string]bool, len(i.messages))
	for _, m := range i.messages {
		old[m.ID] = true
	}
	for _, m := range whole {
		if !old[m.ID] {
			arrived = append(arrived, m.ID)
		}
	}
	return whole, arrived, true
}

func sameIDs(a, b []api.Summary) bool {
	return slices.EqualFunc(a, b, func(a, b api.Summary) bool { return a.ID == b.ID })
}

// inboxList is the list of the inboxes of the key.
type inboxList struct {
	poll
	has, waits answer // whether the service has it, and whether it can be a long poll
	counts     bool   // its inboxes have message counts
	raw        []byte
}

func (f *follower) askInboxes(c *api.Client) {
	l := &f.list
	ask := api.Poll{ETag: l.etag}
	if l.waits != no && !l.refreshed && f.outage.failures == 0 {
		ask.Wait = maxWait
	}
	f.start(&l.poll, ask.Wait, func(ctx context.Context) func(*request) {
		list, err := c.PollInboxes(ctx, ask)
		return func(r *request) {
			if !notSent(err) {
				l.asked = r.began
			}
			f.gotInboxes(r, ask, list, err)
		}
	})
}

func (f *follower) gotInboxes(r *request, ask api.Poll, list api.InboxList, err error) {
	l := &f.list
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if ask.Wait > 0 && list.Waited {
			l.waits = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		l.waits = no
		if list.Inboxes == nil && list.ETag == "" {
			if ask.Wait == 0 { // otherwise the service may only have no long polls
				l.has = no
				f.uncount()
			}
			return
		}
	default:
		f.failed(&l.poll, nil, r, err)
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
		f.emit(Event{Kind: Inboxes, Inboxes: list.Inboxes, Total: list.Total})
	}
	l.refreshed = false
	f.updateMode()
	// Messages often arrive several at a time.
	l.ready = r.began.Add(listGap)
	if futile(r, ask, list.Waited, changed) {
		l.ready = r.began.Add(f.pace().list)
	}
}

// count marks the inboxes that have changed according to the list.
func (f *follower) count(inboxes []api.Inbox, asked time.Time) {
	f.list.counts = len(inboxes) == 0 || inboxes[0].MessageCount != nil
	counts := make(map[string]api.Inbox, len(inboxes))
	for _, i := range inboxes {
		if i.MessageCount != nil {
			counts[i.ID] = i
		}
	}
	for _, i := range f.inboxes {
		in, counted := counts[i.id]
		n := -1
		if counted {
			n = *in.MessageCount
		}
		before := i.count
		// As many messages as before may still be different ones. A long poll for the inbox shows that by itself.
		others := n == before && in.ETag != i.tag && i.tag != "" && !i.longPolled
		i.count, i.tag, i.overtaken = n, in.ETag, i.request
		switch {
		case counted && n == 0 && !i.known && i.request == nil && !i.paused:
			i.known, i.messages, i.ready = true, []api.Summary{}, time.Now()
			f.emitInbox(i, Event{Kind: Listed, Messages: i.messages})
		case counted && (!i.known || n > i.total || n < min(i.total, before) || others): // else the list is the older one
			i.markChanged()
		case !counted && i.counted && i.added.Before(asked):
			i.markChanged() // no longer in the list: it is gone, or soon will be
		}
		if counted || i.added.Before(asked) {
			i.counted = counted
		}
	}
}

// uncount forgets the counts, since the list of inboxes no longer shows what has changed.
func (f *follower) uncount() {
	f.list.counts = false
	for _, i := range f.inboxes {
		i.counted = false
	}
}
