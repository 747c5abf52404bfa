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
	if _, err := r.openLock(inboxID); err != nil {
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

// openLock makes the file whose lock keeps other processes from handing over a message of an inbox.
// The file stays, since one that is removed while another process waits for it would be locked by two.
func (r *Registry) openLock(inboxID string) (*flock.Flock, error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	path := r.path(inboxID, lockSuffix)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return flock.New(path), f.Close()
}

func (r *Registry) lock(ctx context.Context, inboxID string) (unlock func(), err error) {
	lock, err := r.openLock(inboxID)
	if err != nil {
		return nil, err
	}
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
