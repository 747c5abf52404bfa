package pebble

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"mayfly/service"
)

// A folder that had mail never starts as an empty store, whichever of the files that lead to the
// mail are gone, and an inventory that is gone is said to be.
func TestNeverStartsEmpty(t *testing.T) {
	t.Parallel()
	killed, in, messages := killedStore(t)
	has := func(parts ...string) func(name string) bool {
		return func(name string) bool {
			for _, part := range parts {
				if strings.Contains(name, part) {
					return true
				}
			}
			return false
		}
	}
	for _, test := range []struct {
		name    string
		removed func(name string) bool
		opens   bool
	}{
		{"INVENTORY", has(inventoryName), true},
		{"INVENTORY and marker", has(inventoryName, markerPrefix), false},
		{"INVENTORY and markers", has(inventoryName, "marker."), false},
		{"INVENTORY and MANIFEST", has(inventoryName, manifestPrefix), false},
		{"all but tables", func(name string) bool { return path.Ext(name) != ".sst" }, false},
		{"all but logs", func(name string) bool { return path.Ext(name) != logExt }, false},
		{"all but bodies", func(name string) bool { return path.Ext(name) != ".blob" }, false},
		{"all but options", func(name string) bool { return !strings.HasPrefix(name, "OPTIONS") }, false},
		{"all but INVENTORY", func(name string) bool { return name != inventoryName }, false},
		{"all but RESERVE", func(name string) bool { return name != spareName }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			must(t, os.CopyFS(dir, os.DirFS(killed)))
			must(t, os.WriteFile(filepath.Join(dir, spareName), padding, 0o600))
			files, err := os.ReadDir(dir)
			must(t, err)
			for _, file := range files {
				if test.removed(file.Name()) {
					must(t, os.Remove(filepath.Join(dir, file.Name())))
				}
			}
			before := digest(t, dir)
			var log bytes.Buffer
			s, err := Open(dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			if !test.opens {
				if !errors.As(err, new(*DamageError)) {
					t.Errorf("opened %v, %v", s != nil, err)
				}
				must(t, os.Remove(filepath.Join(dir, "LOCK")))
				if after := digest(t, dir); after != strings.ReplaceAll(before, lockLine(before), "") {
					t.Errorf("the folder was changed: %s\nit was %s", after, before)
				}
				return
			}
			must(t, err)
			if got := subjects(t, s, in); len(got) != messages {
				t.Errorf("%d of %d messages", len(got), messages)
			}
			if !strings.Contains(log.String(), inventoryName) {
				t.Errorf("nothing is said: %s", &log)
			}
			must(t, s.Close())
		})
	}
}

// lockLine returns the line of LOCK in a digest.
func lockLine(digest string) string {
	for line := range strings.Lines(digest) {
		if strings.HasPrefix(line, "LOCK ") {
			return line
		}
	}
	return ""
}

// An emptied inventory is said to be.
func TestEmptyInventory(t *testing.T) {
	t.Parallel()
	dir, in, messages := killedStore(t)
	must(t, os.Truncate(filepath.Join(dir, inventoryName), 0))
	r, err := Check(t.Context(), dir)
	must(t, err)
	if len(r.Damage) != 1 || !strings.Contains(r.Damage[0], inventoryName) {
		t.Errorf("check says %q", r.Damage)
	}
	var log bytes.Buffer
	s, err := Open(dir, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	if got := subjects(t, s, in); len(got) != messages {
		t.Errorf("%d of %d messages", len(got), messages)
	}
	if !strings.Contains(log.String(), inventoryName) {
		t.Errorf("nothing is said: %s", &log)
	}
	must(t, s.Close())
}

// A backup has an inventory and a copy of its manifest: a log of it that is cut short is noticed, and
// it can be repaired.
func TestBackupHasInventory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "store"), Options{Log: testLog(t)})
	must(t, err)
	must(t, acknowledged(t, s, testInbox(t, s, "ada"), "one"))
	backup := filepath.Join(dir, "backup")
	must(t, s.Backup(t.Context(), backup))
	must(t, s.Close())
	r, err := Check(t.Context(), backup)
	must(t, err)
	if len(r.Damage) > 0 || r.Messages != 1 {
		t.Errorf("check of the backup: %+v", r)
	}
	manifests, err := filepath.Glob(filepath.Join(backup, manifestPrefix+"*"))
	must(t, err)
	must(t, os.Truncate(manifests[0], 3))
	if r, err := Check(t.Context(), backup); err != nil || r.Messages != 1 || r.Unknown {
		t.Errorf("check of the backup without its manifest: %+v, %v", r, err)
	}
	logs, err := filepath.Glob(filepath.Join(backup, "*"+logExt))
	must(t, err)
	must(t, os.Truncate(logs[len(logs)-1], 100))
	if s, err := Open(backup, Options{Log: testLog(t)}); !errors.As(err, new(*DamageError)) {
		t.Errorf("opened %v, %v", s != nil, err)
	}
}

// The store says that it cannot be written before the first mail has failed.
func TestReadyBeforeTheFirstMail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		injector := &faults{}
		s, err := Open("store", Options{Log: testLog(t), fs: errorfs.Wrap(vfs.NewMem(), injector)})
		must(t, err)
		must(t, s.Ready(t.Context()))
		for _, fault := range []error{syscall.EROFS, syscall.EMFILE, fs.ErrPermission} {
			injector.set(fault, "", errorfs.OpCreate)
			time.Sleep(time.Second)
			wantCode(t, s.Ready(t.Context()), service.Unavailable)
		}
		injector.clear()
		time.Sleep(time.Second)
		must(t, s.Ready(t.Context()))
		must(t, s.Close())
	})
}
