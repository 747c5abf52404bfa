package pebble

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// fullDisk is a disk that others have filled: there is only space once the spare is given back.
type fullDisk struct {
	vfs.FS
	full atomic.Bool
}

func (d *fullDisk) err() error {
	if _, err := d.Stat("store/" + spareName); d.full.Load() && err == nil {
		return noSpace
	}
	return nil
}

func (d *fullDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	switch {
	case d.err() != nil:
		return vfs.DiskUsage{TotalBytes: 1 << 30}, nil
	case d.full.Load():
		return vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: 2 << 20}, nil
	}
	return vfs.DiskUsage{TotalBytes: 1 << 30, AvailBytes: 1 << 30}, nil
}

func (d *fullDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.err(); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, c)
	return fullFile{f, d}, err
}

type fullFile struct {
	vfs.File
	disk *fullDisk
}

func (f fullFile) Write(p []byte) (int, error) {
	if err := f.disk.err(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// On a full disk an inbox can be deleted, and the store can be opened, with what was kept for that.
func TestWhatIsLeftOfAFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := &fullDisk{FS: vfs.NewMem()}
		open := func() *Store {
			s, err := Open("store", Options{Log: testLog(t), fs: disk, spare: 1 << 20})
			must(t, err)
			synctest.Wait()
			return s
		}
		s := open()
		in, other := testInbox(t, s, "ada"), testInbox(t, s, "other")
		must(t, acknowledged(t, s, in, "one"))
		synctest.Wait()

		disk.full.Store(true)
		must(t, s.DeleteInbox(t.Context(), other.KeyID, other.ID))
		wantCode(t, acknowledged(t, s, in, "two"), service.Full)
		must(t, s.Close())

		disk.full.Store(false)
		s = open()
		must(t, s.Close())
		disk.full.Store(true)
		if disk.err() == nil {
			t.Fatal("nothing is kept")
		}
		s = open()
		if got := subjects(t, s, in); len(got) != 1 {
			t.Errorf("the list is %q", got)
		}
		must(t, s.DeleteInbox(t.Context(), in.KeyID, in.ID))
		must(t, s.Close())
	})
}

// In a folder that others may enter, they can read no file.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o644))
	s, err := Open(dir, Options{Log: testLog(t)})
	must(t, err)
	must(t, acknowledged(t, s, testInbox(t, s, "ada"), "one"))
	must(t, s.db.Flush())
	must(t, s.Backup(t.Context(), filepath.Join(dir, "backup")))
	must(t, s.Close())
	must(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		if err == nil && name != dir && exposed(info) {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	}))
}

// The removal of LOCK does not let in a second process.
func TestLockIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no file that is open")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(dir, Options{Log: testLog(t)})
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "LOCK")))
	if second, err := Open(dir, Options{Log: testLog(t)}); !errors.Is(err, ErrInUse) {
		t.Errorf("opened %v, %v", second != nil, err)
	}
	if _, err := Check(t.Context(), dir); !errors.Is(err, ErrInUse) {
		t.Errorf("checked: %v", err)
	}
	must(t, s.Close())
}
