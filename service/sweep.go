package service

import (
	"context"
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
	var err error
	if s.shared != nil {
		others.Go(func() { err = s.shared.Listen(ctx, s.onChange) })
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

// onChange wakes those who wait for a change that another process has made.
func (s *Service) onChange(id string) {
	if id == "" {
		s.hub.notifyAll()
		return
	}
	s.hub.notify(id)
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
