package service

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	sweepLimit = 1000        // inboxes at once, so that other changes are not held up
	sweepPause = time.Second // shortest time between two sweeps that left nothing to do
)

// Run removes expired inboxes and listens to other processes until ctx ends, and then returns nil.
// It only reclaims storage: an inbox is gone when it expires, whether or not Run is called.
func (s *Service) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { s.limiter.run(ctx) })
	var err error
	if s.shared != nil {
		others.Go(func() { err = s.shared.Listen(ctx, s.onTopic) })
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

// onTopic handles a topic from another process: it wakes those who wait for the change, or returns
// the lot that the process asks for.
func (s *Service) onTopic(topic string) {
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

// sweep removes expired inboxes and returns how long it takes until more can expire. Since no inbox
// lives for less than MinTTL, none that is created meanwhile can expire earlier.
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
