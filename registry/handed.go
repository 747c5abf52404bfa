package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"mayfly/api/watch"
)

// handed is what was handed over of an inbox, in a file.
type handed struct {
	InboxID string `json:"id"`
	watch.Handed
}

func (h handed) of() string { return h.InboxID }

// Bounds of the wait for another process that hands over a message of the same inbox.
const (
	lockTimeout = 10 * time.Second
	lockRetry   = 5 * time.Millisecond
)

// ErrBusy is the error of handing over a message while another process does not finish doing so.
var ErrBusy = errors.New("another process has been handing over a message of this inbox for " + lockTimeout.String())

// HandOver calls give with what was handed over of an inbox, and keeps what give makes of that if it
// returns true. No other process hands over a message of that inbox meanwhile. A process that is
// killed leaves no lock.
//
// An error before give was called is that of the folder, of ctx, or [ErrBusy]; after it, that the
// change is not kept. What is damaged counts as nothing handed over.
func (r *Registry) HandOver(ctx context.Context, inboxID string, give func(*watch.Handed) (changed bool)) error {
	unlock, err := r.lock(ctx, inboxID)
	if err != nil {
		return fmt.Errorf("keep what was handed over: %w", err)
	}
	defer unlock()
	path := r.path(inboxID, handedSuffix)
	h, err := read[handed](path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged) {
		return fmt.Errorf("read what was handed over: %w", err)
	}
	h.InboxID = inboxID
	if !give(&h.Handed) {
		return nil
	}
	writeErr := r.write(path, h)
	if writeErr == nil && err != nil { // it is the first of the inbox
		writeErr = r.prune()
	}
	if writeErr != nil {
		return fmt.Errorf("keep what was handed over: %w", writeErr)
	}
	return nil
}

// lock makes other processes wait that hand over a message of an inbox. The file stays: one that is
// removed while another process waits for it would be locked by two.
func (r *Registry) lock(ctx context.Context, inboxID string) (unlock func(), err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(r.path(inboxID, lockSuffix), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
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
