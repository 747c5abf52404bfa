// Package pebble is the embedded store: a directory that belongs to one process, on the key-value
// store Pebble.
//
// All changes are made by one goroutine, the committer, in group commits: what arrives while a
// group is prepared or synced to disk forms the next one, which costs one write and one sync
// however many callers share it. Reads go straight to the database and never wait for writes.
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
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/time/rate"

	"mayfly/service"
)

// ErrInUse is returned by [Open] when a process has the store open.
var ErrInUse = errors.New("another process has it open")

// Options of a store. The zero value works.
type Options struct {
	// Log gets what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Reserve is how many bytes mail leaves free on the disk. Default: 256 MiB, or a quarter of a
	// smaller disk.
	Reserve uint64

	// Memory is how many bytes of memory recent writes and reads may take. Default: 64 MiB.
	Memory int64

	fs    vfs.FS // file system of the store; default: the operating system's
	spare int64  // bytes held for when the disk is full; default: on a disk, what is in a log and more
}

// Store is a service.Store in a directory.
type Store struct {
	db        *pebbledb.DB
	lock      *lock
	inventory *inventory
	log       *slog.Logger
	versions  *versions
	space     *space
	views     views
	keys      *cache[string, service.StoredKey] // by ID
	hashes    *cache[[32]byte, string]          // IDs of keys, also by hashes of replaced secrets
	inboxes   *cache[inboxOf, service.Inbox]
	addresses *cache[string, inboxOf]
	quotas    *cache[quotaOf, int]
	quotaDay  service.Day // the counts of earlier days are removed

	queue     *queue
	waiting   atomic.Int64 // callers of commit
	opened    time.Time
	syncStart atomic.Int64 // of the current group, in nanoseconds since opened; 0: none
	failure   atomic.Pointer[service.Error]

	cache     *pebbledb.Cache
	written   chan struct{} // has an element if something was written recently
	writing   chan struct{} // has an element while a group or the end of a log is written
	removed   atomic.Bool   // an inbox was removed since the last tidying
	damaged   sync.Map      // names of damaged files that were logged
	readPanic atomic.Bool   // the database panicked in a read

	damageSeldom rate.Sometimes
	background   *background
	refused      atomic.Pointer[refusal] // the last mail, if it was refused because of the store

	spare    int64 // bytes, while there is something in the logs
	stop     chan struct{}
	stopOnce sync.Once
	workers  sync.WaitGroup
}

var _ service.Store = (*Store)(nil)

// Open opens the store in the directory, which it creates if there is none. Only one process at a
// time can have it open; for others it fails with [ErrInUse].
func Open(dir string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.fs == nil {
		o.fs = private{vfs.Default}
	}
	dir = filepath.Clean(dir)
	if err := o.fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the store: %w", err)
	}
	s, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, o Options) (_ *Store, err error) {
	l, err := lockStore(o.fs, dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.release())
		}
	}()
	found, err := inspect(o.fs, dir)
	if err != nil {
		return nil, err
	}
	if len(found.damage) > 0 {
		return nil, &DamageError{dir, found.damage}
	}
	if found.unknown != nil {
		o.Log.Warn("the "+inventoryName+" of the store cannot be used: whether mail is missing is not known, and a new one is made",
			"folder", dir, "error", found.unknown)
	}
	if _, ok := o.fs.(private); ok {
		if err := makePrivate(dir, o.Log); err != nil {
			return nil, err
		}
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	s := newStore(o)
	s.lock = l
	if err := s.openDatabase(dir, o, found); err != nil {
		s.cache.Unref()
		return nil, err
	}
	s.removed.Store(true) // perhaps before it was closed
	s.workers.Go(s.runCommits)
	s.workers.Go(s.runTidy)
	return s, nil
}

// openDatabase opens the database, which changes the folder.
func (s *Store) openDatabase(dir string, o Options, found *folder) (err error) {
	size := sizeOf(o.fs, dir)
	if o.Reserve == 0 {
		o.Reserve = min(256<<20, size/4)
	}
	s.inventory, err = openInventory(o.fs, dir, found.inventory)
	if err != nil {
		return err
	}
	s.space = newSpace(o.fs, dir, o.Reserve, s.stop, s.logSpace)
	options := s.databaseOptions(size, uint64(o.Memory)/4)
	if _, ok := o.fs.(private); ok && o.spare == 0 {
		o.spare = int64(options.MemTableSize) + spareForLogs
	}
	s.spare = o.spare
	err = s.space.checkOpen(found)
	if err == nil {
		options.FS, options.Lock = disk{s.space, s.inventory, s.background}, s.lock.file
		s.db, err = pebbledb.Open(dir, options)
	}
	if err != nil {
		return errors.Join(hint(dir, err), s.inventory.close())
	}
	if err := s.checkFormat(); err != nil {
		close(s.stop)
		return errors.Join(hint(dir, err), s.closeDatabase(), s.inventory.close())
	}
	return nil
}

func newStore(o Options) *Store {
	s := &Store{
		log:       o.Log,
		opened:    time.Now(),
		versions:  newVersions(),
		keys:      newCache[string, service.StoredKey](cacheSize),
		hashes:    newCache[[32]byte, string](cacheSize),
		inboxes:   newCache[inboxOf, service.Inbox](inboxCacheSize),
		addresses: newCache[string, inboxOf](inboxCacheSize),
		quotas:    newCache[quotaOf, int](cacheSize),
		queue:     newQueue(),
		written:   make(chan struct{}, 1),
		cache:     pebbledb.NewCache(o.Memory), // two memtables are charged to it
		writing:   make(chan struct{}, 1),
		stop:      make(chan struct{}),

		damageSeldom: rate.Sometimes{Interval: time.Minute},
	}
	s.background = newBackground(s.stop, func(err error) {
		s.log.Error("the store cannot write or compact its files, and tries again in at most a minute", "error", text(err))
	})
	return s
}

// OpenMemory opens a new store in memory, which is gone when it is closed. It works with fake time
// (testing/synctest).
func OpenMemory(o Options) (*Store, error) {
	o.fs = vfs.NewMem()
	return Open("store", o)
}

// Close closes the store. Calls that have not returned complete or fail.
func (s *Store) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	s.workers.Wait()
	err := errors.Join(s.closeDatabase(), s.inventory.close(), s.lock.release())
	s.cache.Unref()
	return err
}

const format = "1"

// sizeOf returns the size in bytes of the disk that a folder is on, or 1 TiB if it is unknown.
func sizeOf(disk vfs.FS, dir string) uint64 {
	usage, err := disk.GetDiskUsage(dir)
	if err != nil || usage.TotalBytes == 0 {
		return 1 << 40
	}
	return usage.TotalBytes
}

// databaseOptions returns the options for a disk of that many bytes and memtables of that many.
//
// Compactions are late: where mail comes for many inboxes in any order, each rewrites most of the
// summaries, and much mail is deleted before. What has to look into each of the flushed tables
// meanwhile is helped by their filters, but not listing messages. On a small disk memtables and tables
// are small, too, and compactions early, since they must fit into the reserve.
func (s *Store) databaseOptions(disk, memTable uint64) *pebbledb.Options {
	table := min(memTable, max(1<<20, disk/32))
	// When some bodies of a file are deleted, the others often are soon after, so that rewriting
	// the file can wait.
	keep, late := 5*time.Minute, 4
	if table < memTable {
		keep, late = 10*time.Second, 1
	}
	o := &pebbledb.Options{
		FormatMajorVersion:          pebbledb.FormatValueSeparation,
		Logger:                      logger{s},
		MemTableSize:                table,
		LBaseMaxBytes:               int64(4*late) * int64(table),
		MemTableStopWritesThreshold: 3,        // one more than that many logs are kept for reuse
		L0CompactionThreshold:       8 * late, // twice the number of flushes
		L0StopWritesThreshold:       16 * late,
		Cache:                       s.cache,
		FlushDelayDeleteRange:       10 * time.Second,
		EventListener:               &pebbledb.EventListener{DataCorruption: s.logDamage},
	}
	s.background.listen(o.EventListener)
	o.Experimental.CompactionScheduler = newScheduler(s.background)
	o.Experimental.ValueSeparationPolicy = func() pebbledb.ValueSeparationPolicy {
		return pebbledb.ValueSeparationPolicy{
			Enabled:               true,
			MinimumSize:           1 << 10,
			MaxBlobReferenceDepth: 200,
			RewriteMinimumAge:     keep,
			TargetGarbageRatio:    0.3,
		}
	}
	for i := range o.Levels {
		o.Levels[i].BlockSize = 16 << 10
		if i < len(o.Levels)-1 { // what is looked up is there, and then mostly in the last level
			o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		}
	}
	o.ApplyCompressionSettings(func() pebbledb.DBCompressionSettings { return pebbledb.DBCompressionFastest })
	return o
}

// checkFormat rejects a store of another format version.
func (s *Store) checkFormat() error {
	if err := s.views.advance(s.db); err != nil {
		return err
	}
	value, err := s.get([]byte{formatKey})
	if err == nil && string(value) != format {
		return fmt.Errorf("it has format %q, but this version of mayfly reads format %s", value, format)
	}
	switch service.ErrorCode(err) {
	case service.NotFound:
		return s.db.Set([]byte{formatKey}, []byte(format), pebbledb.Sync)
	case service.Damaged:
		return nil // it has been logged, and the rest is served
	}
	return err
}

// Ready implements service.Store.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.failed(); err != nil {
		return err
	}
	if err := s.space.check(); err != nil {
		return err
	}
	if err := s.stuck(); err != nil {
		return err
	}
	if err := s.space.writable(); err != nil {
		return &service.Error{Code: service.Unavailable, Message: "The store cannot make files: " + cause(err), Err: err}
	}
	if r := s.refused.Load(); r != nil && time.Since(r.at) < refusalAge {
		return &service.Error{Code: service.Unavailable, Message: "Mail could not be stored: " + cause(r.err), Err: r.err}
	}
	return nil
}

// syncTimeout is how long syncing a group to disk may take before the store is not ready.
const syncTimeout = 10 * time.Second

var errStuck = &service.Error{Code: service.Unavailable, Message: "The disk does not respond"}

// fail ends all writing: after a write or sync has failed, it is unknown what is on disk.
func (s *Store) fail(err error) {
	e := &service.Error{Code: service.Unavailable, Message: "The store cannot be written", Err: err}
	if s.failure.CompareAndSwap(nil, e) {
		s.log.Error("the store accepts no more changes until it is opened again", "error", err.Error())
	}
}

func (s *Store) failed() error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	return nil
}

func (s *Store) logSpace(full bool) {
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
	defer s.recoverRead(&err)
	v, err := s.views.read()
	if err != nil {
		return nil, err
	}
	defer func() {
		if rerr := v.release(); err == nil {
			err = s.readError(rerr)
		}
	}()
	read, closer, err := v.Get(key)
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
		s.damageSeldom.Do(func() { s.log.Error("part of the store is damaged and cannot be read", "error", text(err)) })
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: err}
	}
	return &service.Error{Code: service.Unavailable, Message: "The store cannot be read", Err: err}
}

// logger passes on the log of the database. Most of it only matters to the database's developers.
type logger struct{ s *Store }

func (l logger) Infof(format string, args ...any) {
	l.s.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Errorf(format string, args ...any) {
	l.s.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Fatalf(format string, args ...any) { l.s.fail(fmt.Errorf(format, args...)) }
