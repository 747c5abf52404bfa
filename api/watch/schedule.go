package watch

import (
	"cmp"
	"slices"
	"time"
)

// class is how eagerly an inbox is followed.
type class int

const (
	hot    class = iota // just used: mail is likely
	inView              // on the screen
	rest
)

const (
	justUsed = 2 * time.Minute
	listGap  = 200 * time.Millisecond // between two requests for the list of inboxes
	restGap  = time.Second            // between two requests for an inbox that is not in view
	maxPolls = 8                      // inboxes with a long poll of their own
	never    = time.Hour
)

// class returns how eagerly an inbox is followed. One that was just used is hot even without the
// focus: its address was copied to be pasted elsewhere.
func (f *follower) class(i *inbox, now time.Time) class {
	switch {
	case !i.touched.IsZero() && now.Sub(i.touched) < justUsed:
		return hot
	case i.inView:
		return inView
	}
	return rest
}

// pace is the time between two requests for an inbox of each class, and for the list of inboxes.
type pace struct {
	intervals [rest + 1]time.Duration
	list      time.Duration
}

// pace returns the shortest intervals that are useful and fit the budget. The inboxes that are hot or in
// view take at most three fifths of it; the rest take turns in what is left.
func (f *follower) pace() pace {
	p := pace{[...]time.Duration{2 * time.Second, 5 * time.Second, 30 * time.Second}, 5 * time.Second}
	if !f.focused {
		p = pace{[...]time.Duration{2 * time.Second, 20 * time.Second, 90 * time.Second}, 20 * time.Second}
	}
	now, eager, listed := time.Now(), 0, false
	for _, i := range f.inboxes {
		switch c := f.class(i, now); {
		case i.paused || i.longPolled || c == rest:
		case !i.counted:
			eager++
		case c == hot:
			listed = true // only the list of inboxes covers it
		}
	}
	perMinute, _ := f.w.client.Budget().Background()
	of := func(requests float64) time.Duration { // of the whole budget
		return time.Duration(requests / float64(perMinute) * float64(time.Minute))
	}
	p.intervals[hot] = max(p.intervals[hot], of(float64(eager)/0.6))
	p.intervals[inView] = max(p.intervals[inView], of(float64(eager)/0.6))
	switch {
	case !f.list.counts:
		p.list = max(p.list, 15*time.Second)
	case listed:
		p.list = p.intervals[hot]
	}
	p.list = max(p.list, of(5))
	return p
}

// The order in which requests are made if several are due.
const (
	urgent  = iota // Refresh was called
	first          // hot, or in view and not known yet
	viewed         // in view
	listing        // the list of inboxes
	news           // known to have changed
	others
)

// candidate is a request that could be made.
type candidate struct {
	inbox *inbox // nil for the list of inboxes
	rank  int
	due   time.Time
}

// schedule begins the requests that are due and fit the budget, and returns the time until there
// may be more to do.
func (f *follower) schedule() time.Duration {
	f.assignLongPolls(time.Now())
	pace := f.pace()
	for {
		best, wait, ok := f.next(time.Now(), pace)
		if !ok {
			return wait
		}
		client := f.w.client
		if best.rank != urgent {
			if f.inFlight >= maxInFlight || best.rank > listing && f.inFlight >= maxInFlight/2 {
				return wait // until one of them ends
			}
			var room time.Duration
			if client, room = client.Reserve(); client == nil {
				return min(wait, room)
			}
		}
		if best.inbox == nil {
			f.askInboxes(client)
		} else {
			f.askMessages(client, best.inbox)
		}
	}
}

// assignLongPolls decides which inboxes get a long poll, and abandons the requests in the way of
// better ones.
func (f *follower) assignLongPolls(now time.Time) {
	room := 0
	if f.waits != no {
		perMinute, _ := f.w.client.Budget().Background()
		room = min(max(1, perMinute/6), maxPolls)
	}
	var eligible []*inbox
	for _, i := range f.inboxes {
		if !i.paused && (!i.counted || f.class(i, now) != rest) {
			eligible = append(eligible, i)
		} else {
			i.longPolled = false
		}
	}
	rank := func(i *inbox) int {
		n := 4 * int(f.class(i, now))
		if i.counted {
			n += 2
		}
		if !i.longPolled {
			n++
		}
		return n
	}
	slices.SortFunc(eligible, func(a, b *inbox) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.generation, b.generation))
	})
	for n, i := range eligible {
		i.longPolled = n < room
	}
	for _, i := range f.inboxes {
		if i.request != nil && i.request.wait > 0 && (!i.longPolled || i.changed && now.Sub(i.changedAt) >= maxLag) {
			i.abandon()
		}
	}
}

// next returns the request to make now, or false and the time until there is one. While the service
// fails, one request at a time is made to see whether it does: the most important, at the time that
// was announced.
func (f *follower) next(now time.Time, p pace) (best candidate, wait time.Duration, ok bool) {
	wait = never
	consider := func(of *poll, c candidate) {
		switch {
		case c.rank == urgent:
		case f.outage.failures > 0 && f.outage.probe != nil:
			return
		case f.outage.failures > 0:
			c.due = later(f.outage.retry, of.trouble.retry)
		case of.request != nil:
			return
		}
		if until := c.due.Sub(now); until > 0 {
			wait = min(wait, until)
		} else if !ok || c.rank < best.rank || c.rank == best.rank && c.due.Before(best.due) {
			best, ok = c, true
		}
	}
	for _, i := range f.inboxes {
		if i.request != nil && i.request.wait > 0 && i.changed {
			wait = min(wait, max(0, i.changedAt.Add(maxLag).Sub(now)))
		}
		if c, can := f.candidate(i, now, p); can {
			consider(&i.poll, c)
		}
	}
	if c, can := f.listCandidate(p); can {
		consider(&f.list.poll, c)
	}
	return best, wait, ok
}

// candidate returns the next request for an inbox; false if there is none until something else
// happens.
func (f *follower) candidate(i *inbox, now time.Time, p pace) (candidate, bool) {
	class := f.class(i, now)
	c := candidate{inbox: i, rank: others, due: i.asked.Add(p.intervals[class])}
	switch class {
	case hot:
		c.rank = first
	case inView:
		c.rank = viewed
	}
	switch {
	case i.refreshed:
		return candidate{inbox: i, rank: urgent}, i.request == nil
	case i.paused:
		return c, false
	case !i.known && class != rest:
		c.rank, c.due = first, time.Time{}
	case i.changed:
		c.rank, c.due = min(c.rank, news), i.asked
		if class == rest {
			c.due = i.asked.Add(restGap) // messages often arrive several at a time
		}
	case !i.known:
		if f.list.has == unknown && f.list.trouble.failures == 0 {
			return c, false // the list of inboxes may show that it is empty
		}
		c.due = i.added
	case i.longPolled:
		if f.waits != unknown {
			c.due = i.ready
		}
		c.rank = min(c.rank, viewed)
	case i.trouble.failures > 0:
		c.due = i.trouble.retry // otherwise its end would go unnoticed
	case i.counted && f.list.counts:
		return c, false
	}
	c.due = later(c.due, i.trouble.retry)
	return c, true
}

func (f *follower) listCandidate(p pace) (candidate, bool) {
	l := &f.list
	c := candidate{rank: listing, due: l.ready}
	switch {
	case l.has == no:
		return c, false
	case l.refreshed:
		return candidate{rank: urgent}, l.request == nil
	case l.has == yes && l.waits != yes:
		c.due = l.asked.Add(p.list)
	}
	c.due = later(c.due, l.trouble.retry)
	return c, true
}

// updateLag tells when what is in view is behind, and when it no longer is. It returns the time
// until it may be.
func (f *follower) updateLag() time.Duration {
	now, wait := time.Now(), never
	since := f.outOfDate(now)
	if !since.IsZero() && now.Sub(since) < maxLag {
		wait, since = maxLag-now.Sub(since), time.Time{}
	}
	if !since.Equal(f.behind) {
		f.behind = since
		f.emit(Event{Kind: Behind, Since: since})
	}
	return wait
}

// outOfDate returns since when what is in view may be out of date, or will be; the zero time if it is
// not. What fails has an event of its own.
func (f *follower) outOfDate(now time.Time) (since time.Time) {
	if f.outage.failures > 0 {
		return since
	}
	p := f.pace()
	for _, i := range f.inboxes {
		from := i.stale
		switch {
		case !i.inView, i.paused, i.trouble.failures > 0, from.IsZero():
			continue
		case i.longPolled:
		case i.changed:
			from = i.changedAt
		case i.counted && f.list.counts:
			continue // the list of inboxes shows no change
		default:
			from = from.Add(p.intervals[f.class(i, now)])
		}
		if from = later(from, i.viewed); since.IsZero() || from.Before(since) {
			since = from
		}
	}
	return since
}
