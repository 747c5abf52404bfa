package watch

import "time"

// updateLag tells when what is in view is behind, and when it no longer is. It returns the time
// until it may be.
func (f *follower) updateLag() time.Duration {
	now, wait := time.Now(), never
	since, ok := f.outOfDate(now)
	if ok && now.Sub(since) < maxLag {
		wait, ok = maxLag-now.Sub(since), false
	}
	if !ok {
		since = time.Time{}
	}
	if !since.Equal(f.behind) {
		f.behind = since
		f.emit(Event{Kind: Behind, Since: since})
	}
	return wait
}

// outOfDate returns since when what is in view has been waiting for a request or for its answer;
// false if it is not. A held request waits for mail: meanwhile an inbox is out of date only if the
// list of inboxes shows a change. What fails has an event of its own.
func (f *follower) outOfDate(now time.Time) (since time.Time, ok bool) {
	if f.outage.failures > 0 {
		return since, false
	}
	p := f.pace()
	waiting := func(from time.Time) {
		if !from.After(now) && (!ok || from.Before(since)) {
			since, ok = from, true
		}
	}
	counted := false // whether one of them depends on the list of inboxes
	for _, i := range f.inboxes {
		if !i.inView || i.paused || i.trouble.failures > 0 {
			continue
		}
		counted = counted || i.counted && !i.held
		if i.changed {
			waiting(later(i.changedAt, i.viewed))
		}
		if i.request != nil && i.request.hold == 0 {
			waiting(later(i.request.began, i.viewed))
		} else if c, can := f.candidate(i, now, p); can && i.request == nil {
			waiting(later(c.due, i.viewed))
		}
	}
	if !counted {
		return since, ok
	}
	if l := &f.list; l.request != nil && l.request.hold == 0 {
		waiting(l.request.began)
	} else if c, can := f.listCandidate(p); can {
		waiting(c.due)
	}
	return since, ok
}
