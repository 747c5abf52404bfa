// Package registry stores the inboxes recorded on this machine, for services that cannot list them.
//
// Each inbox is a file of its own, replaced as a whole and named by a hash, since IDs come from a
// service. Any number of processes may write at once, and a damaged file costs one inbox. Beside it, with
// suffixes of their own, are files with which of its messages were read, and which were consumed to
// waits, both changed under a lock. A file's time of modification is when its content is over, so that
// none has to be read to forget it.
//
// An error of a write says by itself what it means. Every door reports it and goes on: what was asked of the service
// is done all the same.
package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"mayfly/api"
	"mayfly/internal/address"
	"mayfly/internal/files"
)

const (
	// Kept is how long an inbox stays known after it has expired.
	Kept = 24 * time.Hour

	// longestLife is longer than an inbox lives.
	longestLife = 31 * 24 * time.Hour

	maxFile         = 64 << 10 // bytes
	suffix          = ".json"
	seenSuffix      = ".seen"
	deliveredSuffix = ".delivered"
	lockSuffix      = ".lock"
)

// Inbox is a known inbox.
type Inbox struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Label     string    `json:"label,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"` // zero when the service did not say
}

// FromAPI returns what the registry keeps of an inbox.
func FromAPI(i api.Inbox) Inbox {
	return Inbox{ID: i.ID, Email: i.Email, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

// API returns the inbox as the API has it.
func (i Inbox) API() api.Inbox {
	return api.Inbox{ID: i.ID, Email: i.Email, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

// Registry is the inboxes known for a profile and a service. It is safe for concurrent use by
// goroutines and processes.
type Registry struct {
	dir     string
	remote  *remote // what keeps some instead of files, or all without a directory; may be nil
	pruning rate.Sometimes
}

// Open returns the registry below dir of a profile and the service at baseURL. It does not touch the
// disk: Put creates the directories, with mode 0700.
func Open(dir, profile, baseURL string) *Registry {
	name := hash(profile + "\x00" + strings.ToLower(strings.TrimRight(baseURL, "/")))
	return &Registry{dir: filepath.Join(dir, "inboxes", name), pruning: rate.Sometimes{Interval: time.Hour}}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func (r *Registry) path(inboxID, suffix string) string {
	return filepath.Join(r.dir, hash(inboxID)+suffix)
}

// Inboxes returns the inboxes of a service that have not expired, newest first: those that the service
// lists, up to a page with one that is enough (nil: none is), or else those known here, which may be gone. A
// nil registry has none.
func (r *Registry) Inboxes(ctx context.Context, c *api.Client, enough func(api.Inbox) bool) (all []api.Inbox, listed bool, err error) {
	list, err := c.InboxesUntil(ctx, enough)
	all, listed = slices.Clone(list.Inboxes), err == nil
	if errors.Is(err, api.ErrUnsupported) && r != nil {
		var known []Inbox
		known, err = r.List()
		for _, i := range known {
			all = append(all, i.API())
		}
	}
	if err != nil {
		return nil, false, err
	}
	now := c.ServiceTime()
	all = slices.DeleteFunc(all, func(i api.Inbox) bool { return !i.ExpiresAt.IsZero() && i.ExpiresAt.Before(now) })
	slices.SortStableFunc(all, func(a, b api.Inbox) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, listed, nil
}

// InboxAt returns the inbox that mail to an address goes to: as the service decides it, or else the newest with this
// address that Inboxes returns. It fails with [api.ErrNotFound] if there is none.
func (r *Registry) InboxAt(ctx context.Context, c *api.Client, email string) (api.Inbox, error) {
	found, err := c.InboxAt(ctx, email, 0)
	if !errors.Is(err, api.ErrUnsupported) {
		return found, err
	}
	email = address.Normalise(email)
	has := func(i api.Inbox) bool { return address.Normalise(i.Email) == email }
	all, _, err := r.Inboxes(ctx, c, has)
	if n := slices.IndexFunc(all, has); n >= 0 {
		return all[n], nil
	}
	return api.Inbox{}, cmp.Or(err, api.ErrNotFound)
}

// Known returns the inbox with an ID, if it is recorded here. It may be gone.
func (r *Registry) Known(inboxID string) (api.Inbox, bool) {
	if r.dir == "" {
		return api.Inbox{}, false
	}
	i, err := read[Inbox](r.path(inboxID, suffix))
	return i.API(), err == nil
}

// List returns the inboxes, newest first, including those that expired less than [Kept] ago. Damaged
// files are skipped.
func (r *Registry) List() ([]Inbox, error) {
	if r.dir == "" {
		return r.remote.list()
	}
	all, err := readAll[Inbox](r, suffix)
	if err != nil {
		return nil, fmt.Errorf("list the known inboxes: %w", err)
	}
	all = slices.DeleteFunc(all, Inbox.forgettable)
	slices.SortFunc(all, func(a, b Inbox) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// readAll returns what the files with a suffix hold, without those that are damaged, also with an error.
func readAll[R record](r *Registry, suffix string) ([]R, error) {
	entries, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []R
	var failed error
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != suffix {
			continue
		}
		found, err := read[R](filepath.Join(r.dir, entry.Name()))
		switch {
		case err == nil:
			all = append(all, found)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged):
			failed = errors.Join(failed, err)
		}
	}
	return all, failed
}

// forgettable reports whether the inbox expired so long ago that it is forgotten.
func (i Inbox) forgettable() bool { return !i.ExpiresAt.IsZero() && time.Since(i.ExpiresAt) > Kept }

var errDamaged = errors.New("damaged")

// record is what a file holds, as JSON that names its inbox.
type record interface{ of() (inboxID string) }

func (i Inbox) of() string { return i.ID }

// read returns what a file holds. A file of another inbox than its name says is damaged.
func read[R record](path string) (R, error) {
	var found, none R
	content, _, err := files.Read(path, maxFile)
	if _, unfit := errors.AsType[files.Unfit](err); unfit {
		return none, errDamaged
	} else if err != nil {
		return none, err
	}
	if json.Unmarshal(content, &found) != nil || hash(found.of())+filepath.Ext(path) != filepath.Base(path) {
		return none, errDamaged
	}
	return found, nil
}

// write replaces a file, whose content is over at a time.
func (r *Registry) write(path string, v record, over time.Time) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(content) >= maxFile {
		return errors.New("its fields are too long")
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	if err := files.Write(path, content); err != nil {
		return err
	}
	err = os.Chtimes(path, over, over)
	r.pruning.Do(r.prune)
	return err
}

// Put adds an inbox, or replaces the one with the same ID. Without a label it keeps the one it has.
// Inboxes that expired more than [Kept] ago are forgotten, once an hour.
func (r *Registry) Put(i Inbox) error {
	if i.ID == "" {
		return errors.New("could not record the inbox on this machine: it has no ID")
	}
	if r.dir == "" {
		return r.remote.label(i)
	}
	path := r.path(i.ID, suffix)
	if known, err := read[Inbox](path); err == nil && i.Label == "" {
		i.Label = known.Label
	}
	over := i.ExpiresAt
	if over.IsZero() {
		over = time.Now().AddDate(100, 0, 0)
	}
	if err := r.write(path, i, over); err != nil {
		return fmt.Errorf("could not record the inbox on this machine: %w", err)
	}
	return nil
}

// Remove forgets an inbox; an unknown one is not an error.
func (r *Registry) Remove(inboxID string) error {
	if r.dir == "" {
		return nil // it is gone with the inbox
	}
	return r.remove(hash(inboxID))
}

// Gone forgets an inbox that a service does not have any more, named by its ID or address, and reports whether it
// was known: to delete one that is gone succeeds, and an unknown name is an error. A nil registry
// has none.
func (r *Registry) Gone(name string) (known bool, err error) {
	if r == nil {
		return false, nil
	}
	all, err := r.List()
	for _, i := range all {
		if i.ID == name || strings.EqualFold(i.Email, name) {
			known, err = true, errors.Join(err, r.Remove(i.ID))
		}
	}
	return known, err
}

// remove removes the files of an inbox but the lock, which another process may hold or wait for.
func (r *Registry) remove(name string) error {
	var failed error
	for _, end := range []string{suffix, seenSuffix, deliveredSuffix} {
		if err := os.Remove(filepath.Join(r.dir, name+end)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("an inbox that no longer exists is still recorded on this machine: %w", err))
		}
	}
	return failed
}

// prune removes what has been over for long, and what a process left that ended while it wrote. What
// cannot be removed is left to the next time.
func (r *Registry) prune() {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < Kept {
			continue
		}
		switch name, isInbox := strings.CutSuffix(entry.Name(), suffix); {
		case isInbox:
			_ = r.remove(name)
		case filepath.Ext(name) != lockSuffix || time.Since(info.ModTime()) > longestLife: // a lock is never written
			_ = os.Remove(filepath.Join(r.dir, name))
		}
	}
}
