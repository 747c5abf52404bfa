package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/errors/oserror"
	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// frozen is the folder of a damaged store as the database can read it. The folder itself is not
// changed: what differs is in memory.
type frozen struct {
	vfs.FS
	dir       string
	onlyWhole bool // tables of which any part cannot be read are empty

	mu        sync.Mutex
	files     map[string][]byte // by name; nil: is not shown
	damage    map[string]bool   // names of files that cannot be read, or not all of them
	tableLost bool
}

// freeze returns the folder with its markers, without options, which are of no use for reading, and
// with what is whole of its manifest and logs.
func freeze(disk vfs.FS, dir string, f *folder) (*frozen, error) {
	if len(f.edits) == 0 {
		return nil, fmt.Errorf("nothing can be read without a %s* or its copy", manifestPrefix)
	}
	z := &frozen{FS: errorfs.Wrap(disk, readOnly{}), dir: dir, damage: make(map[string]bool), files: map[string][]byte{
		f.manifest:                            f.edits,
		markerPrefix + "000001." + f.manifest: {},
		fmt.Sprintf("marker.format-version.000001.%03d", pebbledb.FormatValueSeparation): {},
	}}
	for _, name := range f.files {
		switch {
		case strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.") && z.files[name] == nil:
			z.files[name] = nil
		case path.Ext(name) == logExt && numberOf(name) >= f.firstLog:
			b, err := readAll(disk, disk.PathJoin(dir, name))
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			var whole bytes.Buffer
			w := record.NewWriter(&whole)
			eachRecord(b, numberOf(name), func(rec []byte) { _, err = w.WriteRecord(rec) })
			if err = errors.Join(err, w.Close()); err != nil {
				return nil, err
			}
			z.files[name] = whole.Bytes()
		}
	}
	return z, nil
}

func (z *frozen) damaged(path string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.damage[z.PathBase(path)] = true
}

// whole returns the folder without tables of which any part cannot be read.
func (z *frozen) whole() *frozen {
	z.mu.Lock()
	defer z.mu.Unlock()
	return &frozen{FS: z.FS, dir: z.dir, onlyWhole: true, files: maps.Clone(z.files), damage: make(map[string]bool)}
}

// loseTable puts an empty table in place of one of which nothing can be read: it would hide what
// others have of the same keys.
func (z *frozen) loseTable(name string) {
	z.damaged(name)
	z.mu.Lock()
	defer z.mu.Unlock()
	z.files[name], z.tableLost = emptyTable(), true
}

// cut hides what was appended to a table or a file of bodies, if its end is not the magic that these
// end in.
func (z *frozen) cut(name string) error {
	const magic, size = "\xf0\x9f\xaa\xb3\xf0\x9f", 8 // and two bytes that differ
	info, err := z.Stat(name)
	if err != nil || info.Size() < size {
		return err
	}
	f, err := z.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	end := make([]byte, size)
	if _, err = f.ReadAt(end, info.Size()-size); err != nil || strings.HasPrefix(string(end), magic) {
		return err
	}
	b, err := readAll(z.FS, name)
	if found := bytes.LastIndex(b, []byte(magic)); err == nil && found >= 0 {
		z.damaged(name)
		z.mu.Lock()
		defer z.mu.Unlock()
		z.files[z.PathBase(name)] = b[:min(len(b), found+size)]
	}
	return err
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
	ext := path.Ext(name)
	if ext == ".sst" || ext == ".blob" {
		_ = z.cut(name) // the database fails likewise
	}
	if ext == ".sst" && z.checkTable(z.open(name)) != nil {
		z.loseTable(z.PathBase(name))
	}
	return z.open(name, o...)
}

func (z *frozen) open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	z.mu.Lock()
	b, changed := z.files[z.PathBase(name)]
	z.mu.Unlock()
	switch {
	case !changed || z.PathDir(name) != z.dir:
		return z.FS.Open(name, o...)
	case b == nil:
		return nil, oserror.ErrNotExist
	}
	return vfs.NewMemFile(b), nil
}

func (z *frozen) Stat(name string) (vfs.FileInfo, error) {
	f, err := z.open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

func (z *frozen) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// readOnly makes what would change the folder fail.
type readOnly struct{}

func (readOnly) String() string { return "read only" }
func (readOnly) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
		return fs.ErrPermission
	}
	return nil
}

// checkTable returns an error if it cannot be read where the keys of a table are, or what they are.
func (z *frozen) checkTable(f vfs.File, err error) error {
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	if _, err = r.Layout(); err == nil && z.onlyWhole {
		err = r.ValidateBlockChecksums()
	}
	return errors.Join(err, r.Close())
}

func emptyTable() []byte {
	var table objstorage.MemObj
	w := sstable.NewWriter(&table, sstable.WriterOptions{})
	_ = w.Close() // writes to memory
	return table.Data()
}
