package pebble

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

// A folder that had mail and does not read well is refused in a line that says what to do, and nothing in
// it is changed. It never starts as an empty store.
func TestFolderThatDoesNotReadWell(t *testing.T) {
	t.Parallel()
	killed := killedStore(t)
	remove := os.Remove
	empty := func(name string) error { return os.Truncate(name, 0) }
	flip := func(at float64) func(string) error {
		return func(name string) error {
			b, err := os.ReadFile(name)
			if err != nil || len(b) < 100 {
				return err
			}
			b[int(at*float64(len(b)))] ^= 0x10
			return os.WriteFile(name, b, 0o600)
		}
	}
	for _, test := range []struct {
		damage  string
		change  func(name string) error
		pattern string // of the names of files that are changed; with ! in front, of the others
	}{
		{"no marker", remove, "marker.manifest.*"},
		{"no markers", remove, "marker.*"},
		{"no format", remove, "marker.format-version.*"},
		{"no manifest", remove, "MANIFEST-*"},
		{"empty manifest", empty, "MANIFEST-*"},
		{"manifest flipped at its start", flip(0.01), "MANIFEST-*"},
		{"manifest flipped before its end", flip(0.5), "MANIFEST-*"},
		{"manifest cut short", func(name string) error { return os.Truncate(name, 60) }, "MANIFEST-*"},
		{"no manifest and no marker", remove, "*MANIFEST*"},
		{"no logs", remove, "*.log"},
		{"log flipped in the middle", flip(0.1), "*.log"},
		{"no tables", remove, "*.sst"},
		{"tables cut short", func(name string) error { return os.Truncate(name, 100) }, "*.sst"},
		{"tables alone", remove, "!*.sst"},
		{"bodies alone", remove, "!*.blob"},
		{"logs alone", remove, "!*.log"},
		{"options alone", remove, "!OPTIONS-*"},
	} {
		t.Run(test.damage, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			must(t, os.CopyFS(dir, os.DirFS(killed)))
			files, err := os.ReadDir(dir)
			must(t, err)
			for _, file := range files {
				pattern, others := strings.CutPrefix(test.pattern, "!")
				if matches, err := filepath.Match(pattern, file.Name()); err != nil || matches != others {
					must(t, errors.Join(err, test.change(filepath.Join(dir, file.Name()))))
				}
			}
			before := contents(t, dir)
			s, err := Open(dir, Options{Log: testLog(t)})
			if err == nil {
				must(t, s.Close())
				t.Fatal("it was opened")
			}
			if text := err.Error(); !strings.Contains(text, dir) || !strings.HasSuffix(text, advice) || strings.Contains(text, "\n") {
				t.Error(err)
			}
			if after := contents(t, dir); after != before {
				t.Errorf("the folder was changed: %s\nit was %s", after, before)
			}
		})
	}
}

// killedStore makes a folder as a kill leaves it, with messages in tables and in a log.
func killedStore(t *testing.T) (dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows copies no LOCK of a store that is open")
	}
	live, dir := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "killed")
	s := mustOpen(t, live, Options{})
	in := testInbox(t, s, "ada")
	must(t, s.Close())
	s = mustOpen(t, live, Options{}) // has another manifest
	for i := range 100 {
		must(t, acknowledged(t, s, in, fmt.Sprint(i)))
		if i == 20 || i == 40 {
			must(t, s.flush())
		}
	}
	must(t, os.CopyFS(dir, os.DirFS(live)))
	must(t, s.Close())
	return dir
}

// contents describes the files of a folder, except for LOCK, which opening it makes.
func contents(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	var all strings.Builder
	for _, file := range files {
		if file.Name() != "LOCK" {
			b, err := os.ReadFile(filepath.Join(dir, file.Name()))
			must(t, err)
			fmt.Fprintf(&all, "%s %x\n", file.Name(), sha256.Sum256(b))
		}
	}
	return all.String()
}

// The database would try to write what is in its logs to a table, for ever.
func TestFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	disk, injector := vfs.NewMem(), &faults{}
	s := mustOpen(t, "store", Options{fs: disk})
	testInbox(t, s, "ada")
	must(t, s.Close())
	injector.set(fs.ErrPermission, "", errorfs.OpCreate)
	if s, err := Open("store", Options{Log: testLog(t), fs: errorfs.Wrap(disk, injector)}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("opened %v, %v", s != nil, err)
	}
}

// In a folder that others may enter, they can read no file of the store, also where it was copied so that they could. What else is
// in the folder is nobody's business.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.Mkdir(dir, 0o755))
	other := filepath.Join(dir, "other.log")
	must(t, os.WriteFile(other, nil, 0o644))
	must(t, mustOpen(t, dir, Options{}).Close())
	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	must(t, errors.Join(err, os.Chmod(manifests[0], 0o644)))
	s := mustOpen(t, dir, Options{})
	must(t, acknowledged(t, s, testInbox(t, s, "ada"), "one"))
	must(t, s.flush())
	must(t, s.Backup(t.Context(), filepath.Join(dir, "backup")))
	must(t, s.Close())
	must(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		if err == nil && name != dir && exposed(info) != (name == other && runtime.GOOS != "windows") {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	}))
}

// A store whose directory is removed accepts nothing more.
func TestDirIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no directory with files that are open")
	}
	t.Parallel()
	for _, write := range []func(*Store, service.Inbox){
		func(s *Store, in service.Inbox) {
			for acknowledged(t, s, in, "one") == nil { // for as long as its space was looked at just before
			}
		},
		func(s *Store, _ service.Inbox) { go s.flush() },
	} {
		dir := filepath.Join(t.TempDir(), "store")
		s := mustOpen(t, dir, Options{})
		in := testInbox(t, s, "ada")
		must(t, os.Rename(dir, dir+".old"))
		write(s, in)
		if err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), dir) {
			t.Error(err)
		}
	}
}

// The removal of LOCK does not let in a second process.
func TestLockIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no file that is open")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := mustOpen(t, dir, Options{})
	must(t, os.Remove(filepath.Join(dir, "LOCK")))
	if second, err := Open(dir, Options{Log: testLog(t)}); !errors.Is(err, ErrInUse) {
		t.Errorf("opened %v, %v", second != nil, err)
	}
	must(t, s.Close())
}
