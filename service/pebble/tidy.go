package pebble

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// While mail comes, the database keeps what it will need again: logs to be written over, tables in memory,
// blocks that were read. It removes what was deleted as it comes across it. When nothing has been written for
// a while, all of that is given back.

const (
	tidyAfter  = time.Minute
	tidySoon   = 5 * time.Second // where the disk is nearly full
	tidyLogs   = 1 << 20         // octets of logs that are left alone
	tidyTables = 16 << 20        // octets of tables, bodies not counted, that are looked through for what was deleted
	maxLogs    = 16              // more than there are
)

// runTidy tidies whenever the store has been written to and then left alone.
func (s *Store) runTidy() {
	for {
		select {
		case <-s.written:
		case <-s.stop:
			return
		}
		wait := tidyAfter
		if s.space.tight() {
			wait = tidySoon
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.stop:
			timer.Stop()
			return
		}
		if len(s.written) > 0 {
			continue
		}
		if err := s.tidy(); err != nil {
			s.log.Warn("the store's disk space could not be given back", "error", err)
		}
	}
}

func (s *Store) tidy() error {
	if s.logsSize() >= tidyLogs {
		if err := s.emptyLogs(); err != nil {
			return err
		}
		s.cache.Reserve(int(s.cache.MaxSize()))()
		defer debug.FreeOSMemory()
	}
	if m := s.db.Metrics().Total(); m.TablesSize <= tidyTables && s.removed.Swap(false) {
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

// emptyLogs moves what is in the logs to tables. Each time, the log becomes one to be written over, and the
// first of those, emptied, becomes the log.
func (s *Store) emptyLogs() error {
	s.space.shrinking.Store(true)
	defer s.space.shrinking.Store(false)
	for range maxLogs {
		if err := s.db.Flush(); err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		if s.logsSize() < tidyLogs || len(s.written) > 0 {
			break
		}
	}
	return nil
}
