package pebble

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"mayfly/service"
)

const (
	tidyAfter      = 30 * time.Second // with few writes, at most twice as long
	tidyAfterTight = 5 * time.Second  // likewise, if the disk is nearly full
	fewGroups      = 100              // such as the removal of what expires
	tidyLogs       = 1 << 20          // bytes of logs that need no tidying
	tidyTables     = 16 << 20         // largest size of tables, without bodies, that are compacted
	maxLogs        = 16               // more than there are
)

// runTidy tidies the store when next to nothing has been written for a while. While mail arrives, the
// database keeps what it will need again: logs for reuse, memtables, blocks that were read. It also
// leaves deleted data in place until a compaction comes across it. Tidying frees all of that.
func (s *Store) runTidy() {
	for {
		select {
		case <-s.written:
		case <-s.stop:
			return
		}
		for quiet := false; !quiet; {
			wait := tidyAfter
			if s.disk.lowSpace() {
				wait = tidyAfterTight
			}
			before := s.groups.Load()
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-s.stop:
				timer.Stop()
				return
			}
			quiet = s.waiting.Load() == 0 && s.groups.Load()-before <= fewGroups
		}
		select {
		case <-s.written: // before this
		default:
		}
		if err := s.tidy(); err != nil {
			s.log.Warn("unused disk space of the store could not be freed", "error", err)
		}
	}
}

func (s *Store) tidy() error {
	if s.failed() != nil {
		return nil // this would fail, too, or panic
	}
	if s.logsSize() >= tidyLogs {
		if err := s.emptyLogs(); err != nil {
			return err
		}
		s.cache.Reserve(int(s.cache.MaxSize()))()
		defer debug.FreeOSMemory()
	}
	if m := s.db.Metrics().Total(); m.TablesSize <= tidyTables && s.removed.Swap(false) {
		if err := s.flush(); err != nil { // Compact would do it while a group is written
			return err
		}
		if err := s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, false); err != nil {
			return fmt.Errorf("compact: %w", err)
		}
	}
	return nil
}

func (s *Store) logsSize() uint64 {
	m := s.db.Metrics()
	return m.WAL.PhysicalSize + m.WAL.ObsoletePhysicalSize
}

// emptyLogs flushes the logs to tables until they are small. Each flush retires the current log and
// replaces it by the oldest retired one, which the disk empties.
func (s *Store) emptyLogs() error {
	s.disk.shrinking.Store(true)
	defer s.disk.shrinking.Store(false)
	for range maxLogs {
		if err := s.flush(); err != nil {
			return err
		}
		if s.logsSize() < tidyLogs || len(s.written) > 0 {
			break
		}
	}
	return nil
}

// flush writes what is in the log to a table, which closes the log: if the sync of a group fails
// meanwhile, the database panics.
func (s *Store) flush() error {
	flushed, err := s.endLog()
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	select {
	case <-flushed:
		return nil
	case <-s.failing:
		return s.failed()
	case <-s.stop:
		return service.ErrClosed
	}
}

func (s *Store) endLog() (flushed <-chan struct{}, err error) {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if err := s.failed(); err != nil {
		return nil, err
	}
	return s.db.AsyncFlush()
}
