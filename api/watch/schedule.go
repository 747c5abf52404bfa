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
	classes
)

const (
	justUsed = 2 * time.Minute
	listGap  = 200 * time.Millisecond // between two requests for the list of inboxes
	restGap  = time.Second            // between two requests for an inbox that is not in view
	maxHolds = 16                     // inboxes with a held request of their own
	// maxHoldsCounted is the same if the list of inboxes covers the others.
	maxHoldsCounted = 8
	never           = time.Hour
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

// pace is the time between two polls of an inbox, for each class.
type pace struct {
	intervals [classes]time.Duration
	list      time.Duration
}

// pace divides the budget among the classes: each polls as often as is useful, and takes at most
// three fifths of what is left if others follow.
func (f *follower) pace() pace {
	perMinute, _ := f.w.client.Budget().Background()
	now := time.Now()
	var count [classes]int
	used := false // whether an inbox that only the list covers was just used
	for _, i := range f.inboxes {
		switch c := f.class(i, now); {
		case i.paused || i.held:
		case i.counted:
			used = used || c == hot
		default:
			count[c]++
		}
	}
	p := pace{intervals: [classes]time.Duration{2 * time.Second, 5 * time.Second, 30 * time.Second}, list: 5 * time.Second}
	if !f.focused {
		p.intervals = [classes]time.Duration{2 * time.Second, 20 * time.Second, 90 * time.Second}
		p.list = 20 * time.Second
	}
	left := float64(perMinute)
	for c, n := range count {
		share := left
		if c != int(rest) {
			share *= 0.6
		}
		if n > 0 {
			p.intervals[c] = max(p.intervals[c], time.Duration(float64(n)/share*float64(time.Minute)))
			left -= float64(n) * float64(time.Minute) / float64(p.intervals[c])
		}
	}
	if !f.list.counts {
		p.list = max(p.list, 15*time.Second)
	} else if used {
		p.list = p.intervals[hot]
	}
	p.list = max(p.list, time.Duration(5/float64(perMinute)*float64(time.Minute)))
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

func (c candidate) before(d candidate) bool {
	if c.rank != d.rank {
		return c.rank < d.rank
	}
	return c.due.Before(d.due)
}

// schedule begins the requests that are due and fit the budget, and returns the time until there
// may be more to do.
func (f *follower) schedule() time.Duration {
	now := time.Now()
	f.assignHolds(now)
	pace := f.pace()
	for {
		now = time.Now()
		best, wait, ok := f.next(now, pace)
		if !ok {
			return wait
		}
		client := f.w.client
		if best.rank != urgent {
			if f.polls >= maxPolls || best.rank > listing && f.polls >= maxPolls/2 {
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

// assignHolds decides which inboxes get a held request, and abandons the requests in the way of
// better ones.
func (f *follower) assignHolds(now time.Time) {
	room := 0
	if f.holds != no {
		perMinute, _ := f.w.client.Budget().Background()
		room = min(max(1, perMinute/6), maxHolds)
		if f.list.holds == yes && f.list.counts {
			room = min(room, maxHoldsCounted)
		}
	}
	var eligible []*inbox
	for _, i := range f.inboxes {
		if room > 0 && !i.paused && (!i.counted || f.class(i, now) != rest) {
			eligible = append(eligible, i)
		} else {
			i.held = false
		}
	}
	slices.SortFunc(eligible, func(a, b *inbox) int {
		return cmp.Or(
			cmp.Compare(f.class(a, now), f.class(b, now)),
			cmp.Compare(asInt(a.counted), asInt(b.counted)),
			cmp.Compare(asInt(b.held), asInt(a.held)),
			cmp.Compare(a.generation, b.generation),
		)
	})
	for n, i := range eligible {
		i.held = n < room
	}
	for _, i := range f.inboxes {
		if i.request != nil && i.request.hold > 0 && (!i.held || i.changed && now.Sub(i.changedAt) >= maxLag) {
			i.abandon()
		}
	}
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// next returns the request to make now, or false and the time until there is one.
func (f *follower) next(now time.Time, p pace) (best candidate, wait time.Duration, ok bool) {
	wait = never
	consider := func(c candidate) {
		if until := c.due.Sub(now); until > 0 {
			wait = min(wait, until)
		} else if !ok || c.before(best) {
			best, ok = c, true
		}
	}
	probing := f.outage.failures > 0
	for _, i := range f.inboxes {
		switch {
		case i.paused && !i.refreshed:
		case f.awaited(i.request):
			if i.changed && i.request.hold > 0 {
				wait = min(wait, max(0, i.changedAt.Add(maxLag).Sub(now)))
			}
		default:
			if c, can := f.candidate(i, now, p); can {
				consider(f.afterOutage(c))
			}
		}
	}
	if c, can := f.listCandidate(p); can {
		consider(f.afterOutage(c))
	}
	if ok && probing && best.rank != urgent && f.probeInFlight() {
		return candidate{}, wait, false
	}
	return best, wait, ok
}

// awaited reports whether there is a request whose answer is worth the wait. While the service
// fails, one that was held since before then would tell too late that it does not any more.
func (f *follower) awaited(r *request) bool {
	return r != nil && (f.outage.failures == 0 || r.hold == 0 || r.began.After(f.outage.at))
}

// afterOutage postpones a request while the service fails. One for what is in view is then due when
// the next attempt was announced for.
func (f *follower) afterOutage(c candidate) candidate {
	switch {
	case f.outage.failures == 0 || c.rank == urgent:
	case c.rank == viewed:
		c.due = later(f.outage.retry, c.inbox.trouble.retry)
	default:
		c.due = later(f.outage.retry, c.due)
	}
	return c
}

// probeInFlight reports whether a request that began after the service failed has no result yet.
// Only one is made at a time.
func (f *follower) probeInFlight() bool {
	probe := func(r *request) bool { return r != nil && r.began.After(f.outage.at) }
	if probe(f.list.request) {
		return true
	}
	for _, i := range f.inboxes {
		if probe(i.request) {
			return true
		}
	}
	return false
}

// candidate returns the next request for an inbox; false if there is none until something else
// happens.
func (f *follower) candidate(i *inbox, now time.Time, p pace) (candidate, bool) {
	class := f.class(i, now)
	c := candidate{inbox: i, rank: others, due: i.asked.Add(p.intervals[class])}
	switch {
	case class == hot:
		c.rank = first
	case class == inView:
		c.rank = viewed
	}
	switch {
	case i.refreshed:
		return candidate{inbox: i, rank: urgent}, true
	case !i.known && class != rest:
		c.rank, c.due = first, time.Time{}
	case i.changed:
		c.rank, c.due = min(c.rank, news), i.asked
		if class == rest {
			c.due = i.asked.Add(restGap) // mails often arrive several at a time
		}
	case !i.known:
		if f.list.has == unknown && f.list.trouble.failures == 0 {
			return candidate{}, false // the list of inboxes may show that it is empty
		}
		c.due = i.added
	case i.held:
		c.due = i.ready
		if f.holds == unknown {
			c.due = i.asked.Add(p.intervals[class])
		}
		if class == rest {
			c.rank = viewed
		}
	case i.trouble.failures > 0:
		c.due = i.trouble.retry // otherwise its end would go unnoticed
	case i.counted && f.list.counts:
		return candidate{}, false
	}
	c.due = later(c.due, i.trouble.retry)
	return c, true
}

func (f *follower) listCandidate(p pace) (candidate, bool) {
	l := &f.list
	if l.has == no || f.awaited(l.request) {
		return candidate{}, false
	}
	c := candidate{rank: listing, due: l.ready}
	if l.refreshed {
		return candidate{rank: urgent}, true
	}
	if l.has == yes && l.holds != yes {
		c.due = l.asked.Add(p.list)
	}
	c.due = later(c.due, l.trouble.retry)
	return c, true
}
