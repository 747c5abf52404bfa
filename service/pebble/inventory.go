package pebble

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path"
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
	generation uint64           // counts what was written; 0: nobody has said yet
	manifest   string           // name of the current manifest; empty: there is none yet
	sizes      map[string]int64 // bytes synced of that manifest and of logs, by name
}

// inventory writes contents, without a sync, each time a log is synced. It has two slots that are
// written in turn, so that one of them is whole at any time.
type inventory struct {
	mu     sync.Mutex
	file   vfs.File
	now    contents
	next   string // manifest that is the current one when the folder has been synced
	failed error  // the first failed write
}

const (
	slotSize   = 4096 // many more logs than there are
	slotHeader = 8    // checksum, length
)

var (
	errInventory   = errors.New("it is damaged")
	errNoInventory = errors.New("it is missing or empty")
)

// readInventory returns what must be in a folder.
func readInventory(disk vfs.FS, dir string) (found contents, err error) {
	b, err := readAll(disk, disk.PathJoin(dir, inventoryName))
	if err != nil && !oserror.IsNotExist(err) {
		return contents{}, fmt.Errorf("read the %s: %w", inventoryName, err)
	}
	found.sizes, err = make(map[string]int64), nil
	b = append(b, make([]byte, 2*slotSize)...) // it may be shorter
	for slot := range 2 {
		c, serr := decodeContents(b[slot*slotSize:])
		if err = errors.Join(err, serr); c.generation > found.generation {
			found = c
		}
	}
	if found.generation > 0 {
		err = nil
	}
	return found, err
}

// openInventory opens the inventory for writing, to go on from what was read.
func openInventory(disk vfs.FS, dir string, read contents) (*inventory, error) {
	f, err := disk.OpenReadWrite(disk.PathJoin(dir, inventoryName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return &inventory{file: f, now: read}, nil
}

// chosen records that a manifest becomes the current one.
func (i *inventory) chosen(manifest string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.next = manifest
}

// removed is called before a file is removed.
func (i *inventory) removed(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.now.sizes, name)
}

// synced records that so many bytes of a file are on disk.
func (i *inventory) synced(name string, size int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now.sizes[name] = size
	i.write()
}

// syncFolder calls sync, which syncs the folder: what was chosen before is on disk then.
func (i *inventory) syncFolder(sync func() error) error {
	i.mu.Lock()
	chosen := i.next
	i.mu.Unlock()
	if err := sync(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now.manifest = cmp.Or(chosen, i.now.manifest)
	i.write()
	i.note(i.file.SyncData())
	return nil
}

// write writes the next slot. What is written tells nothing that is not on disk, so that nobody has
// to wait until it is there, too.
func (i *inventory) write() {
	i.now.generation++
	_, err := i.file.WriteAt(i.now.encode(), int64(i.now.generation%2)*slotSize)
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
	i, err := openInventory(disk, dir, found.readable)
	if err != nil {
		return err
	}
	i.write()
	return i.close()
}

// encode returns a slot.
func (c contents) encode() []byte {
	w := make(writer, slotHeader)
	w.number(int64(c.generation))
	w.string(c.manifest)
	w.number(c.sizes[c.manifest])
	for name, size := range c.sizes {
		if path.Ext(name) == logExt {
			w.string(name)
			w.number(size)
		}
	}
	binary.BigEndian.PutUint32(w[4:], uint32(len(w)-slotHeader))
	binary.BigEndian.PutUint32(w, crc32.ChecksumIEEE(w[4:]))
	return w
}

// decodeContents returns generation 0 for a slot that was never written.
func decodeContents(b []byte) (contents, error) {
	sum, size := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if size == 0 && sum == 0 {
		return contents{}, nil
	}
	if size > slotSize-slotHeader || crc32.ChecksumIEEE(b[4:slotHeader+size]) != sum {
		return contents{}, errInventory
	}
	r := reader{b: b[slotHeader : slotHeader+size]}
	c := contents{generation: uint64(r.number()), manifest: r.string(), sizes: make(map[string]int64)}
	c.sizes[c.manifest] = r.number()
	for len(r.b) > 0 {
		name := r.string()
		c.sizes[name] = r.number()
	}
	return c, r.err
}
