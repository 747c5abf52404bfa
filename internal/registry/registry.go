// Package registry keeps the inboxes this machine knows, for services that cannot list them.
//
// Each inbox is a file of its own, replaced as a whole, and named by a hash, since IDs come from a
// service. So any number of processes may write at once, and a damaged file costs one inbox. Beside it,
// with suffixes of their own, are files with which of its messages were seen, and which were handed over
// to those who wait; only handing over takes a lock.
package registry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/files"
)

const (
	// Kept is how long an inbox stays known after it has expired.
	Kept = 24 * time.Hour

	// keptBeside is how long a file beside an inbox is kept after it last changed. No inbox lives longer.
	keptBeside = 31 * 24 * time.Hour

	maxFile      = 64 << 10 // bytes
	suffix       = ".json"
	seenSuffix   = ".seen"
	handedSuffix = ".handed"
	lockSuffix   = ".lock"
)

// beside are the suffixes of the files beside an inbox.
var beside = []string{seenSuffix, handedSuffix, lockSuffix}

// Inbox is a known inbox.
type Inbox struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Label     string    `json:"label,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"` // zero when the service did not say
}

// Of returns what the registry keeps of an inbox.
func Of(i api.Inbox) Inbox {
	return Inbox{ID: i.ID, Email: i.Email, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

// API returns the inbox as the API has it.
func (i Inbox) API() api.Inbox {
	return api.Inbox{ID: i.ID, Email: i.Email, CreatedAt: i.CreatedAt, ExpiresAt: i.ExpiresAt}
}

// Registry is the inboxes known for a profile and a service. It is safe for concurrent use by
// goroutines and processes.
type Registry struct{ dir string }

// Open returns the registry below dir of a profile and the service at baseURL. It does not touch the
// disk: Put makes the folders, with mode 0700.
func Open(dir, profile, baseURL string) *Registry {
	return &Registry{filepath.Join(dir, "inboxes", hash(profile+"\x00"+strings.ToLower(strings.TrimRight(baseURL, "/"))))}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func (r *Registry) path(inboxID, suffix string) string {
	return filepath.Join(r.dir, hash(inboxID)+suffix)
}

// Inboxes returns the inboxes of a service that have not expired, newest first: those that the service
// lists, or else those known here, which may be gone. A nil registry knows none.
func (r *Registry) Inboxes(ctx context.Context, c *api.Client) (all []api.Inbox, listed bool, err error) {
	list, err := c.Inboxes(ctx)
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

// List returns the inboxes, newest first, including those that expired less than [Kept] ago. Damaged
// files are skipped.
func (r *Registry) List() ([]Inbox, error) {
	all, err := readAll[Inbox](r, suffix)
	if err != nil {
		return nil, fmt.Errorf("list the known inboxes: %w", err)
	}
	all = slices.DeleteFunc(all, Inbox.over)
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

// over reports whether the inbox expired so long ago that it is forgotten.
func (i Inbox) over() bool { return !i.ExpiresAt.IsZero() && time.Since(i.ExpiresAt) > Kept }

var errDamaged = errors.New("damaged")

// readFile returns at most maxFile bytes of a file.
func readFile(path string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// record is what a file holds, as JSON that names its inbox.
type record interface{ of() (inboxID string) }

func (i Inbox) of() string { return i.ID }

// read returns what a file holds. A file of another inbox than its name says is damaged.
func read[R record](path string) (R, error) {
	var found, none R
	content, err := readFile(path)
	if err != nil {
		return none, err
	}
	if json.Unmarshal(content, &found) != nil || hash(found.of())+filepath.Ext(path) != filepath.Base(path) {
		return none, errDamaged
	}
	return found, nil
}

// write replaces a file, and reports whether it had to: one that holds the same is left alone.
func (r *Registry) write(path string, v record) (wrote bool, err error) {
	content, err := json.Marshal(v)
	if err != nil {
		return false, err
	}
	if len(content) >= maxFile {
		return false, errors.New("its fields are too long")
	}
	if before, err := readFile(path); err == nil && bytes.Equal(before, content) {
		return false, nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return false, err
	}
	return true, files.Write(path, content)
}

// Put adds inboxes, or replaces those with the same ID. An inbox without a label keeps the one it has.
// Inboxes that expired more than [Kept] ago are forgotten.
func (r *Registry) Put(inboxes ...Inbox) error {
	var failed error
	added := false
	for _, i := range inboxes {
		wrote, err := r.put(i)
		added = added || wrote
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("keep the inbox: %w", err))
		}
	}
	if added {
		failed = errors.Join(failed, r.prune())
	}
	return failed
}

func (r *Registry) put(i Inbox) (wrote bool, err error) {
	if i.ID == "" {
		return false, errors.New("it has no ID")
	}
	path := r.path(i.ID, suffix)
	if known, err := read[Inbox](path); err == nil && i.Label == "" {
		i.Label = known.Label
	}
	return r.write(path, i)
}

// Remove forgets inboxes; those that are not known are no error.
func (r *Registry) Remove(inboxIDs ...string) error {
	var failed error
	for _, id := range inboxIDs {
		for _, end := range append([]string{suffix}, beside...) {
			if err := os.Remove(r.path(id, end)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, fmt.Errorf("forget the inbox: %w", err))
			}
		}
	}
	return failed
}

// prune removes what expired long ago, and what a process left that ended while it wrote.
func (r *Registry) prune() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("forget expired inboxes: %w", err)
	}
	var failed error
	for _, entry := range entries {
		path := filepath.Join(r.dir, entry.Name())
		kept := keptBeside
		if !slices.Contains(beside, filepath.Ext(path)) {
			switch i, err := read[Inbox](path); {
			case err == nil && i.over():
				failed = errors.Join(failed, r.Remove(i.ID))
				continue
			case !errors.Is(err, errDamaged):
				continue
			}
			kept = Kept
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > kept {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = errors.Join(failed, fmt.Errorf("forget expired inboxes: %w", err))
			}
		}
	}
	return failed
}
