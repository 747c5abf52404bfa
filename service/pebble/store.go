// Package pebble is the embedded store: a directory that belongs to one process, on the key-value
// store Pebble.
//
// All changes are made by one goroutine, the committer, in group commits: what arrives while a
// group is prepared or synced to disk forms the next one, which costs one write and one sync
// however many callers share it. Reads go straight to the database and never wait for writes.
//
// A fault that does not pass ends the store, see [Store.Wait]. Nothing is repaired: mail is stored for an
// hour.
package pebble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
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

// advice says what to do about a store that does not read well.
const advice = "restore a backup, or name a new directory"

// Options of a store. The zero value works.
type Options struct {
	// Log gets what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Reserve is how many bytes mail leaves free on the disk. Default: 256 MiB, or a quarter of a
	// smaller disk.
	Reserve uint64

	// Memory is how many bytes of memory recent writes and reads may take. Default: 64 MiB.
	Memory int64

	fs vfs.FS // file system of the store; default: the operating system's
}

// Store is a service.Store in a directory.
type Store struct {
	dir       string
	db        *pebbledb.DB
	lock      *lock
	log       *slog.Logger
	disk      *disk
	views     views
	keys      *cache[string, service.StoredKey] // by ID
	hashes    *cache[[32]byte, string]          // IDs of keys, also by hashes of replaced secrets
	inboxes   *cache[inboxOf, service.Inbox]
	addresses *cache[string, inboxOf]
	emails    *cache[string, service.Emails] // by ID of key
	counts    *cache[string, int]            // by key of the database

	queue     chan *op
	over      chan struct{} // closed when the store has failed or the committer has ended
	end       func()        // closes it
	waiting   atomic.Int64  // callers of commit
	opened    time.Time
	syncStart atomic.Int64 // of the current group, in nanoseconds since opened; 0: none

	failure atomic.Pointer[service.Error]
	failing chan struct{} // closed once there is a failure

	cache        *pebbledb.Cache
	written      chan struct{} // has an element if something was written recently
	groups       atomic.Int64  // that were written
	writing      chan struct{} // has an element while a group or the end of a log is written
	removed      atomic.Bool   // an inbox or a message was removed since the last tidying
	readPanic    atomic.Bool   // the database panicked in a read
	damageSeldom rate.Sometimes

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
		o.fs = ownerOnlyFS{vfs.Default}
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	dir = filepath.Clean(dir)
	if err := o.fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory of the store: %w", err)
	}
	l, err := lockStore(o.fs, dir)
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", dir, err)
	}
	s := newStore(dir, l, o)
	if err := s.open(o); err != nil {
		s.cache.Unref()
		return nil, errors.Join(fmt.Errorf("open the store in %s: %w", dir, hint(err)), l.release())
	}
	s.workers.Go(s.runCommits)
	s.workers.Go(s.runTidy)
	return s, nil
}

func newStore(dir string, l *lock, o Options) *Store {
	s := &Store{
		dir:          dir,
		lock:         l,
		log:          o.Log,
		opened:       time.Now(),
		keys:         newCache[string, service.StoredKey](cacheSize),
		hashes:       newCache[[32]byte, string](cacheSize),
		inboxes:      newCache[inboxOf, service.Inbox](inboxCacheSize),
		addresses:    newCache[string, inboxOf](inboxCacheSize),
		emails:       newCache[string, service.Emails](cacheSize),
		counts:       newCache[string, int](cacheSize),
		queue:        make(chan *op, queueSize),
		over:         make(chan struct{}),
		failing:      make(chan struct{}),
		written:      make(chan struct{}, 1),
		cache:        pebbledb.NewCache(o.Memory), // two memtables are charged to it
		writing:      make(chan struct{}, 1),
		stop:         make(chan struct{}),
		damageSeldom: rate.Sometimes{Interval: time.Minute},
	}
	s.end = sync.OnceFunc(func() { close(s.over) })
	s.removed.Store(true) // perhaps before it was closed
	return s
}

// open opens the database, after it has made sure that it reads well.
func (s *Store) open(o Options) error {
	files, err := o.fs.List(s.dir)
	if err == nil {
		err = checkDir(o.fs, s.dir, files)
	}
	if _, ok := o.fs.(ownerOnlyFS); ok && err == nil {
		err = makePrivate(s.dir, o.Log)
	}
	if err != nil {
		return err
	}
	size := sizeOf(o.fs, s.dir)
	if o.Reserve == 0 {
		o.Reserve = min(256<<20, size/4)
	}
	s.disk = &disk{FS: o.fs, dir: s.dir, reserve: o.Reserve, stop: s.stop, onChange: s.logSpace, onGone: s.fail, full: make(chan struct{})}
	if err := s.disk.checkOpen(files); err != nil {
		return err
	}
	options := s.databaseOptions(size, uint64(o.Memory)/4)
	options.FS, options.Lock = s.disk, s.lock.file
	if !s.await(func() { s.db, err = pebbledb.Open(s.dir, options) }) {
		return s.failed()
	}
	if err != nil {
		return err
	}
	if err := s.checkFormat(); err != nil {
		close(s.stop)
		return errors.Join(err, s.closeDatabase())
	}
	return nil
}

// OpenMemory opens a new store in memory, which is gone when it is closed. It works with fake time
// (testing/synctest).
func OpenMemory(o Options) (*Store, error) {
	o.fs = vfs.NewMem()
	return Open("store", o)
}

// Close closes the store once the calls that read have returned. Other calls that have not returned
// complete or fail.
func (s *Store) Close() (err error) {
	s.stopOnce.Do(func() { close(s.stop) })
	closed := s.await(func() {
		s.workers.Wait()
		_, _ = s.endLog() // a table whose damage shows replaces it; if it cannot be made, the log stays
		err = errors.Join(s.closeDatabase(), s.lock.release())
		s.cache.Unref()
	})
	if !closed {
		return s.failed()
	}
	return err
}

// closeDatabase closes the database. After a read has panicked it panics, too, once everything is
// closed, since that read has not released its resources.
func (s *Store) closeDatabase() (err error) {
	defer func() {
		if s.readPanic.Load() {
			_, err = recover(), nil
		}
	}()
	return errors.Join(s.views.close(), s.db.Close())
}

// failedTimeout is how long the database is waited for once the store has failed.
const failedTimeout = 5 * time.Second

// await does work of the database and reports whether it ended. When something fails in the background,
// the database repeats it at once and forever, and waits for it.
func (s *Store) await(work func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work()
	}()
	select {
	case <-ended:
		return true
	case <-s.failing:
	}
	select {
	case <-ended:
		return true
	case <-time.After(failedTimeout):
		return false
	}
}

// Backup writes a copy of the store, as it is now, to a directory that does not exist yet. The
// store can be used meanwhile. Immutable files are linked if possible, so that a copy on the same
// disk takes next to no time. The copy is a store itself: it can be opened, or replace a lost one.
func (s *Store) Backup(ctx context.Context, dir string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	v := s.views.take() // keeps the store open
	if v == nil {
		return service.ErrClosed
	}
	defer func() { err = errors.Join(err, s.views.release(v)) }()
	// The log, which is part of the copy, has everything that was acknowledged.
	if err := s.db.Checkpoint(dir, pebbledb.WithFlushedWAL()); err != nil {
		return fmt.Errorf("copy the store to %s: %w", dir, err)
	}
	return os.WriteFile(filepath.Join(s.dir, backedUp), []byte(dir+"\n"), privateMode)
}

// backedUp is a file in the store whose time is that of its last backup.
const backedUp = "last-backup"

const format = "4"

// sizeOf returns the size in bytes of the disk that a directory is on, or 1 TiB if it is unknown.
func sizeOf(disk vfs.FS, dir string) uint64 {
	usage, err := disk.GetDiskUsage(dir)
	if err != nil || usage.TotalBytes == 0 {
		return 1 << 40
	}
	return usage.TotalBytes
}

// databaseOptions returns the options for a disk of that many bytes and memtables of that many.
//
// Compactions are late: where mail arrives for many inboxes in any order, each rewrites most of the
// summaries, and much mail is deleted before. What has to look into each of the flushed tables
// meanwhile is helped by their filters, but not listing messages. On a small disk memtables and tables
// are small, too, and compactions early, since they must fit into the reserve.
func (s *Store) databaseOptions(disk, memTable uint64) *pebbledb.Options {
	table := min(memTable, max(1<<20, disk/32))
	// When some bodies of a file are deleted, the others often are soon after, so that rewriting
	// the file can wait.
	keep, factor := 5*time.Minute, 4
	if table < memTable {
		keep, factor = 10*time.Second, 1
	}
	o := &pebbledb.Options{
		FormatMajorVersion:          pebbledb.FormatValueSeparation,
		Logger:                      logger{s},
		MemTableSize:                table,
		LBaseMaxBytes:               int64(4*factor) * int64(table),
		MemTableStopWritesThreshold: 3,          // one more than that many logs are kept for reuse
		L0CompactionThreshold:       8 * factor, // twice the number of flushes
		L0StopWritesThreshold:       16 * factor,
		Cache:                       s.cache,
		FlushDelayDeleteRange:       10 * time.Second,
		EventListener: &pebbledb.EventListener{
			BackgroundError: s.fail,
			DataCorruption:  func(pebbledb.DataCorruptionInfo) {}, // readError says it, or fail
		},
	}
	// The default one looks ten times a second whether more compactions may run than the one that may.
	o.Experimental.CompactionScheduler = pebbledb.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
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
	switch {
	case service.ErrorCode(err) == service.NotFound:
		return s.db.Set([]byte{formatKey}, []byte(format), pebbledb.Sync)
	case err == nil && string(value) != format:
		return fmt.Errorf("it has format %q, but this version of mayfly reads format %s", value, format)
	}
	return err
}

// hint adds what to do to an error of the database, unless it is one of the system that says enough.
func hint(err error) error {
	path := &fs.PathError{}
	if vfs.IsNoSpaceError(err) || errors.Is(err, fs.ErrPermission) || errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: %s", text(err), advice)
}

// Ready implements service.Store. It writes a record, and syncs it.
func (s *Store) Ready(ctx context.Context) error {
	if err := cmp.Or(s.disk.check(), s.stuck()); err != nil {
		return err
	}
	err := s.wait(ctx, &op{test: true, prepare: func(g *group) error {
		g.set([]byte{readyKey}, nil)
		return nil
	}})
	switch {
	case err != nil && ctx.Err() != nil:
		return errStuck
	case err != nil:
		return err
	}
	if err := s.disk.probe(); err != nil {
		return &service.Error{Code: service.Unavailable, Message: "The store cannot create files: " + cause(err), Err: err}
	}
	return nil
}

// syncTimeout is how long syncing a group to disk may take before mail is refused at once.
const syncTimeout = 10 * time.Second

var errStuck = &service.Error{Code: service.Unavailable, Message: "The disk does not respond"}

// stuck returns an error while the committer waits for the disk for too long.
func (s *Store) stuck() error {
	start := s.syncStart.Load()
	if start == 0 || time.Since(s.opened)-time.Duration(start) < syncTimeout {
		return nil
	}
	return errStuck
}

// cause returns the innermost error, which names no files.
func cause(err error) string {
	for next := err; next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// fail ends all writing: after a write or a sync has failed, it is unknown what is on disk, and what
// fails in the background the database repeats at once and forever.
func (s *Store) fail(err error) {
	e := &service.Error{Code: service.Unavailable, Message: "The store has failed", Err: err}
	if s.failure.CompareAndSwap(nil, e) {
		close(s.failing)
		s.end()
	}
}

func (s *Store) failed() error {
	if e := s.failure.Load(); e != nil {
		return e
	}
	return nil
}

// Wait returns when a fault that does not pass has ended the store, with an error that says what to do,
// or nil when ctx ends. The process should end then: a store that has failed may not close.
func (s *Store) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.failing:
		return fmt.Errorf("the store in %s has failed: %s: start again, and if that fails, too, %s", s.dir, text(s.failure.Load().Err), advice)
	}
}

func (s *Store) logSpace(full bool) {
	if full {
		s.log.Error("no space left on the store's disk: mail is refused until there is")
	} else {
		s.log.Info("there is space on the store's disk again: mail is accepted")
	}
}

// logger passes on the log of the database. Most of it only matters to the database's developers.
type logger struct{ s *Store }

func (l logger) Infof(format string, args ...any) {
	l.s.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Errorf(format string, args ...any) {
	if l.s.failed() == nil { // else it says the same forever
		l.s.log.Error("pebble: " + fmt.Sprintf(format, args...))
	}
}

func (l logger) Fatalf(format string, args ...any) { l.s.fail(fmt.Errorf(format, args...)) }
