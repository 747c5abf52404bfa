package pebble

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// Without its manifest nobody knows which tables of a store count, and what was deleted. Wherever it
// is damaged, all mail is saved with the copy, and nothing comes back.
func TestManifestIsDamaged(t *testing.T) {
	t.Parallel()
	copiesOpenStore(t)
	live, killed := filepath.Join(t.TempDir(), "live"), filepath.Join(t.TempDir(), "killed")
	s, err := Open(live, Options{Log: testLog(t)})
	must(t, err)
	in, gone := testInbox(t, s, "ada"), testInbox(t, s, "gone")
	const messages = 30
	for i := range messages {
		must(t, acknowledged(t, s, in, fmt.Sprint(i)))
		must(t, acknowledged(t, s, gone, fmt.Sprint(i)))
		if i%10 == 0 {
			must(t, s.db.Flush())
		}
	}
	must(t, s.DeleteInbox(t.Context(), gone.KeyID, gone.ID))
	must(t, s.db.Flush())
	must(t, os.CopyFS(killed, os.DirFS(live)))
	found, err := inspect(vfs.Default, killed)
	must(t, err)
	must(t, s.Close())

	name := found.manifest
	size := len(found.edits)
	tests := map[string]func(dir string) error{
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, name)) },
		"removed with its marker": func(dir string) error {
			markers, err := filepath.Glob(filepath.Join(dir, markerPrefix+"*"))
			return errors.Join(err, os.Remove(markers[0]), os.Remove(filepath.Join(dir, name)))
		},
		"all but the copy": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, inventoryName)), os.Truncate(filepath.Join(dir, name), 0))
		},
		"older": func(dir string) error { return os.Truncate(filepath.Join(dir, name), int64(size)/2) },
	}
	for at := 0; at < size; at += max(1, size/8) {
		tests[fmt.Sprintf("flipped at %d", at)] = func(dir string) error {
			return edit(filepath.Join(dir, name), func(b []byte) []byte { b[at] ^= 0x10; return b })
		}
		tests[fmt.Sprintf("cut at %d", at)] = func(dir string) error { return os.Truncate(filepath.Join(dir, name), int64(at)) }
	}
	tests["short of a byte"] = func(dir string) error { return os.Truncate(filepath.Join(dir, name), int64(size)-1) }
	tests["short of the last edit"] = func(dir string) error { return os.Truncate(filepath.Join(dir, name), int64(size)-7) }
	for damage, do := range tests {
		t.Run(damage, func(t *testing.T) {
			dir, to := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "new")
			must(t, os.CopyFS(dir, os.DirFS(killed)))
			must(t, do(dir))
			before := digest(t, dir)
			if _, err := Open(dir, Options{Log: testLog(t)}); !errors.As(err, new(*DamageError)) || !strings.Contains(err.Error(), manifestPrefix) {
				t.Errorf("opened: %v", err)
			}
			if after := digest(t, dir); after != before {
				t.Errorf("the folder was changed: %s\nit was %s", after, before)
			}
			r, err := Repair(t.Context(), dir, to)
			must(t, err)
			if r.Messages != messages || r.LostMessages != 0 || r.Unknown {
				t.Errorf("repair says %+v", r)
			}
			s, err := Open(to, Options{Log: testLog(t)})
			must(t, err)
			if got := subjects(t, s, in); len(got) != messages {
				t.Errorf("%d messages", len(got))
			}
			if _, err := s.Inbox(t.Context(), gone.KeyID, gone.ID); service.ErrorCode(err) != service.NotFound {
				t.Errorf("the deleted inbox: %v", err)
			}
			must(t, s.Close())
		})
	}
}
