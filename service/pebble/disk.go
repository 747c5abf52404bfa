package pebble

import (
	"errors"
	"path"
	"strings"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// disk is the file system of the database. It waits for space, lets flushes pause, keeps the inventory
// of the folder, and keeps a copy of each manifest, without which nobody knows which tables count.
type disk struct {
	*space
	inventory  *inventory
	background *background
}

const (
	logExt         = ".log"
	manifestPrefix = "MANIFEST-"
	copyPrefix     = "COPY-" // of a manifest's name
	markerPrefix   = "marker.manifest."
	formatPrefix   = "marker.format-version."
)

// copyOf returns the path of the copy of a manifest.
func copyOf(disk vfs.FS, manifest string) string {
	return disk.PathJoin(disk.PathDir(manifest), copyPrefix+disk.PathBase(manifest))
}

func (d disk) isManifest(name string) bool {
	return strings.HasPrefix(d.PathBase(name), manifestPrefix)
}

// Create waits for space, except in the folder of a backup. Before a manifest is made the current one
// it syncs the folder, which the database does only after that: a power cut could leave the marker
// without the manifest.
func (d disk) Create(name string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if ext := path.Ext(name); ext == ".sst" || ext == ".blob" {
		d.background.pause(&d.background.flush)
	}
	marked, isMarker := strings.CutPrefix(d.PathBase(name), markerPrefix)
	if isMarker {
		if err := syncFolder(d.FS, d.PathDir(name)); err != nil {
			return nil, err
		}
	}
	err = d.retry(name, func() error { f, err = d.FS.Create(name, c); return err })
	if err != nil {
		return nil, err
	}
	own := &file{File: f, disk: d, name: name}
	if d.isManifest(name) {
		if own.copy, err = d.Create(copyOf(d, name), c); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if isMarker && d.PathDir(name) == d.dir {
		_, manifest, _ := strings.Cut(marked, ".")
		d.inventory.chosen(manifest)
	}
	return own, nil
}

func syncFolder(disk vfs.FS, dir string) error {
	f, err := disk.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d disk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (f vfs.File, err error) {
	if d.shrinking.Load() {
		if err := d.Remove(from); err != nil {
			return nil, err
		}
		return d.Create(to, c)
	}
	d.inventory.removed(d.PathBase(from))
	err = d.retry(to, func() error { f, err = d.FS.ReuseForWrite(from, to, c); return err })
	return &file{File: f, disk: d, name: to}, err
}

func (d disk) Remove(name string) error {
	if d.PathDir(name) == d.dir {
		d.inventory.removed(d.PathBase(name))
	}
	if d.isManifest(name) {
		if err := d.FS.Remove(copyOf(d, name)); err != nil && !oserror.IsNotExist(err) {
			return err
		}
	}
	return d.FS.Remove(name)
}

func (d disk) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	if err != nil || name != d.dir {
		return f, err
	}
	return folderFile{f, d.inventory}, nil
}

type folderFile struct {
	vfs.File
	inventory *inventory
}

func (f folderFile) Sync() error { return f.inventory.syncFolder(f.File.Sync) }

// file is a file of the database, which is written from its start to its end by one goroutine.
type file struct {
	vfs.File
	copy    vfs.File // nil unless it is a manifest
	disk    disk
	name    string
	written int64
}

// Write waits for space. A sync that fails for want of space is not repeated, since it is unknown what
// was lost.
func (f *file) Write(p []byte) (n int, err error) {
	err = f.disk.retry(f.name, func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	f.written += int64(n)
	if err == nil && f.copy != nil {
		_, err = f.copy.Write(p)
	}
	return n, err
}

func (f *file) Sync() error { return f.synced(f.File.Sync()) }

func (f *file) SyncData() error { return f.synced(f.File.SyncData()) }

func (f *file) synced(err error) error {
	if err == nil && f.copy != nil {
		err = f.copy.SyncData()
	}
	if err == nil && f.disk.PathDir(f.name) == f.disk.dir && (f.copy != nil || path.Ext(f.name) == logExt) {
		f.disk.inventory.synced(f.disk.PathBase(f.name), f.written)
	}
	return err
}

// Preallocate does nothing: even in a store with a single mail each log would take 70 MB, without a
// measurable benefit.
func (f *file) Preallocate(offset, length int64) error { return nil }

func (f *file) Close() error {
	if f.copy == nil {
		return f.File.Close()
	}
	return errors.Join(f.File.Close(), f.copy.Close())
}
