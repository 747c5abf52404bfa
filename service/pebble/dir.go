package pebble

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gofrs/flock"
)

// The names of files of the database, as patterns.
const (
	logs   = "[0-9]*.log"
	tables = "[0-9]*.sst"
	bodies = "[0-9]*.blob"
	marker = "marker.manifest.*"
)

func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		is, _ := path.Match(pattern, name) // the patterns are right
		return is
	})
}

// isOfDatabase reports whether a file is of the database, by its name.
func isOfDatabase(name string) bool {
	return matches(name, logs, tables, bodies, "MANIFEST-*", "OPTIONS-*", "marker.*")
}

// IsStore reports whether a directory is a store, or empty and can become one, as far as that can be told.
func IsStore(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isOfDatabase(e.Name()) })
}

// checkDir returns an error if the directory has a store in which the database would not find its data:
// it would start empty, and remove what is there. There is a log as soon as there are options, the last
// file that the first opening creates.
func checkDir(disk vfs.FS, dir string, files []string) error {
	found, err := pebbledb.Peek(dir, disk)
	if err != nil {
		return err
	}
	has := func(patterns ...string) bool {
		return slices.ContainsFunc(files, func(name string) bool { return matches(name, patterns...) })
	}
	switch {
	case !found.Exists && (found.OptionsFilename != "" || has(tables, bodies, logs)):
		return errors.New(marker + " is missing")
	case found.OptionsFilename != "" && !has(logs):
		return errors.New("*.log is missing")
	case found.Exists:
		return checkManifest(disk, found.ManifestFilename)
	}
	return nil
}

// checkManifest returns an error if a manifest lacks a record that says what the store consists of: the database would take it
// for its end, and remove every file that it had not read of. A crash can cut off the last record only. Each is on disk before the
// next is written, and so are the first two of any but the first manifest before it is in use.
func checkManifest(disk vfs.FS, name string) error {
	f, err := disk.Open(name)
	if err != nil {
		return err
	}
	least := 2
	if disk.PathBase(name) == "MANIFEST-000001" {
		least = 1
	}
	records, at := record.NewReader(f, 0), int64(0)
	for n := 0; err == nil; n++ {
		at = records.Offset()
		var rec io.Reader
		if rec, err = records.Next(); err == nil {
			_, err = io.Copy(io.Discard, rec)
		}
		if err != nil && n >= least && (err == io.EOF || !goesOn(f, at)) {
			return f.Close()
		}
	}
	return errors.Join(fmt.Errorf("%s cannot be read: %w", disk.PathBase(name), err), f.Close())
}

// goesOn reports whether a manifest has more than the record at an offset, as far as its header tells.
func goesOn(f vfs.File, at int64) bool {
	const header, block, whole = 7, 32 << 10, 1
	if left := block - at%block; left < header {
		at += left
	}
	var h [header]byte
	info, err := f.Stat()
	if err == nil {
		_, err = f.ReadAt(h[:], at)
	}
	return err == nil && h[6] == whole && at+header+int64(binary.LittleEndian.Uint16(h[4:])) < info.Size()
}

// Restore copies a backup into an empty directory. The marker is the last file: what a crash leaves is refused as a store.
func Restore(ctx context.Context, backup, dir string) error {
	entries, err := os.ReadDir(backup) // sorted
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			return fmt.Errorf("it has %s, which no backup has: is it a store in use?", e.Name())
		}
	}
	disk := ownerOnlyFS{vfs.Default}
	for _, e := range entries {
		if err := cmp.Or(ctx.Err(), vfs.CopyAcrossFS(disk, filepath.Join(backup, e.Name()), disk, filepath.Join(dir, e.Name()))); err != nil {
			return err
		}
	}
	synced, err := disk.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(synced.Sync(), synced.Close())
}

// lock keeps other processes from a store: a lock on a file, which all systems have, and one on the
// directory, which the removal of that file does not undo.
type lock struct {
	file *pebbledb.Lock
	dir  *flock.Flock
}

// lockStore locks a store for this process, or fails with [ErrInUse].
func lockStore(disk vfs.FS, dir string) (*lock, error) {
	l := &lock{dir: flock.New(dir, flock.SetFlag(os.O_RDONLY))}
	// Windows cannot lock a directory, and removes no file that is locked. Some network file systems
	// cannot, either.
	if _, ok := disk.(ownerOnlyFS); ok && runtime.GOOS != "windows" {
		if locked, err := l.dir.TryLock(); err == nil && !locked {
			return nil, errors.Join(ErrInUse, l.dir.Close())
		}
	}
	var err error
	if l.file, err = pebbledb.LockDirectory(dir, disk); err == nil {
		return l, nil
	}
	// If the file can be created but not locked, another process has it.
	if path := (&fs.PathError{}); !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return nil, errors.Join(err, l.dir.Close())
}

func (l *lock) release() error { return errors.Join(l.file.Close(), l.dir.Close()) }

// ownerOnlyFS is the operating system's file system, in which only the owner can access new files,
// whatever the mode of their directory.
type ownerOnlyFS struct{ vfs.FS }

const privateMode = 0o600

func (p ownerOnlyFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	// A file that exists is not truncated, since it may have other names.
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := createPrivate(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c)
}

func (p ownerOnlyFS) Lock(name string) (io.Closer, error) {
	if err := createPrivate(name); err != nil {
		return nil, err
	}
	return p.FS.Lock(name)
}

func (p ownerOnlyFS) MkdirAll(dir string, mode fs.FileMode) error {
	return p.FS.MkdirAll(dir, mode&0o700)
}

func (p ownerOnlyFS) Unwrap() vfs.FS { return p.FS }

// createPrivate creates an empty file if there is none.
func createPrivate(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, privateMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// exposed reports whether other users can access a file or directory. On Windows its mode does not tell.
func exposed(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// makePrivate takes from other users what they can do with the files of the database, and logs it if they
// can list its directory: the mode of that is the operator's business, as the files of others in it are.
func makePrivate(dir string, log *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if !isOfDatabase(e.Name()) || errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || !exposed(info)) {
			continue
		}
		if err == nil {
			err = os.Chmod(filepath.Join(dir, e.Name()), privateMode)
		}
		if err != nil {
			return err
		}
	}
	info, err := os.Stat(dir)
	if err == nil && exposed(info) {
		log.Warn("other users can enter the directory of the store: its files are closed to them, but set its mode to 0700",
			"dir", dir, "mode", info.Mode().Perm().String())
	}
	return err
}
