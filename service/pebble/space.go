package pebble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// space watches over the room on the disk. Mail is refused while less than the reserve is free, so that what
// was accepted can be moved and deletions can be written. When there is nothing left all the same, because
// others write to the disk too, writes wait until there is: the database takes a write that failed for the
// end of the world, and must not see one.
type space struct {
	vfs.FS
	dir     string
	reserve uint64
	stop    <-chan struct{}
	tell    func(full bool)

	shrinking atomic.Bool // a file that is to be written over starts empty

	mu        sync.Mutex
	checked   time.Time
	available uint64        // octets, at the last check
	taken     uint64        // of them, by mail since
	coming    uint64        // of those, by mail that is not on the disk yet
	low       bool          // by the last check
	blocked   int           // writes that wait
	full      chan struct{} // closed while writes wait
}

const (
	spaceCheck = 100 * time.Millisecond // how often the free space is asked for
	spaceRetry = 100 * time.Millisecond // how often a write that found no room is tried again
)

func newSpace(disk vfs.FS, dir string, reserve uint64, stop <-chan struct{}, tell func(full bool)) *space {
	return &space{FS: disk, dir: dir, reserve: reserve, stop: stop, tell: tell, full: make(chan struct{})}
}

var errFull = &service.Error{Code: service.Full, Message: "No space left in the store"}

// roomToOpen returns an error unless there is room to move what is in the logs to tables: while it is opened, the store
// would wait for it, and nobody would know.
func (s *space) roomToOpen() error {
	usage, err := s.GetDiskUsage(s.dir)
	if err != nil {
		return nil // it is not known
	}
	names, err := s.List(s.dir)
	if err != nil {
		return err
	}
	const least = 1 << 20
	need := uint64(least)
	for _, name := range names {
		if path.Ext(name) != ".log" {
			continue
		}
		info, err := s.Stat(s.PathJoin(s.dir, name))
		if err != nil {
			return err
		}
		need += uint64(info.Size())
	}
	if usage.AvailBytes < need {
		return fmt.Errorf("%w: %d KB are free on its disk, and it needs %d", syscall.ENOSPC, usage.AvailBytes>>10, need>>10)
	}
	return nil
}

// check returns Full while there is no room for mail.
func (s *space) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkRoom(0)
}

// tight reports whether mail will soon be refused.
func (s *space) tight() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkRoom(s.reserve/2) != nil
}

// take takes room for mail of n octets until it is on the disk, or returns Full.
func (s *space) take(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	need := writes * uint64(n)
	if err := s.checkRoom(need); err != nil {
		return err
	}
	s.taken += need
	s.coming += need
	return nil
}

// give is called when mail for which room was taken is on the disk, or will not come.
func (s *space) give(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coming -= writes * uint64(n)
}

// writes is how often mail is written: to a log, and to a table before the log goes.
const writes = 2

func (s *space) checkRoom(need uint64) error {
	if s.blocked > 0 {
		return errFull
	}
	if now := time.Now(); s.checked.IsZero() || now.Sub(s.checked) >= spaceCheck {
		s.checked = now
		usage, err := s.GetDiskUsage(s.dir)
		s.available, s.taken = usage.AvailBytes, s.coming
		if err != nil {
			s.available = math.MaxInt64
		}
		if low := s.available < s.reserve; low != s.low {
			s.low = low
			s.tell(low)
		}
	}
	if s.available < s.reserve+s.taken+need {
		return errFull
	}
	return nil
}

// exhausted returns a channel that is closed when writes have to wait for room.
func (s *space) exhausted() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.full
}

// patiently does a write until it finds room. A backup, which goes elsewhere, does not wait.
func (s *space) patiently(name string, write func() error) error {
	err := write()
	if !vfs.IsNoSpaceError(err) || s.PathDir(name) != s.dir {
		return err
	}
	s.block(1)
	timer := time.NewTicker(spaceRetry)
	defer timer.Stop()
	for vfs.IsNoSpaceError(err) {
		select {
		case <-timer.C:
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
		s.tell(true)
	case s.blocked == 0:
		s.full = make(chan struct{})
		s.checked = time.Time{}
		if !s.low {
			s.tell(false)
		}
	}
}

// What makes a file waits for room like what writes to one.

func (s *space) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	err = s.patiently(name, func() error { f, err = s.FS.Create(name, c); return err })
	return s.file(name, f, err)
}

func (s *space) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (f vfs.File, err error) {
	err = s.patiently(name, func() error { f, err = s.FS.OpenReadWrite(name, c, o...); return err })
	return s.file(name, f, err)
}

func (s *space) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if s.shrinking.Load() {
		if err := s.Remove(from); err != nil {
			return nil, err
		}
		return s.Create(to, c)
	}
	err = s.patiently(to, func() error { f, err = s.FS.ReuseForWrite(from, to, c); return err })
	return s.file(to, f, err)
}

func (s *space) Link(from, to string) error {
	return s.patiently(to, func() error { return s.FS.Link(from, to) })
}

func (s *space) Rename(from, to string) error {
	return s.patiently(to, func() error { return s.FS.Rename(from, to) })
}

// Lock takes the store for this process. A file that can be made but not locked is another's.
func (s *space) Lock(name string) (io.Closer, error) {
	held, err := s.FS.Lock(name)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		return nil, fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return held, err
}

func (s *space) Unwrap() vfs.FS { return s.FS }

func (s *space) file(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return patientFile{f, s, name}, nil
}

// patientFile is a file whose writes wait for room. A sync that finds none is an error for good: nobody
// knows what was dropped.
type patientFile struct {
	vfs.File
	space *space
	name  string
}

func (f patientFile) Write(p []byte) (n int, err error) {
	err = f.space.patiently(f.name, func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

func (f patientFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.space.patiently(f.name, func() error {
		m, err := f.File.WriteAt(p[n:], off+int64(n))
		n += m
		return err
	})
	return n, err
}

// Preallocate does nothing: the logs of a store that holds one mail would take 70 MB each, and gain
// nothing that could be measured.
func (f patientFile) Preallocate(offset, length int64) error { return nil }
