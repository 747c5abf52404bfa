package pebble

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// private is the operating system's file system, in which only the owner can access new files,
// whatever the mode of their folder.
type private struct{ vfs.FS }

const privateMode = 0o600

func (p private) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	// A file that exists is not truncated, since it may have other names.
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p.OpenReadWrite(name, c)
}

func (p private) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	if err := createPrivate(name); err != nil {
		return nil, err
	}
	return p.FS.OpenReadWrite(name, c, o...)
}

func (p private) Lock(name string) (io.Closer, error) {
	if err := createPrivate(name); err != nil {
		return nil, err
	}
	return p.FS.Lock(name)
}

func (p private) MkdirAll(dir string, mode fs.FileMode) error { return p.FS.MkdirAll(dir, mode&0o700) }

func (p private) Unwrap() vfs.FS { return p.FS }

// createPrivate creates an empty file if there is none.
func createPrivate(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, privateMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// exposed reports whether other users can access a file or folder. On Windows its mode does not tell.
func exposed(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

// makePrivate takes from other users what they can do with the files of a folder, and says so if they
// can list it: its mode is the operator's business.
func makePrivate(dir string, log *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || !exposed(info)) {
			continue
		}
		if err == nil {
			err = os.Chmod(filepath.Join(dir, e.Name()), privateMode)
		}
		if err != nil {
			return err
		}
	}
	info, err := os.Stat(dir)
	if err == nil && exposed(info) {
		log.Warn("other users can enter the folder of the store: its files are closed to them, but set its mode to 0700",
			"folder", dir, "mode", info.Mode().Perm().String())
	}
	return err
}
