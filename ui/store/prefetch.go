package store

// maxPrefetches is how many messages are prefetched at the same time, and maxPrefetchBytes how
// large they may be together: a larger one is prefetched alone.
const (
	maxPrefetches    = 2
	maxPrefetchBytes = 512 << 10
)

// prefetches are the messages fetched ahead of the user for their code and link, by key.
type prefetches struct {
	tried    map[string]bool  // fetched, being fetched, or failed
	inFlight map[string]int64 // sizes in bytes
}

func newPrefetches() prefetches {
	return prefetches{tried: map[string]bool{}, inFlight: map[string]int64{}}
}

// RetryPrefetches makes messages whose prefetch failed eligible again.
func (s *Store) RetryPrefetches() {
	for key := range s.prefetches.tried {
		if _, ok := s.prefetches.inFlight[key]; !ok {
			delete(s.prefetches.tried, key)
		}
	}
}

// Prefetch picks the messages to fetch next, of those on the screen that have no findings yet, and
// marks them as in flight.
func (s *Store) Prefetch(keys []string) []*Message {
	var next []*Message
	for _, key := range keys {
		m := s.Messages[key]
		if m == nil || m.Findings != nil || s.prefetches.tried[key] {
			continue
		}
		if !s.prefetches.room(m.Summary.Size) {
			break
		}
		s.prefetches.tried[key], s.prefetches.inFlight[key] = true, m.Summary.Size
		next = append(next, m)
	}
	return next
}

// room reports whether a message of size bytes may be prefetched now.
func (p *prefetches) room(size int64) bool {
	for _, n := range p.inFlight {
		size += n
	}
	return len(p.inFlight) == 0 || len(p.inFlight) < maxPrefetches && size <= maxPrefetchBytes
}

// SkipPrefetch keeps a message from being prefetched: it is being opened, which finds the same.
func (s *Store) SkipPrefetch(key string) { s.prefetches.tried[key] = true }

// SetFindings records what was found in a message, and that its prefetch is over; nil findings mean
// that the message could not be fetched.
func (s *Store) SetFindings(key string, f *Findings) {
	delete(s.prefetches.inFlight, key)
	if m := s.Messages[key]; m != nil && f != nil {
		m.Findings = f
		s.Revision++
	}
}

// ResetPrefetches forgets every prefetch, and the bodies being read: the results of those in flight
// will not arrive.
func (s *Store) ResetPrefetches() { s.prefetches, s.reading = newPrefetches(), false }

// Prefetching is the number of prefetches in flight.
func (s *Store) Prefetching() int { return len(s.prefetches.inFlight) }
