// Package pebble is the embedded store: a directory of one process, on the key-value store Pebble.
//
// One goroutine, the committer, makes all changes. Whatever arrives while it is at work or waits for
// the disk goes into its next group, which costs one write and one sync; so 64 writers share what one
// would pay. Reads go to the database and wait for nobody.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// ErrInUse is the error of [Open] when a process has the store already.
var ErrInUse = errors.New("another process has it")

// Options of a store. The zero value works.
type Options struct {
	// Log receives what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Reserve is how many bytes mail leaves free on the disk. Default: 256 MiB, or a quarter of a disk that is small.
	Reserve uint64

	fs vfs.FS // where the store lies; default: the disk
}

// Store is a service.Store in a directory.
type Store struct {
	db       *pebbledb.DB
	log      *slog.Logger
	versions *versions
	space    *space
	keys     *cache[string, service.StoredKey] // by ID
	hashes   *cache[[32]byte, string]          // IDs of keys, also by hashes that they had once
	inboxes  *cache[inboxOf, service.Inbox]
	// The inboxes that addresses have, without the count of their messages.
	addresses *cache[string, service.Inbox]
	quotas    *cache[quotaOf, int]
	waiting   atomic.Int64 // callers of commit
	opened    time.Time
	began     atomic.Int64 // when what is on its way to the disk was, in nanoseconds since opened; 0: nothing is

	cache    *pebbledb.Cache
	queue    *queue
	written  chan struct{} // has an element when something was written of late
	removed  atomic.Bool   // an inbox, since it was tidied
	stop     chan struct{}
	stopOnce sync.Once
	workers  sync.WaitGroup
	failure  atomic.Pointer[service.Error]
	damaged  sync.Map // names of files that the operator was told of

	interrupted atomic.Bool // a read, by a panic of the database
}

var _ service.Store = (*Store)(nil)

// Open opens the store in the directory and creates it when there is none. One process at a time can
// have it open.
func Open(dir string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
	dir = filepath.Clean(dir)
	if err := o.fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the store: %w", err)
	}
	disk := sizeOf(o.fs, dir)
	if o.Reserve == 0 {
		o.Reserve = min(256<<20, disk/4)
	}
	s := &Store{
		log:       o.Log,
		opened:    time.Now(),
		versions:  newVersions(),
		keys:      newCache[string, service.StoredKey](),
		hashes:    newCache[[32]byte, string](),
		inboxes:   newCache[inboxOf, service.Inbox](),
		addresses: newCache[string, service.Inbox](),
		quotas:    newCache[quotaOf, int](),
		queue:     newQueue(),
		written:   make(chan struct{}, 1),
		cache:     pebbledb.NewCache(2*memTable + 32<<20), // tables in memory are taken out of it
		stop:      make(chan struct{}),
	}
	s.space = newSpace(o.fs, dir, o.Reserve, s.stop, s.tellSpace)
	if err := s.space.roomToOpen(); err != nil {
		s.cache.Unref()
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	db, err := pebbledb.Open(dir, s.databaseOptions(disk))
	if err != nil {
		s.cache.Unref()
		return nil, fmt.Errorf("open the store in %s: %w", dir, hint(err))
	}
	s.db = db
	if err := s.checkFormat(); err != nil {
		defer s.cache.Unref()
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", dir, err), db.Close())
	}
	s.removed.Store(true) // perhaps, before it was closed
	s.workers.Go(s.runCommits)
	s.workers.Go(s.runTidy)
	return s, nil
}

// OpenMemory opens a new store that lies in memory and is gone when it is closed: for tests, which may
// run it with a false clock (testing/synctest).
func OpenMemory(o Options) (*Store, error) {
	o.fs = vfs.NewMem()
	return Open("store", o)
}

// Close ends the store; calls that have not returned fail or are completed.
func (s *Store) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	s.workers.Wait()
	err := s.closeDatabase()
	s.cache.Unref()
	return err
}

const (
	memTable = 16 << 20 // at most
	format   = "1"
)

// sizeOf is the size in octets of the disk that a folder is on; 1 TiB where it cannot be told.
func sizeOf(disk vfs.FS, dir string) uint64 {
	usage, err := disk.GetDiskUsage(dir)
	if err != nil || usage.TotalBytes == 0 {
		return 1 << 40
	}
	return usage.TotalBytes
}

// databaseOptions are those for a disk of so many octets. On a small one, what is moved at a time is small, too: it has to
// find room in the reserve.
func (s *Store) databaseOptions(disk uint64) *pebbledb.Options {
	table := min(memTable, max(1<<20, disk/32))
	keep := 5 * time.Minute // a file of bodies, of which some are deleted: the others may soon be, too
	if table < memTable {
		keep = 10 * time.Second
	}
	o := &pebbledb.Options{
		FS:                          s.space,
		FormatMajorVersion:          pebbledb.FormatValueSeparation,
		Logger:                      logger{s},
		MemTableSize:                table,
		LBaseMaxBytes:               4 * int64(table),
		MemTableStopWritesThreshold: 3, // as many logs and one more are kept to be written again
		L0CompactionThreshold:       8,
		Cache:                       s.cache,
		FlushDelayDeleteRange:       10 * time.Second,
		EventListener:               &pebbledb.EventListener{DataCorruption: s.tellDamage},
	}
	o.Experimental.ValueSeparationPolicy = func() pebbledb.ValueSeparationPolicy {
		return pebbledb.ValueSeparationPolicy{
			Enabled:               true,
			MinimumSize:           1 << 10,
			MaxBlobReferenceDepth: 200,
			RewriteMinimumAge:     keep,
			TargetGarbageRatio:    0.3,
		}
	}
	o.ApplyCompressionSettings(func() pebbledb.DBCompressionSettings { return pebbledb.DBCompressionFastest })
	return o
}

// checkFormat refuses a store of another version of Mayfly rather than misread it.
func (s *Store) checkFormat() error {
	value, err := s.get([]byte{formatKey})
	if err == nil && string(value) != format {
		return fmt.Errorf("it has format %q, this version of mayfly reads format %s", value, format)
	}
	if service.ErrorCode(err) == service.NotFound {
		return s.db.Set([]byte{formatKey}, []byte(format), pebbledb.Sync)
	}
	return err
}

// Ready returns why mail cannot be stored, or nil.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.failed(); err != nil {
		return err
	}
	if err := s.space.check(); err != nil {
		return err
	}
	if began := s.began.Load(); began != 0 && time.Since(s.opened)-time.Duration(began) >= diskPatience {
		return errStuck
	}
	return nil
}

// diskPatience is how long a group may take to come to the disk before the store is not ready.
const diskPatience = 10 * time.Second

var errStuck = &service.Error{Code: service.Unavailable, Message: "The disk does not answer"}

// fail ends all writing: after a write or a sync that failed nobody knows what is on disk.
func (s *Store) fail(err error) {
	e := &service.Error{Code: service.Unavailable, Message: "The store cannot be written", Err: err}
	if s.failure.CompareAndSwap(nil, e) {
		s.log.Error("the store accepts nothing any more until it is opened again", "error", err)
	}
}

func (s *Store) failed() error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	return nil
}

func (s *Store) tellSpace(full bool) {
	if full {
		s.log.Error("no space left on the store's disk: mail is refused until there is")
	} else {
		s.log.Info("there is space on the store's disk again: mail is accepted")
	}
}

var errClosed = &service.Error{Code: service.Unavailable, Message: "The service is stopping"}

var errNotFound = &service.Error{Code: service.NotFound, Message: "not found"}

// get returns a copy of a value, or NotFound.
func (s *Store) get(key []byte) (value []byte, err error) {
	defer s.unreadable(&err)
	read, closer, err := s.db.Get(key)
	if err != nil {
		return nil, s.readError(err)
	}
	value = append([]byte(nil), read...)
	return value, s.readError(closer.Close())
}

func (s *Store) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pebbledb.ErrNotFound):
		return errNotFound
	case errors.Is(err, errValue), errors.Is(err, errFile), pebbledb.IsCorruptionError(err):
		s.log.Error("part of the store is damaged and cannot be read", "error", err)
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: err}
	}
	return &service.Error{Code: service.Unavailable, Message: "The store cannot be read", Err: err}
}

// logger tells the operator what the database tells. It says much that only its authors need.
type logger struct{ s *Store }

func (l logger) Infof(format string, args ...any) {
	l.s.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Errorf(format string, args ...any) {
	l.s.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Fatalf(format string, args ...any) { l.s.fail(fmt.Errorf(format, args...)) }
