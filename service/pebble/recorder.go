package pebble

import (
	"io"
	"path"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// recorder is a file system that keeps the inventory of a folder.
type recorder struct {
	vfs.FS
	dir       string
	inventory *inventory
}

const (
	logExt         = ".log"
	manifestPrefix = "MANIFEST-"
	markerPrefix   = "marker.manifest."
)

// inventoried returns the name of a file of which the inventory knows how much of it was synced.
func (r recorder) inventoried(file string) (name string, ok bool) {
	name = r.PathBase(file)
	return name, r.PathDir(file) == r.dir && (path.Ext(name) == logExt || strings.HasPrefix(name, manifestPrefix))
}

func (r recorder) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := r.FS.Create(name, c)
	if err == nil && r.PathDir(name) == r.dir && strings.HasPrefix(r.PathBase(name), markerPrefix) {
		_, manifest, _ := strings.Cut(name, "."+manifestPrefix)
		r.inventory.chosen(manifestPrefix + manifest)
	}
	return r.record(name, f, err)
}

func (r recorder) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	r.inventory.removed(r.PathBase(from))
	f, err := r.FS.ReuseForWrite(from, to, c)
	return r.record(to, f, err)
}

func (r recorder) Remove(name string) error {
	if name, ok := r.inventoried(name); ok {
		r.inventory.removed(name)
	}
	return r.FS.Remove(name)
}

func (r recorder) OpenDir(name string) (vfs.File, error) {
	f, err := r.FS.OpenDir(name)
	if err != nil || name != r.dir {
		return f, err
	}
	return recordedFolder{f, r.inventory}, nil
}

func (r recorder) Lock(name string) (io.Closer, error) { return r.FS.Lock(name) }

func (r recorder) Unwrap() vfs.FS { return r.FS }

func (r recorder) record(file string, f vfs.File, err error) (vfs.File, error) {
	name, ok := r.inventoried(file)
	if err != nil || !ok {
		return f, err
	}
	r.inventory.created(name)
	return &recordedFile{File: f, name: name, inventory: r.inventory}, nil
}

type recordedFolder struct {
	vfs.File
	inventory *inventory
}

func (f recordedFolder) Sync() error { return f.inventory.syncFolder(f.File.Sync) }

// recordedFile is a file that is written from its start to its end, by one goroutine.
type recordedFile struct {
	vfs.File
	name      string
	inventory *inventory
	written   int64
}

func (f *recordedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written += int64(n)
	return n, err
}

func (f *recordedFile) Sync() error { return f.record(f.File.Sync()) }

func (f *recordedFile) SyncData() error { return f.record(f.File.SyncData()) }

func (f *recordedFile) record(err error) error {
	if err == nil {
		f.inventory.synced(f.name, f.written)
	}
	return err
}
