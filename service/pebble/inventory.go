package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// inventoryName is the name of a file that says what must be in the folder of a store: the database
// itself takes a log that is missing or cut short for one that never was, and starts empty if it
// does not find its manifest.
const inventoryName = "INVENTORY"

// contents is what must be there. It never says more than is on disk, whatever was lost in a crash.
type contents struct {
	manifest string           // name of the current manifest; empty: there is none yet
	sizes    map[string]int64 // bytes synced of that manifest and of logs, by name
}

// inventory writes contents, without a sync, each time a log is synced. It has two slots that are
// written in turn, so that one of them is whole at any time.
type inventory struct {
	mu         sync.Mutex
	file       vfs.File
	generation uint64 // counts what was written
	now        contents
	fresh      contents // of files that a crash may remove, since the folder was not synced
	failed     error    // the first failed write
}

const (
	slotDistance = 4096
	slotSize     = 512 // a sector, which a disk writes whole
	slotHeader   = 8   // checksum, length
)

var (
	errInventory   = errors.New("it is damaged")
	errNoInventory = errors.New("it is missing or empty")
)

func newContents() contents { return contents{sizes: make(map[string]int64)} }

// readInventory returns what must be in a folder, and which generation of it was read, 0 if nobody
// has said yet.
func readInventory(disk vfs.FS, dir string) (contents, uint64, error) {
	f, err := disk.Open(disk.PathJoin(dir, inventoryName))
	if oserror.IsNotExist(err) {
		return newContents(), 0, nil
	}
	if err != nil {
		return contents{}, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	found, newest, damaged := newContents(), uint64(0), false
	for slot := range int64(2) {
		b := make([]byte, slotSize)
		if _, err := f.ReadAt(b, slot*slotDistance); err != nil && err != io.EOF {
			return contents{}, 0, err
		}
		c, generation, err := decodeContents(b)
		damaged = damaged || err != nil
		if generation > newest {
			found, newest = c, generation
		}
	}
	if newest == 0 && damaged {
		return found, 0, errInventory
	}
	return found, newest, nil
}

// openInventory opens the inventory for writing, to go on from what was read.
func openInventory(disk vfs.FS, dir string, read contents, generation uint64) (*inventory, error) {
	f, err := disk.OpenReadWrite(disk.PathJoin(dir, inventoryName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &inventory{file: f, generation: generation, now: read, fresh: newContents()}, nil
}

// created records a file that was created, or now has this name.
func (i *inventory) created(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.now.sizes, name)
	i.fresh.sizes[name] = 0
}

// chosen records that a manifest becomes the current one.
func (i *inventory) chosen(manifest string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.fresh.manifest = manifest
}

// removed is called before a file is removed.
func (i *inventory) removed(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.now.sizes, name)
	delete(i.fresh.sizes, name)
}

// synced records that so many bytes of a file are on disk.
func (i *inventory) synced(name string, size int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, ok := i.fresh.sizes[name]; ok {
		i.fresh.sizes[name] = size
		return
	}
	i.now.sizes[name] = size
	i.write()
}

// syncFolder calls sync, which syncs the folder, and records that the files created before are on
// disk.
func (i *inventory) syncFolder(sync func() error) error {
	i.mu.Lock()
	names, manifest := slices.Collect(maps.Keys(i.fresh.sizes)), i.fresh.manifest
	i.mu.Unlock()
	if err := sync(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, name := range names {
		if size, ok := i.fresh.sizes[name]; ok {
			i.now.sizes[name] = size
			delete(i.fresh.sizes, name)
		}
	}
	if manifest != "" {
		i.now.manifest = manifest
	}
	i.write()
	i.note(i.file.SyncData())
	return nil
}

// write writes the next slot. What is written tells nothing that is not on disk, so that nobody has
// to wait until it is there, too.
func (i *inventory) write() {
	i.generation++
	b := i.now.encode(i.generation)
	_, err := i.file.WriteAt(b, int64(i.generation%2)*slotDistance)
	i.note(err)
}

// note keeps the first failure for the end, since an inventory that is too old is no reason to
// refuse mail.
func (i *inventory) note(err error) {
	if i.failed == nil {
		i.failed = err
	}
}

func (i *inventory) close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return errors.Join(i.failed, i.file.Sync(), i.file.Close())
}

// takeInventory writes the inventory of a folder that is whole and that no process has open.
func takeInventory(disk vfs.FS, dir string) error {
	found, err := inspect(disk, dir)
	if err != nil {
		return err
	}
	c := newContents()
	c.manifest = found.manifest
	for _, name := range found.files {
		if name != found.manifest && path.Ext(name) != logExt {
			continue
		}
		b, err := readAll(disk, disk.PathJoin(dir, name))
		if err != nil {
			return err
		}
		c.sizes[name], _ = intactSize(b, logNumber(name))
	}
	i, err := openInventory(disk, dir, c, 0)
	if err != nil {
		return err
	}
	i.write()
	return i.close()
}

// encode returns a slot. Of more logs than fit it has the newest.
func (c contents) encode(generation uint64) []byte {
	var w writer
	w.number(int64(generation))
	w.string(c.manifest)
	w.number(c.sizes[c.manifest])
	logs := slices.SortedFunc(maps.Keys(c.sizes), func(a, b string) int { return -strings.Compare(a, b) })
	for _, name := range logs {
		if path.Ext(name) == logExt && slotHeader+len(w)+len(name)+binary.MaxVarintLen64+1 < slotSize {
			w.string(name)
			w.number(c.sizes[name])
		}
	}
	b := make([]byte, slotHeader, slotSize)
	binary.BigEndian.PutUint32(b[4:], uint32(len(w)))
	b = append(b, w...)
	binary.BigEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return b
}

// decodeContents returns generation 0 for a slot that was never written.
func decodeContents(b []byte) (c contents, generation uint64, err error) {
	c = newContents()
	size := binary.BigEndian.Uint32(b[4:])
	if size == 0 && binary.BigEndian.Uint32(b) == 0 {
		return c, 0, nil
	}
	if size > slotSize-slotHeader || crc32.ChecksumIEEE(b[4:slotHeader+size]) != binary.BigEndian.Uint32(b) {
		return c, 0, errInventory
	}
	r := reader{b: b[slotHeader : slotHeader+size]}
	generation = uint64(r.number())
	c.manifest = r.string()
	if n := r.number(); c.manifest != "" {
		c.sizes[c.manifest] = n
	}
	for len(r.b) > 0 {
		name := r.string()
		c.sizes[name] = r.number()
	}
	if r.err != nil {
		return newContents(), 0, fmt.Errorf("%w: %w", errInventory, r.err)
	}
	return c, generation, nil
}
