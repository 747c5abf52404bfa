package pebble

import (
	"bytes"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"golang.org/x/time/rate"

	"mayfly/service"
)

// background slows down what the database does by itself, writing logs to tables and compacting
// these, while it fails: the database would try again at once and for ever.
type background struct {
	stop    <-chan struct{}
	onError func(error)
	seldom  rate.Sometimes // for onError

	mu                       sync.Mutex
	flush, compaction, stats streak
}

// streak is a number of failures in a row.
type streak struct {
	failures int
	last     error
	until    time.Time // when to try again
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Minute
)

func newBackground(stop <-chan struct{}, onError func(error)) *background {
	return &background{stop: stop, onError: onError, seldom: rate.Sometimes{Interval: time.Minute}}
}

// listen adds what the database tells about its work.
func (b *background) listen(l *pebbledb.EventListener) {
	l.FlushEnd = func(i pebbledb.FlushInfo) { b.ended(&b.flush, i.Err) }
	l.CompactionEnd = func(i pebbledb.CompactionInfo) { b.ended(&b.compaction, i.Err) }
	l.TableStatsLoaded = func(pebbledb.TableStatsInfo) { b.ended(&b.stats, nil) }
	l.BackgroundError = func(err error) {
		b.seldom.Do(func() { b.onError(err) })
		if inTableStats() {
			b.ended(&b.stats, err)
			b.pause(&b.stats)
		}
	}
}

// inTableStats reports whether it is called while the database reads statistics of tables, without
// which it would not free the space of deleted mail at once. Unlike its other work this has no event
// for its end, and it holds no lock, so that it can be delayed.
func inTableStats() bool { return bytes.Contains(debug.Stack(), []byte(".collectTableStats(")) }

func (b *background) ended(s *streak, err error) {
	const emptyTable = "pebble: empty table" // an event's way to say that there was nothing to do
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil || err.Error() == emptyTable || errors.Is(err, pebbledb.ErrCancelledCompaction) {
		*s = streak{}
		return
	}
	wait := lastRetry
	if s.failures < 10 {
		wait = min(lastRetry, firstRetry<<s.failures)
	}
	s.failures, s.last, s.until = s.failures+1, err, time.Now().Add(wait)
}

// failing returns why the work fails, if it does.
func (b *background) failing() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.flush.last != nil {
		return b.flush.last
	}
	return b.compaction.last
}

// pause waits until failed work may be tried again, or the store is closed.
func (b *background) pause(s *streak) {
	b.mu.Lock()
	wait := time.Until(s.until)
	b.mu.Unlock()
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.stop:
	}
}

// scheduler lets the database do one compaction at a time, and none while compactions pause. It is
// the database's own without the part that looks ten times a second whether more may run, which only
// matters where their number changes.
type scheduler struct {
	*pebbledb.ConcurrencyLimitScheduler
	background *background
}

func newScheduler(b *background) scheduler {
	return scheduler{pebbledb.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest(), b}
}

func (s scheduler) Register(n int, db pebbledb.DBForCompaction) {
	s.ConcurrencyLimitScheduler.Register(n, granting{db, s})
}

func (s scheduler) TrySchedule() (bool, pebbledb.CompactionGrantHandle) {
	ok, _ := s.ConcurrencyLimitScheduler.TrySchedule()
	return ok, s
}

// Done ends a compaction and begins the next, if one is waiting.
func (s scheduler) Done() {
	s.background.pause(&s.background.compaction)
	s.ConcurrencyLimitScheduler.Done()
}

// granting is a database whose waiting compactions end with the Done of scheduler.
type granting struct {
	pebbledb.DBForCompaction
	scheduler scheduler
}

func (g granting) Schedule(pebbledb.CompactionGrantHandle) bool {
	return g.DBForCompaction.Schedule(g.scheduler)
}

// refusal is mail that was refused because of the store.
type refusal struct {
	err error
	at  time.Time
}

// refusalAge is how long a refusal makes the store not ready, if no mail is stored in between.
const refusalAge = time.Minute

// took records whether mail could be stored.
func (s *Store) took(err error) {
	switch service.ErrorCode(err) {
	case "":
		if s.refused.Load() != nil {
			s.refused.Store(nil)
		}
	case service.Damaged, service.Unavailable:
		s.refused.Store(&refusal{err, time.Now()})
	}
}

// stuck returns an error while the committer waits for the disk for too long.
func (s *Store) stuck() error {
	start := s.syncStart.Load()
	if start == 0 || time.Since(s.opened)-time.Duration(start) < syncTimeout {
		return nil
	}
	if err := s.background.failing(); err != nil {
		return &service.Error{Code: service.Unavailable, Message: "The store cannot write its files: " + cause(err), Err: err}
	}
	return errStuck
}

// cause returns the innermost error, which anyone may know.
func cause(err error) string {
	for next := err; next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}
