package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"mayfly/api/watch"
)

// consumed is what was consumed of an inbox, in a file.
type consumed struct {
	InboxID string `json:"id"`
	watch.Consumed
}

func (d consumed) of() string { return d.InboxID }

// Bounds of the wait for another process that hands over a message of the same inbox.
const (
	lockTimeout = 10 * time.Second
	lockRetry   = 5 * time.Millisecond
)

// ErrBusy is the error of handing over a message while another process does not finish doing so.
var ErrBusy = errors.New("another process has been returning a message of this inbox for " + lockTimeout.String())

// Consumed returns what was consumed of an inbox, if that can be kept.
func (r *Registry) Consumed(ctx context.Context, inboxID string) (watch.Consumed, error) {
	if r := r.elsewhere(ctx); r != nil {
		content, err := r.of(ctx, inboxID, time.Second)
		return decode(content).Consumed, err
	}
	err := os.MkdirAll(r.dir, 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(r.dir, ".try-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return watch.Consumed{}, fmt.Errorf("record what was returned: %w", err)
	}
	d, err := r.readConsumed(inboxID)
	return d.Consumed, err
}

// UpdateConsumed calls take with the record of what was consumed of the inbox and, if it has taken something, output; it stores the
// record if output succeeds. No other process outputs the same. Take may be called again, with a record that another one has changed.
//
// An error before output was called is that of the directory or the service, of ctx, or [ErrBusy]; after it, that the
// change is not kept. A damaged record is treated as empty.
func (r *Registry) UpdateConsumed(ctx context.Context, inboxID string, take func(*watch.Consumed) bool, output func() (done bool)) error {
	if r := r.elsewhere(ctx); r != nil {
		return r.updateConsumed(ctx, inboxID, take, output)
	}
	unlock, err := r.lock(ctx, inboxID)
	if err != nil {
		return fmt.Errorf("record what was returned: %w", err)
	}
	defer unlock()
	d, err := r.readConsumed(inboxID)
	if err != nil || !take(&d.Consumed) || !output() {
		return err
	}
	if err := r.write(r.path(inboxID, deliveredSuffix), d, time.Now().Add(longestLife)); err != nil {
		return fmt.Errorf("record what was returned: %w", err)
	}
	return nil
}

// InVain returns when the last wait for each inbox timed out, by ID, of all registries below a directory.
func InVain(dir string) map[string]time.Time {
	all := map[string]time.Time{}
	files, _ := filepath.Glob(filepath.Join(dir, "inboxes", "*", "*"+deliveredSuffix)) // the pattern is right
	for _, file := range files {
		if d, err := read[consumed](file); err == nil && !d.Vain.IsZero() {
			all[d.InboxID] = d.Vain
		}
	}
	return all
}

func (r *Registry) readConsumed(inboxID string) (consumed, error) {
	d, err := read[consumed](r.path(inboxID, deliveredSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
		return d, fmt.Errorf("read what was returned: %w", err)
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

const maxRead = 2000 // messages of an inbox; keeps a file below maxFile

// ReadState is which messages of an inbox were read: those in Read, and all received until Until.
type ReadState struct {
	InboxID string           `json:"id"`
	Read    map[string]int64 `json:"read"` // when they were received, in seconds since 1970, by the hash of their ID
	Until   int64            `json:"until,omitempty"`
}

func (s ReadState) of() string { return s.InboxID }

// Unread reports whether a message is unread.
func (s ReadState) Unread(id string, received time.Time) bool {
	_, read := s.Read[short(id)]
	return !read && (s.Until == 0 || received.Unix() > s.Until)
}

func short(messageID string) string { return hash(messageID)[:16] }

// Mark is a message that the user has read, or marked unread.
type Mark struct {
	ID       string
	Received time.Time // as the service says, zero if it does not
	Unread   bool
}

// SaveSeen records marks of an inbox beside what other processes have recorded.
func (r *Registry) SaveSeen(inboxID string, marks []Mark) error {
	if r := r.elsewhere(context.Background()); r != nil {
		return r.change(context.Background(), inboxID, func(s *state) bool { s.Seen.add(inboxID, marks); return true })
	}
	unlock, err := r.lock(context.Background(), inboxID)
	if err != nil {
		return fmt.Errorf("could not record on this machine what was read: %w", err)
	}
	defer unlock()
	path := r.path(inboxID, seenSuffix)
	seen, err := read[ReadState](path)
	if err != nil {
		seen = ReadState{}
	}
	seen.add(inboxID, marks)
	if err := r.write(path, seen, time.Now().Add(longestLife)); err != nil {
		return fmt.Errorf("could not record on this machine what was read: %w", err)
	}
	return nil
}

// add adds marks. Messages older than the newest maxRead that were read count as read.
func (seen *ReadState) add(inboxID string, marks []Mark) {
	if seen.InboxID = inboxID; seen.Read == nil {
		seen.Read = map[string]int64{}
	}
	for _, m := range marks {
		if seen.Read[short(m.ID)] = m.Received.Unix(); m.Unread {
			delete(seen.Read, short(m.ID))
		}
	}
	if len(seen.Read) > maxRead {
		newest := slices.Sorted(maps.Values(seen.Read))
		seen.Until = newest[len(newest)-maxRead-1]
		maps.DeleteFunc(seen.Read, func(_ string, received int64) bool { return received <= seen.Until })
	}
}

// SeenReader reads what was seen of the inboxes, for one goroutine at a time.
type SeenReader struct {
	registry *Registry
	changed  time.Time         // when a file was last replaced, as the directory has it
	states   map[string][]byte // of a registry with a keeper
}

// SeenReader returns a reader that has read nothing yet.
func (r *Registry) SeenReader() *SeenReader {
	return &SeenReader{registry: r, states: map[string][]byte{}}
}

// Read returns what was seen of the inboxes if that may have changed since the last call, by inbox ID, also with an error.
// Damaged files are skipped. While nothing changes it only asks for the time of the directory.
func (s *SeenReader) Read() (map[string]ReadState, error) {
	if r := s.registry.elsewhere(context.Background()); r != nil {
		return s.readRemote(r)
	}
	all := map[string]ReadState{}
	if dir, err := os.Stat(s.registry.dir); err == nil {
		if dir.ModTime().Equal(s.changed) {
			return all, nil
		}
		if time.Since(dir.ModTime()) > time.Second { // what follows at once may have the same time
			s.changed = dir.ModTime()
		}
	}
	list, err := readAll[ReadState](s.registry, seenSuffix)
	if err != nil {
		err = fmt.Errorf("list what was seen: %w", err)
	}
	for _, seen := range list {
		all[seen.InboxID] = seen
	}
	return all, err
}
