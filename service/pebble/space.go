package pebble

import (
	"errors"
	"fmt"
	"math"
	"path"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// space is the file system of the store, and watches the free space on its disk. Mail is refused
// while less than the reserve is free, so that what was accepted can be compacted and deletions can
// be written. If the disk gets full nevertheless, because others write to it too, writes wait until
// there is space: to the database, a failed write is fatal.
type space struct {
	vfs.FS
	dir      string
	reserve  uint64
	stop     <-chan struct{}
	onChange func(full bool)

	shrinking atomic.Bool // reused files are replaced by empty ones
	spare     *spare

	probing     sync.Mutex
	probed      time.Time
	notWritable error // what was found then

	mu        sync.Mutex
	checked   time.Time     // when available was read
	available uint64        // bytes
	taken     uint64        // of available, by mail since
	pending   uint64        // of taken, by mail that is not on disk yet
	low       bool          // available is below the reserve
	blocked   int           // writes that wait
	full      chan struct{} // closed while writes wait
}

const (
	spaceCheckInterval = 100 * time.Millisecond // for reading the free space
	spaceRetryInterval = 100 * time.Millisecond // for repeating a write that found no space
)

func newSpace(disk vfs.FS, dir string, reserve uint64, stop <-chan struct{}, onChange func(full bool)) *space {
	return &space{
		FS: disk, dir: dir, reserve: reserve, stop: stop, onChange: onChange, full: make(chan struct{}),
		spare: &spare{disk: disk, name: disk.PathJoin(dir, spareName)},
	}
}

// noSpace is the system's error when a disk is full; Windows has a number of its own.
var noSpace = map[bool]syscall.Errno{false: syscall.ENOSPC, true: 112}[runtime.GOOS == "windows"]

var errFull = &service.Error{Code: service.Full, Message: "No space left in the store"}

// checkOpen returns an error unless files can be made and there is space for opening the database,
// which writes what is in the logs to tables. Otherwise it would try for ever, and nobody would know
// why. If space is short, it gives back what is kept for this, and logs that are in tables, which the
// database would reuse.
func (s *space) checkOpen(found *folder) error {
	err := s.checkEnough(found.logBytes)
	if !vfs.IsNoSpaceError(err) {
		return err
	}
	given := s.spare.giveBack()
	for _, name := range found.files {
		if path.Ext(name) == logExt && numberOf(name) < found.firstLog {
			given = s.Remove(s.PathJoin(s.dir, name)) == nil || given
		}
	}
	if given {
		err = s.checkEnough(found.logBytes)
	}
	return err
}

func (s *space) checkEnough(logs uint64) error {
	need := logs + leastSpare
	if usage, err := s.GetDiskUsage(s.dir); err == nil && usage.AvailBytes < need { // not all file systems tell
		return fmt.Errorf("%w: its disk has %d KB free, but opening needs %d KB", noSpace, usage.AvailBytes>>10, need>>10)
	}
	return s.probe()
}

// writable is probe, which it does at most once a second.
func (s *space) writable() error {
	s.probing.Lock()
	defer s.probing.Unlock()
	if s.probed.IsZero() || time.Since(s.probed) >= time.Second {
		s.probed, s.notWritable = time.Now(), s.probe()
	}
	return s.notWritable
}

// probe returns an error unless files can be made.
func (s *space) probe() error {
	probe := s.PathJoin(s.dir, "probe")
	f, err := s.FS.Create(probe, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), s.Remove(probe))
}

// hold keeps a number of bytes for when the disk is full, if there is more than enough space.
func (s *space) hold(size int64) error {
	usage, err := s.GetDiskUsage(s.dir)
	if err != nil || usage.AvailBytes < s.reserve+uint64(size) {
		return nil
	}
	err = s.spare.hold(size)
	if vfs.IsNoSpaceError(err) {
		return nil // others were faster
	}
	return err
}

// check returns Full while there is no space for mail.
func (s *space) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkFor(0)
}

// tight reports whether mail will soon be refused.
func (s *space) tight() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkFor(s.reserve/2) != nil
}

// acquire reserves space for mail of n bytes until it is on disk, or returns Full.
func (s *space) acquire(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	need := writes * uint64(n)
	if err := s.checkFor(need); err != nil {
		return err
	}
	s.taken += need
	s.pending += need
	return nil
}

// release is called when mail for which space was acquired is on disk, or was not stored.
func (s *space) release(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending -= writes * uint64(n)
}

// writes is how often mail is written: to a log, and to a table before the log is removed.
const writes = 2

func (s *space) checkFor(need uint64) error {
	if s.blocked > 0 {
		return errFull
	}
	if now := time.Now(); s.checked.IsZero() || now.Sub(s.checked) >= spaceCheckInterval {
		s.checked = now
		usage, err := s.GetDiskUsage(s.dir)
		s.available, s.taken = usage.AvailBytes, s.pending
		if err != nil {
			s.available = math.MaxInt64
		}
		if low := s.available < s.reserve; low != s.low {
			s.low = low
			s.onChange(low)
		}
	}
	if s.available < s.reserve+s.taken+need {
		return errFull
	}
	return nil
}

// exhausted returns a channel that is closed when writes have to wait for space.
func (s *space) exhausted() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// retry repeats a write until there is space for it. It does not wait for a backup, which is
// written elsewhere.
func (s *space) retry(name string, write func() error) error {
	err := write()
	if !vfs.IsNoSpaceError(err) || s.PathDir(name) != s.dir {
		return err
	}
	if s.spare.giveBack() {
		s.mu.Lock()
		s.checked = time.Time{} // mail must not take it
		s.mu.Unlock()
		if err = write(); !vfs.IsNoSpaceError(err) {
			return err
		}
	}
	s.block(1)
	ticker := time.NewTicker(spaceRetryInterval)
	defer ticker.Stop()
	for vfs.IsNoSpaceError(err) {
		select {
		case <-ticker.C:
			err = write()
		case <-s.stop:
			return err
		}
	}
	s.block(-1)
	return err
}

func (s *space) block(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.blocked
	s.blocked += n
	switch {
	case before == 0:
		close(s.full)
		s.onChange(true)
	case s.blocked == 0:
		s.full = make(chan struct{})
		s.checked = time.Time{}
		if !s.low {
			s.onChange(false)
		}
	}
}
