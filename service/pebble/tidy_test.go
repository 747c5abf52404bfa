package pebble

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Once everything has expired and no more mail comes, the disk space is freed, including that of
// logs.
func TestDiskSpaceIsFreed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, dir, Options{})
		raw := make([]byte, 1<<20)
		noise := rand.NewChaCha8([32]byte{})
		// A body of several messages is there once.
		for _, name := range []string{"one", "two", "three", "four"} {
			in, other, more := testInbox(t, s, name), testInbox(t, s, name+"b"), testInbox(t, s, name+"c")
			for i := range 10 {
				noise.Read(raw) // never fails
				a := delivery(in, raw)
				if i%2 == 0 {
					a.Messages = append(a.Messages, slices.Concat(delivery(other, nil).Messages, delivery(more, nil).Messages)...)
				}
				must(t, s.Append(t.Context(), a))
			}
			must(t, s.DeleteInbox(t.Context(), other.KeyID, other.ID))
		}
		synctest.Wait() // for files that are being removed
		if size := diskUse(t, dir); size < 40<<20 {
			t.Fatalf("40 MB of mail take %d KB", size>>10)
		}

		// When idle, everything is in tables, even if a balancer asks whether it can be written.
		for range 60 {
			time.Sleep(10 * time.Second)
			must(t, s.Ready(t.Context()))
		}
		synctest.Wait()
		if size := diskUse(t, dir); size < 40<<20 || size > 45<<20 {
			t.Errorf("40 MB of mail take %d KB when idle", size>>10)
		}

		if n := checkShares(t, s); n != 20 {
			t.Errorf("%d bodies of several messages, want 20", n)
		}
		swept, err := s.Sweep(t.Context(), noon.Add(time.Hour), 10)
		must(t, err)
		if n := checkShares(t, s); len(swept.Inboxes) != 8 || n != 0 {
			t.Errorf("%d inboxes were swept", len(swept.Inboxes))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if size := diskUse(t, dir); size > 1<<20 {
			t.Errorf("an empty store takes %d KB", size>>10)
		}
		must(t, s.Append(t.Context(), delivery(testInbox(t, s, "new"), raw)))
		must(t, s.Close())
	})
}

func diskUse(t *testing.T, dir string) (size int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	}))
	return size
}
