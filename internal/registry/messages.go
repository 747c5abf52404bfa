package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"mayfly/api/watch"
)

// delivered is what was delivered of an inbox, in a file.
type delivered struct {
	InboxID string `json:"id"`
	watch.Delivered
}

func (d delivered) of() string { return d.InboxID }

// Bounds of the wait for another process that hands over a message of the same inbox.
const (
	lockTimeout = 10 * time.Second
	lockRetry   = 5 * time.Millisecond
)

// ErrBusy is the error of handing over a message while another process does not finish doing so.
var ErrBusy = errors.New("another process has been handing over a message of this inbox for " + lockTimeout.String())

// Delivered returns what was delivered of an inbox, if that can be kept.
func (r *Registry) Delivered(inboxID string) (watch.Delivered, error) {
	err := os.MkdirAll(r.dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(r.dir, ".try-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return watch.Delivered{}, fmt.Errorf("keep what was delivered: %w", err)
	}
	d, err := r.readDelivered(inboxID)
	return d.Delivered, err
}

// HandOver calls give with what was delivered of an inbox, and keeps what give makes of that if it
// returns true. No other process hands over a message of that inbox meanwhile. A process that is
// killed leaves no lock.
//
// An error before give was called is that of the folder, of ctx, or [ErrBusy]; after it, that the
// change is not kept. What is damaged counts as nothing delivered.
func (r *Registry) HandOver(ctx context.Context, inboxID string, give func(*watch.Delivered) (changed bool)) error {
	unlock, err := r.lock(ctx, inboxID)
	if err != nil {
		return fmt.Errorf("keep what was delivered: %w", err)
	}
	defer unlock()
	d, err := r.readDelivered(inboxID)
	if err != nil || !give(&d.Delivered) {
		return err
	}
	if err := r.write(r.path(inboxID, deliveredSuffix), d, time.Now().Add(longestLife)); err != nil {
		return fmt.Errorf("keep what was delivered: %w", err)
	}
	return nil
}

func (r *Registry) readDelivered(inboxID string) (delivered, error) {
	d, err := read[delivered](r.path(inboxID, deliveredSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
		return d, fmt.Errorf("read what was delivered: %w", err)
	}
	d.InboxID = inboxID
	return d, nil
}

// lock keeps other processes from handing over a message of an inbox. Its file stays, since one that is removed while
// another process waits for it would be locked by two.
func (r *Registry) lock(ctx context.Context, inboxID string) (unlock func(), err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(r.path(inboxID, lockSuffix))
	bounded, cancel := context.WithTimeoutCause(ctx, lockTimeout, ErrBusy)
	defer cancel()
	if _, err := lock.TryLockContext(bounded, lockRetry); err != nil {
		if bounded.Err() != nil {
			err = context.Cause(bounded)
		}
		return nil, err
	}
	return func() { _ = lock.Unlock() }, nil // the end of the process would unlock it, too
}

const (
	maxRead   = 3000 // keeps a file below maxFile
	maxBeside = 300  // messages in a file that its writer does not know
)

// Seen is which messages of an inbox were read: those in Read, and all received until Until.
type Seen struct {
	InboxID string    `json:"id"`
	Read    []string  `json:"read,omitempty"` // hashes of message IDs, newest first
	Until   time.Time `json:"until,omitzero"`

	read map[string]bool
}

func (s Seen) of() string { return s.InboxID }

// Mail is a message as far as [Seen] is concerned.
type Mail struct {
	ID       string
	Received time.Time // as the service says, zero if it does not
	Unread   bool
}

// Unread reports whether a message is unread.
func (s Seen) Unread(id string, received time.Time) bool {
	return (s.Until.IsZero() || received.After(s.Until)) && !s.read[short(id)]
}

func short(messageID string) string { return hash(messageID)[:16] }

func (s *Seen) index() {
	s.read = make(map[string]bool, len(s.Read))
	for _, r := range s.Read {
		s.read[r] = true
	}
}

// Change is a new state of an inbox: all of its mail, the newest first, and the IDs of the messages
// that the user has read or marked unread since the last one.
type Change struct {
	InboxID string
	Mail    []Mail
	Marked  map[string]bool
}

// SaveSeen records a change. What is not marked in it stays as another process may have recorded it.
// Messages older than the newest maxRead that were read count as read.
func (r *Registry) SaveSeen(c Change) error {
	unlock, err := r.lock(context.Background(), c.InboxID)
	if err != nil {
		return fmt.Errorf("this machine will not remember what was read: %w", err)
	}
	defer unlock()
	path := r.path(c.InboxID, seenSuffix)
	before, err := read[Seen](path)
	known := err == nil
	before.index()
	now := Seen{InboxID: c.InboxID, Read: before.beside(c.Mail)}
	for _, m := range c.Mail {
		if known && !c.Marked[m.ID] {
			m.Unread = before.Unread(m.ID, m.Received)
		}
		if m.Unread {
			continue
		}
		if len(now.Read) == maxRead {
			now.Until = m.Received
			break
		}
		now.Read = append(now.Read, short(m.ID))
	}
	if err := r.write(path, now, time.Now().Add(longestLife)); err != nil {
		return fmt.Errorf("this machine will not remember what was read: %w", err)
	}
	return nil
}

// beside returns which messages were read that are not in a list: another process may know newer ones.
func (s Seen) beside(list []Mail) []string {
	listed := make(map[string]bool, len(list))
	for _, m := range list {
		listed[short(m.ID)] = true
	}
	others := slices.DeleteFunc(slices.Clone(s.Read), func(r string) bool { return listed[r] })
	return others[:min(len(others), maxBeside)]
}

// SeenReader reads what was seen of the inboxes, for one goroutine at a time.
type SeenReader struct {
	registry *Registry
	changed  time.Time // when a file was last replaced, as the folder has it
	files    map[string]fs.FileInfo
}

// SeenReader returns a reader that has read nothing yet.
func (r *Registry) SeenReader() *SeenReader {
	return &SeenReader{registry: r, files: map[string]fs.FileInfo{}}
}

// Read returns what was seen of the inboxes for which that may have changed since the last call, by inbox ID, also
// with an error. Damaged files are skipped. While nothing changes it only asks for the time of the folder.
func (s *SeenReader) Read() (map[string]Seen, error) {
	all := map[string]Seen{}
	if dir, err := os.Stat(s.registry.dir); err == nil {
		if dir.ModTime().Equal(s.changed) {
			return all, nil
		}
		if time.Since(dir.ModTime()) > time.Second { // what follows at once may have the same time
			s.changed = dir.ModTime()
		}
	}
	list, err := readAll[Seen](s.registry, seenSuffix, s.unchanged)
	if err != nil {
		err = fmt.Errorf("list what was seen: %w", err)
	}
	for _, seen := range list {
		seen.index()
		all[seen.InboxID] = seen
	}
	return all, err
}

// unchanged reports whether a file was read before as it is.
func (s *SeenReader) unchanged(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	before := s.files[entry.Name()]
	s.files[entry.Name()] = info
	return before != nil && os.SameFile(info, before) && info.ModTime().Equal(before.ModTime())
}
