package pebble

import (
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// spare is a file whose space is given back when the disk is full, so that the store can still be
// opened, which writes what is in logs to tables, and inboxes can be deleted.
type spare struct {
	disk vfs.FS
	name string // path

	mu   sync.Mutex
	size int64 // of the file
}

const (
	spareName    = "RESERVE"
	leastSpare   = 256 << 10 // bytes, while there is nothing in the logs
	spareForLogs = 1 << 20   // bytes, in addition to the logs
)

// hold gives the file a size. Size 0 is none.
func (s *spare) hold(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size == s.size {
		return nil
	}
	if err := s.remove(); err != nil || size == 0 {
		return err
	}
	f, err := s.disk.Create(s.name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	// Not zeros, which some file systems do not store.
	chunk, noise := make([]byte, 64<<10), rand.NewChaCha8([32]byte{})
	for written := int64(0); written < size && err == nil; written += int64(len(chunk)) {
		noise.Read(chunk) // never fails
		_, err = f.Write(chunk)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.remove())
	}
	s.size = size
	return nil
}

// giveBack removes the file, and reports whether there was one.
func (s *spare) giveBack() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.disk.Stat(s.name)
	return err == nil && s.remove() == nil
}

func (s *spare) remove() error {
	s.size = 0
	if err := s.disk.Remove(s.name); !oserror.IsNotExist(err) {
		return err
	}
	return nil
}
