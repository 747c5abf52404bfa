package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/postgres"
)

// Copied counts what was copied of a store.
type Copied struct {
	Keys     int
	Inboxes  int
	Messages int // new ones
	Removed  int // inboxes that no longer exist
}

// CopyStore copies an embedded store to a database, in its state at the start. The store can be in
// use meanwhile. When it is repeated, it copies what has changed since; the database must not be
// served until the last time. From time to time it calls onProgress, if not nil, with what was
// copied so far.
func CopyStore(ctx context.Context, dir, database string, onProgress func(Copied)) (Copied, error) {
	if isDatabase(dir) || !isDatabase(database) {
		return Copied{}, errors.New("a store is copied from a folder to a database: --from DIR --to postgres://user@host/database")
	}
	if err := checkStore(database); err != nil {
		return Copied{}, err
	}
	if exists, err := pebble.Exists(dir); err != nil || !exists {
		return Copied{}, fmt.Errorf("there is no store in %s", dir)
	}
	to, err := postgres.Open(ctx, database, postgres.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return Copied{}, err
	}
	frozen, err := freeze(ctx, dir)
	if err != nil {
		return Copied{}, errors.Join(fmt.Errorf("reading the store in %s: %w", dir, err), to.Close())
	}
	defer frozen.remove()
	c := copier{from: frozen.store, now: time.Now(), onProgress: onProgress}
	if c.onProgress == nil {
		c.onProgress = func(Copied) {}
	}
	err = c.run(ctx, to)
	if err != nil {
		err = fmt.Errorf("copying to %s: %w", StoreName(database), err)
	}
	return c.done, errors.Join(err, to.Close())
}

// frozen is a store in its state at one moment.
type frozen struct {
	store *pebble.Store
	dir   string
	lock  *flock.Flock // keeps other processes from copying the store
}

// freeze makes a copy of a store in a subfolder, linked as far as possible. It removes what a
// process that was killed left there.
func freeze(ctx context.Context, dir string) (f frozen, err error) {
	f = frozen{dir: filepath.Join(dir, "copying"), lock: flock.New(filepath.Join(dir, "copying.lock"), flock.SetPermissions(0o644))}
	locked, err := f.lock.TryLock()
	if err != nil {
		return f, err
	}
	if !locked {
		return f, errors.New("another process is copying it")
	}
	if err := os.RemoveAll(f.dir); err != nil {
		return f, errors.Join(err, f.lock.Unlock())
	}
	if f.store, err = snapshot(ctx, dir, f.dir); err != nil {
		return f, errors.Join(err, os.RemoveAll(f.dir), f.lock.Unlock())
	}
	return f, nil
}

// snapshot copies a store to a new folder and opens the copy.
func snapshot(ctx context.Context, dir, to string) (*pebble.Store, error) {
	admin, err := OpenAdmin(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(admin.Backup(ctx, to), admin.Close()); err != nil {
		return nil, err
	}
	return pebble.Open(to, pebble.Options{Log: slog.New(slog.DiscardHandler)})
}

func (f frozen) remove() {
	_ = f.store.Close() // nothing was written
	_ = os.RemoveAll(f.dir)
	_ = f.lock.Unlock()
}

// Limits of a transaction.
const (
	copyRows  = 1000
	copyBytes = 4 << 20 // of raw messages
)

// copier copies an embedded store to a database.
type copier struct {
	from       *pebble.Store
	to         *postgres.Import
	now        time.Time
	done       Copied
	onProgress func(Copied)
}

func (c *copier) run(ctx context.Context, to *postgres.Store) (err error) {
	keys, err := c.from.Keys(ctx)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("the store has no API keys: there is nothing to copy")
	}
	// The oldest key identifies the store, since its ID is random and keys are never removed.
	if c.to, err = to.Import(ctx, keys[0].ID); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.to.Close(ctx)) }()
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return c.keys(ctx, keys) },
		c.addresses,
		c.inboxes,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.done.Removed, err = c.to.Finish(ctx, func(keyID, id string) (bool, error) {
		in, err := c.from.Inbox(ctx, keyID, id)
		if service.ErrorCode(err) == service.NotFound {
			return false, nil
		}
		return c.now.Before(in.ExpiresAt), err
	})
	return err
}

func (c *copier) keys(ctx context.Context, keys []service.StoredKey) error {
	day := service.DayOf(c.now)
	counts := make(map[string][2]int) // today and yesterday
	err := c.from.EachCount(ctx, func(keyID string, d service.Day, n int) error {
		count := counts[keyID]
		if ago := int(day - d); ago == 0 || ago == 1 {
			count[ago] = n
			counts[keyID] = count
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := c.to.Key(ctx, k, day, counts[k.ID][0], counts[k.ID][1]); err != nil {
			return err
		}
		c.done.Keys++
	}
	return nil
}

// batch gathers rows for a transaction.
type batch[T any] struct {
	rows  []T
	write func([]T) error
}

func (b *batch[T]) add(row T) error {
	if b.rows = append(b.rows, row); len(b.rows) < copyRows {
		return nil
	}
	return b.flush()
}

func (b *batch[T]) flush() error {
	if len(b.rows) == 0 {
		return nil
	}
	err := b.write(b.rows)
	b.rows = b.rows[:0]
	return err
}

func (c *copier) addresses(ctx context.Context) error {
	list := batch[postgres.Address]{write: func(rows []postgres.Address) error { return c.to.Addresses(ctx, rows) }}
	err := c.from.EachAddress(ctx, func(address, keyID, _ string) error {
		return list.add(postgres.Address{Address: address, KeyID: keyID})
	})
	if err != nil {
		return err
	}
	return list.flush()
}

func (c *copier) inboxes(ctx context.Context) error {
	list := batch[service.Inbox]{write: func(rows []service.Inbox) error {
		there, err := c.to.Inboxes(ctx, rows)
		if err == nil {
			err = c.messages(ctx, rows, there)
		}
		if err == nil {
			c.done.Inboxes += len(rows)
			c.onProgress(c.done)
		}
		return err
	}}
	err := c.from.EachInbox(ctx, func(in service.Inbox) error {
		if !c.now.Before(in.ExpiresAt) {
			return nil
		}
		return list.add(in)
	})
	if err != nil {
		return err
	}
	return list.flush()
}

// messages copies the messages of inboxes, except those that are already there.
func (c *copier) messages(ctx context.Context, inboxes []service.Inbox, there map[string]int) error {
	size := 0
	list := batch[postgres.Message]{write: func(rows []postgres.Message) error {
		err := c.to.Messages(ctx, rows)
		if err == nil {
			c.done.Messages += len(rows)
			c.onProgress(c.done)
		}
		size = 0
		return err
	}}
	for _, in := range inboxes {
		for place := there[in.ID] + 1; place <= in.Messages; place++ {
			m, err := c.from.Message(ctx, in, uint64(place))
			if service.ErrorCode(err) == service.NotFound {
				continue // it was lost before the store was repaired
			}
			if err == nil {
				size += len(m.Raw)
				err = list.add(postgres.Message{Inbox: in, Message: m})
			}
			if err == nil && size >= copyBytes {
				err = list.flush()
			}
			if err != nil {
				return fmt.Errorf("the messages of %s: %w", in.ID, err)
			}
		}
	}
	return list.flush()
}
