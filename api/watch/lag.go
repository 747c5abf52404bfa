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

// outOfDate returns since when what is in view may be out of date; false if it is not. What fails has
// an event of its own.
func (f *follower) outOfDate(now time.Time) (since time.Time, ok bool) {
	if f.outage.failures > 0 {
		return since, false
	}
	p := f.pace()
	for _, i := range f.inboxes {
		if !i.inView || i.paused || i.trouble.failures > 0 || i.stale.IsZero() {
			continue
		}
		from := i.stale
		switch {
		case i.held:
		case i.changed:
			from = i.changedAt
		case i.counted && f.list.counts:
			continue // the list of inboxes shows no change
		default:
			from = from.Add(p.intervals[f.class(i, now)])
		}
		if from = later(from, i.viewed); !ok || from.Before(since) {
			since, ok = from, true
		}
	}
	return since, ok
}
