package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/errors/oserror"
	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// frozen is the folder of a damaged store as the database can read it. The folder itself is not
// changed: what differs is in memory.
type frozen struct {
	vfs.FS
	dir   string
	files map[string][]byte // by name; nil: is not shown
}

// freeze returns the folder with its markers, without options, which are of no use for reading, and
// with those records of its logs that are whole.
func freeze(disk vfs.FS, dir string, f *folder) (*frozen, error) {
	z := &frozen{FS: disk, dir: dir, files: make(map[string][]byte)}
	for _, name := range f.files {
		if strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.") {
			z.files[name] = nil
		}
	}
	if f.manifest == "" {
		return nil, fmt.Errorf("no %s* is left: nothing can be read without one", manifestPrefix)
	}
	z.files[markerPrefix+"000001."+f.manifest] = []byte{}
	z.files[fmt.Sprintf("marker.format-version.000001.%03d", pebbledb.FormatValueSeparation)] = []byte{}
	for _, name := range f.files {
		if path.Ext(name) != logExt || numberOf(name) < f.firstLog {
			continue
		}
		b, err := z.salvageLog(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		z.files[name] = b
	}
	return z, nil
}

// salvageLog returns a log of the whole records of a log.
func (z *frozen) salvageLog(name string) ([]byte, error) {
	b, err := readAll(z.FS, z.FS.PathJoin(z.dir, name))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := record.NewWriter(&out)
	eachRecord(b, uint32(numberOf(name)), func(rec []byte) { _, err = w.WriteRecord(rec) })
	return out.Bytes(), errors.Join(err, w.Close())
}

func (z *frozen) List(dir string) ([]string, error) {
	names, err := z.FS.List(dir)
	if err != nil || dir != z.dir {
		return names, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, changed := z.files[name]; return changed })
	for name, b := range z.files {
		if b != nil {
			names = append(names, name)
		}
	}
	return names, nil
}

func (z *frozen) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	b, changed := z.files[z.PathBase(name)]
	if !changed || z.PathDir(name) != z.dir {
		return z.FS.Open(name, o...)
	}
	if b == nil {
		return nil, oserror.ErrNotExist
	}
	return vfs.NewMemFile(b), nil
}

func (z *frozen) Stat(name string) (vfs.FileInfo, error) {
	if _, changed := z.files[z.PathBase(name)]; !changed || z.PathDir(name) != z.dir {
		return z.FS.Stat(name)
	}
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// What would change the folder fails.

func (z *frozen) Create(string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, fs.ErrPermission
}

func (z *frozen) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, fs.ErrPermission
}

func (z *frozen) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, fs.ErrPermission
}

func (z *frozen) Link(string, string) error          { return fs.ErrPermission }
func (z *frozen) Rename(string, string) error        { return fs.ErrPermission }
func (z *frozen) Remove(string) error                { return fs.ErrPermission }
func (z *frozen) RemoveAll(string) error             { return fs.ErrPermission }
func (z *frozen) MkdirAll(string, fs.FileMode) error { return fs.ErrPermission }
func (z *frozen) Lock(string) (io.Closer, error)     { return io.NopCloser(nil), nil }
func (z *frozen) Unwrap() vfs.FS                     { return z.FS }
