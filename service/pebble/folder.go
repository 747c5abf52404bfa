package pebble

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors/oserror"
	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// folder is what the folder of a store has, compared with its inventory.
type folder struct {
	files      []string // in order
	inventory  contents
	manifest   string   // name of the current one, empty if none is known
	edits      []byte   // of the manifest or its copy, as far as one can be read
	firstLog   uint64   // number of the first log that is not in tables
	damage     []string // what is missing or cannot be read, a line each
	incomplete bool     // mail may be missing
	readable   contents // what of the manifest and of the logs from the first can be read
	logBytes   uint64   // sizes of these logs
	unknown    error    // why the inventory could not be used
}

// inspect compares a folder with its inventory, and changes nothing.
func inspect(disk vfs.FS, dir string) (*folder, error) {
	files, err := disk.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	if err := checkPermissions(disk, dir, files); err != nil {
		return nil, err
	}
	f := &folder{files: files, readable: contents{sizes: make(map[string]int64)}}
	f.inventory, err = readInventory(disk, dir)
	if errors.Is(err, errInventory) || errors.Is(err, errValue) {
		f.unknown = err
	} else if err != nil {
		return nil, err
	}
	f.findManifest(disk, dir)
	if f.manifest == "" {
		return f, nil
	}
	if f.inventory.generation == 0 && f.unknown == nil {
		f.unknown = errNoInventory
	}
	if err := f.readManifest(disk, disk.PathJoin(dir, f.manifest)); err != nil {
		return nil, err
	}
	eachRecord(f.edits, 0, f.noteFirstLog)
	f.readable.manifest, f.readable.sizes[f.manifest] = f.manifest, int64(len(f.edits))
	return f, f.checkLogs(disk, dir)
}

// checkPermissions returns an error if a file may not be read, which is no damage.
func checkPermissions(disk vfs.FS, dir string, files []string) error {
	for _, name := range slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !isData(name) }) {
		f, err := disk.Open(disk.PathJoin(dir, name))
		if errors.Is(err, fs.ErrPermission) {
			return err
		}
		if err == nil {
			_ = f.Close() // nothing was read
		}
	}
	return nil
}

func (f *folder) damaged(format string, args ...any) {
	f.damage = append(f.damage, fmt.Sprintf(format, args...))
}

// findManifest finds the current manifest. That there is none in a folder with other files of the
// database, which makes these only at the end of the first opening, is damage.
func (f *folder) findManifest(disk vfs.FS, dir string) {
	found, err := pebbledb.Peek(dir, disk)
	if err == nil && found.OptionsFilename != "" { // without one it has not been opened before
		f.checkOptions(disk, found.OptionsFilename)
	}
	switch {
	case err != nil:
		f.damaged("a marker.* file cannot be read: %v", err)
	case !found.Exists && f.inventory.manifest == "" && !slices.ContainsFunc(f.files, isData):
		return
	case !found.Exists:
		f.damaged("%s* is missing", markerPrefix)
	case numberOf(disk.PathBase(found.ManifestFilename)) < numberOf(f.inventory.manifest):
		f.damaged("%s*.%s is missing", markerPrefix, f.inventory.manifest)
	default:
		f.manifest = disk.PathBase(found.ManifestFilename)
		return
	}
	last := ""
	for _, name := range f.files {
		name = strings.TrimPrefix(name, copyPrefix)
		if strings.HasPrefix(name, manifestPrefix) && byNumber(name, last) > 0 {
			last = name
		}
	}
	f.manifest = cmp.Or(f.inventory.manifest, last)
}

// checkOptions checks what is not needed for reading, but without which the database is not opened.
func (f *folder) checkOptions(disk vfs.FS, name string) {
	if !slices.ContainsFunc(f.files, func(name string) bool { return strings.HasPrefix(name, formatPrefix) }) {
		f.damaged("%s* is missing", formatPrefix)
	}
	var o pebbledb.Options
	o.EnsureDefaults()
	b, err := readAll(disk, name)
	if err == nil {
		err = o.CheckCompatibility(disk.PathDir(name), string(b))
	}
	if err != nil {
		f.damaged("%s cannot be read", disk.PathBase(name))
	}
}

func isData(name string) bool {
	return slices.Contains([]string{".sst", ".blob", logExt}, path.Ext(name)) ||
		name == spareName || strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, formatPrefix)
}

// numberOf returns the number in the name of a log or a manifest, or 0.
func numberOf(name string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(name, manifestPrefix), logExt), 10, 64)
	return n
}

// byNumber compares such names. As text, 1000000.log comes before 999999.log.
func byNumber(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) }

// readManifest reads the manifest, which the database reads only up to the first damaged record, and
// if it is not whole its copy.
func (f *folder) readManifest(disk vfs.FS, name string) error {
	whole, err := f.readEdits(disk, name)
	if err != nil || whole {
		return err
	}
	if whole, err = f.readEdits(disk, copyOf(disk, name)); whole {
		f.damage[len(f.damage)-1] += ", but its copy is whole"
	}
	f.incomplete = !whole
	return err
}

// readEdits reads a manifest, or its copy, and reports whether it is whole. Of several it keeps the
// one that can be read further.
func (f *folder) readEdits(disk vfs.FS, name string) (whole bool, err error) {
	const padding = 6 // most bytes at the end of a block that are no record
	b, err := readAll(disk, name)
	if err != nil && !oserror.IsNotExist(err) {
		return false, fmt.Errorf("read %s: %w", disk.PathBase(name), err)
	}
	found := eachRecord(b, 0, func([]byte) {})
	if found.intact > int64(len(f.edits)) {
		f.edits = b[:found.intact]
	}
	least := max(1+padding, f.inventory.sizes[f.manifest])
	switch {
	case err != nil:
		f.damaged("%s is missing", disk.PathBase(name))
	case found.intact+padding < least:
		f.damaged("%s can be read up to byte %d of at least %d", disk.PathBase(name), found.intact, least)
	case found.beyond:
		f.damaged("%s can be read up to byte %d, but there is more", disk.PathBase(name), found.intact)
	default:
		return true, nil
	}
	return false, nil
}

// checkLogs looks for logs that are missing, too short, or so that the database would not read them.
func (f *folder) checkLogs(disk vfs.FS, dir string) error {
	const end = 19 // most bytes after the records of a log that was closed
	logs := slices.Concat(f.files, slices.Collect(maps.Keys(f.inventory.sizes)))
	logs = slices.DeleteFunc(logs, func(name string) bool { return path.Ext(name) != logExt || numberOf(name) < f.firstLog })
	slices.SortFunc(logs, byNumber)
	logs = slices.Compact(logs)
	for i, name := range logs {
		b, err := readAll(disk, disk.PathJoin(dir, name))
		if err != nil && !oserror.IsNotExist(err) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		found, least := eachRecord(b, numberOf(name), func([]byte) {}), f.inventory.sizes[name]
		f.readable.sizes[name] = found.intact
		f.logBytes += uint64(len(b))
		torn := i == len(logs)-1 && errors.Is(found.end, record.ErrUnexpectedEOF) // by a crash
		switch {
		case err != nil:
			f.damaged("%s is missing", name)
		case found.intact+end < least:
			f.damaged("%s can be read up to byte %d of at least %d", name, found.intact, least)
		case found.end != io.EOF && !torn:
			f.damaged("%s can be read up to byte %d, where it is damaged", name, found.intact)
		default:
			continue
		}
		f.incomplete = true
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
