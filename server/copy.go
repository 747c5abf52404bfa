package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/postgres"
)

// Copied is how much of a store was copied.
type Copied struct {
	Keys     int
	Inboxes  int
	Messages int // that were not there yet
	Removed  int // inboxes that are no more
}

// CopyStore makes a database what an embedded store is, as it was at the start. The store may be served meanwhile. Made
// again, it takes what has changed since; the database must not be served before the last time. tell, if not nil, is
// called now and then with what is done so far.
func CopyStore(ctx context.Context, dir, database string, tell func(Copied)) (Copied, error) {
	if isDatabase(dir) || !isDatabase(database) {
		return Copied{}, errors.New("a store is copied from a folder to a database: --from DIR --to postgres://user@host/database")
	}
	if err := checkStore(database); err != nil {
		return Copied{}, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return Copied{}, fmt.Errorf("there is no store in %s", dir)
	}
	frozen, err := freeze(ctx, dir)
	if err != nil {
		return Copied{}, fmt.Errorf("reading the store in %s: %w", dir, err)
	}
	defer frozen.remove()
	to, err := postgres.Open(ctx, database, postgres.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return Copied{}, err
	}
	c := copying{from: frozen.store, now: time.Now(), tell: tell}
	if c.tell == nil {
		c.tell = func(Copied) {}
	}
	err = c.run(ctx, to)
	if err != nil {
		err = fmt.Errorf("copying to %s: %w", StoreName(database), err)
	}
	return c.done, errors.Join(err, to.Close())
}

// frozen is a store as it was at one moment.
type frozen struct {
	store *pebble.Store
	dir   string
}

// freeze makes a copy of a store, which is linked to it as far as it can be.
func freeze(ctx context.Context, dir string) (frozen, error) {
	admin, err := OpenAdmin(ctx, dir)
	if err != nil {
		return frozen{}, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return frozen{}, errors.Join(err, admin.Close())
	}
	f := frozen{}
	if f.dir, err = os.MkdirTemp(filepath.Dir(dir), ".mayfly-copy-"); err != nil {
		return frozen{}, errors.Join(err, admin.Close())
	}
	backup := filepath.Join(f.dir, "store")
	if err = errors.Join(admin.Backup(ctx, backup), admin.Close()); err == nil {
		f.store, err = pebble.Open(backup, pebble.Options{Log: slog.New(slog.DiscardHandler)})
	}
	if err != nil {
		return frozen{}, errors.Join(err, os.RemoveAll(f.dir))
	}
	return f, nil
}

func (f frozen) remove() {
	_ = f.store.Close() // nothing was written
	_ = os.RemoveAll(f.dir)
}

const (
	copyRows  = 1000
	copyBytes = 4 << 20
)

// copying is a copy that is being made.
type copying struct {
	from *pebble.Store
	to   *postgres.Import
	now  time.Time
	done Copied
	tell func(Copied)
}

func (c *copying) run(ctx context.Context, to *postgres.Store) (err error) {
	keys, err := c.from.Keys(ctx)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("the store has no API keys: there is nothing to copy")
	}
	// The oldest key names the store: its ID is random, and keys are never removed.
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
	c.done.Removed, err = c.to.Finish(ctx)
	return err
}

func (c *copying) keys(ctx context.Context, keys []service.StoredKey) error {
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

func (c *copying) addresses(ctx context.Context) error {
	list := make([]postgres.Address, 0, copyRows)
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		err := c.to.Addresses(ctx, list)
		list = list[:0]
		return err
	}
	err := c.from.EachAddress(ctx, func(address, keyID, _ string) error {
		if list = append(list, postgres.Address{Address: address, KeyID: keyID}); len(list) < copyRows {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (c *copying) inboxes(ctx context.Context) error {
	return c.from.EachInbox(ctx, func(in service.Inbox) error {
		if !c.now.Before(in.ExpiresAt) {
			return nil
		}
		holder, err := c.from.InboxByAddress(ctx, in.Address)
		if err != nil && service.ErrorCode(err) != service.NotFound {
			return err
		}
		there, err := c.to.Inbox(ctx, in, err == nil && holder.ID == in.ID)
		if err != nil {
			return err
		}
		if err := c.messages(ctx, in, there); err != nil {
			return fmt.Errorf("the messages of %s: %w", in.ID, err)
		}
		c.done.Inboxes++
		c.tell(c.done)
		return nil
	})
}

// messages copies those that follow the ones that are there.
func (c *copying) messages(ctx context.Context, in service.Inbox, there int) error {
	var list []service.Message
	size := 0
	for place := there + 1; place <= in.Messages; place++ {
		m, err := c.from.Message(ctx, in, uint64(place))
		if err != nil {
			return err
		}
		list = append(list, m)
		if size += len(m.Raw); len(list) < copyRows && size < copyBytes && place < in.Messages {
			continue
		}
		if err := c.to.Messages(ctx, in, list); err != nil {
			return err
		}
		c.done.Messages += len(list)
		c.tell(c.done)
		list, size = list[:0], 0
	}
	return nil
}
