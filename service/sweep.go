package service

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	sweepLimit = 1000        // inboxes at once, so that others get their turn
	sweepPause = time.Second // least time between two sweeps that had nothing left to do
)

// Run removes what has expired, and hears what other processes tell, until ctx ends, and returns nil then. It must
// run for storage to be reclaimed; what has expired is gone without it.
func (s *Service) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { s.limiter.run(ctx) })
	var err error
	if s.shared != nil {
		others.Go(func() { err = s.shared.Listen(ctx, s.heard) })
	}
	for {
		pause := s.sweep(ctx)
		select {
		case <-ctx.Done():
			others.Wait()
			return err
		case <-time.After(pause):
		}
	}
}

// heard wakes who waits for what another process has changed.
func (s *Service) heard(topic string) {
	if keyID, ok := strings.CutPrefix(topic, recallTopic); ok {
		if l, ok := s.limiter.(*sharedLimiter); ok {
			l.recall(keyID)
		}
		return
	}
	if topic == "" {
		s.hub.notifyAll()
		return
	}
	s.hub.notify(topic)
}

// sweep removes what has expired and returns how long nothing more can. No inbox lives for less than
// MinTTL, so none can have been made meanwhile that expires earlier.
func (s *Service) sweep(ctx context.Context) time.Duration {
	for {
		now := s.clock.certain()
		swept, err := s.store.Sweep(ctx, now, sweepLimit)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("expired inboxes could not be removed, trying again in a minute", "error", err)
			}
			return MinTTL
		}
		for _, in := range swept.Inboxes {
			s.hub.notify(in.ID)
			s.hub.notify(in.KeyID)
		}
		if !swept.Next.IsZero() && !swept.Next.After(now) && len(swept.Inboxes) > 0 {
			continue
		}
		s.clock.settle()
		if swept.Next.IsZero() {
			return MinTTL
		}
		return min(max(swept.Next.Sub(now), sweepPause), MinTTL)
	}
}
