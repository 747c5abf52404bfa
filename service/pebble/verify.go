package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors/oserror"
	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// folder is what the folder of a store has, compared with its inventory.
type folder struct {
	files      []string
	inventory  contents
	generation uint64
	manifest   string   // the current one, empty if none is known
	firstLog   uint64   // number of the first log that is not in tables
	damage     []string // what is missing or cannot be read, a line each
	incomplete bool     // mail may be missing
	unknown    error    // why the inventory could not be used
}

// inspect compares a folder with its inventory, and changes nothing.
func inspect(disk vfs.FS, dir string) (*folder, error) {
	files, err := disk.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	f := &folder{files: files}
	f.inventory, f.generation, err = readInventory(disk, dir)
	if errors.Is(err, errInventory) {
		f.unknown = err
	} else if err != nil {
		return nil, fmt.Errorf("read the %s: %w", inventoryName, err)
	}
	f.findManifest(disk, dir)
	if f.manifest == "" {
		return f, nil
	}
	if f.generation == 0 && f.unknown == nil {
		f.unknown = errNoInventory
	}
	if err := f.checkManifest(disk, dir); err != nil {
		return nil, err
	}
	return f, f.checkLogs(disk, dir)
}

func (f *folder) lost(format string, args ...any) {
	f.incomplete = true
	f.damage = append(f.damage, fmt.Sprintf(format, args...))
}

// findManifest finds the current manifest. That there is none in a folder with other files of the
// database, which makes these only at the end of the first opening, is damage.
func (f *folder) findManifest(disk vfs.FS, dir string) {
	found, err := pebbledb.Peek(dir, disk)
	switch {
	case err != nil:
		f.damage = append(f.damage, fmt.Sprintf("a marker.* file cannot be read: %v", err))
	case found.Exists:
		f.manifest = disk.PathBase(found.ManifestFilename)
		if !slices.Contains(f.files, f.manifest) {
			f.lost("%s is missing", f.manifest)
		} else if numberOf(f.manifest) < numberOf(f.inventory.manifest) {
			f.damage = append(f.damage, markerPrefix+"*."+f.inventory.manifest+" is missing")
		} else {
			return
		}
	case f.inventory.manifest != "" || slices.ContainsFunc(f.files, isData):
		f.damage = append(f.damage, markerPrefix+"* is missing")
	default:
		return
	}
	f.manifest = ""
	for _, name := range f.files { // in order
		if strings.HasPrefix(name, manifestPrefix) {
			f.manifest = name
		}
	}
}

func isData(name string) bool {
	return slices.Contains([]string{".sst", ".blob", logExt}, path.Ext(name)) ||
		name == spareName || strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.format-version.")
}

// logNumber returns what the chunks of a log or a manifest are marked with.
func logNumber(name string) uint32 {
	if path.Ext(name) != logExt {
		return 0
	}
	return uint32(numberOf(name))
}

// numberOf returns the number in the name of a file, or 0.
func numberOf(name string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(name, manifestPrefix), logExt), 10, 64)
	return n
}

// checkManifest reads the manifest, which the database reads only up to the first damaged record.
func (f *folder) checkManifest(disk vfs.FS, dir string) error {
	b, err := readAll(disk, disk.PathJoin(dir, f.manifest))
	if err != nil {
		return fmt.Errorf("read %s: %w", f.manifest, err)
	}
	size, more := intactSize(b, 0)
	if least := f.inventory.sizes[f.manifest]; size < least {
		f.lost("%s can be read up to byte %d of at least %d", f.manifest, size, least)
	} else if more {
		f.lost("%s can be read up to byte %d, but there is more", f.manifest, size)
	}
	f.firstLog = firstLog(b)
	return nil
}

// firstLog returns the number of the first log whose content is not in tables. A record of a
// manifest, where it has this number, starts with it, or with the name of the order of keys.
func firstLog(manifest []byte) (first uint64) {
	const comparerTag, logTag = 1, 2
	eachRecord(manifest, 0, func(b []byte) {
		tag, b := uvarint(b)
		if tag == comparerTag {
			var n uint64
			n, b = uvarint(b)
			tag, b = uvarint(b[min(n, uint64(len(b))):])
		}
		if tag == logTag {
			first, _ = uvarint(b)
		}
	})
	return first
}

// uvarint splits a number off b; of nothing it makes 0.
func uvarint(b []byte) (uint64, []byte) {
	n, size := binary.Uvarint(b)
	return n, b[max(0, size):]
}

// checkLogs looks for logs that are missing or too short. The database finds other damage in them.
func (f *folder) checkLogs(disk vfs.FS, dir string) error {
	for name, least := range f.inventory.sizes {
		number := numberOf(name)
		if path.Ext(name) != logExt || number < f.firstLog {
			continue
		}
		b, err := readAll(disk, disk.PathJoin(dir, name))
		if oserror.IsNotExist(err) {
			f.lost("%s is missing", name)
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		size, _ := intactSize(b, uint32(number))
		// A log that was closed ends in a header that begins nothing.
		if size+maxChunkHeader < least {
			f.lost("%s can be read up to byte %d of at least %d", name, size, least)
		}
	}
	slices.Sort(f.damage)
	return nil
}

func readAll(disk vfs.FS, name string) ([]byte, error) {
	f, err := disk.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b := make([]byte, info.Size())
	if _, err = f.ReadAt(b, 0); err == io.EOF {
		err = nil
	}
	return b, errors.Join(err, f.Close())
}

// DamageError says that a store was not opened, since something is missing or cannot be read.
type DamageError struct {
	Dir    string
	Damage []string // a line each
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %s", strings.Join(e.Damage, "; "), advice(e.Dir))
}

// advice says what to do about a damaged store.
func advice(dir string) string {
	return fmt.Sprintf("restore a backup, or save what is left: mayfly admin store repair %s --to NEW", dir)
}
