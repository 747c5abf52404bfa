package pebble

import (
	"context"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
)

// Once everything has expired and no more mail comes, the disk space is freed, including that of
// logs.
func TestDiskSpaceIsFreed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(dir, Options{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		svc := service.New(s, service.Options{Domains: []string{"one.test"}})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() {
			if err := svc.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		_, key, err := svc.CreateKey(ctx, "", service.Enterprise)
		if err != nil {
			t.Fatal(err)
		}
		raw := make([]byte, 1<<20)
		noise := rand.NewChaCha8([32]byte{})
		for range 4 {
			in, err := svc.CreateInbox(ctx, key, service.NewInbox{TTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			to, err := svc.Recipient(ctx, in.Address)
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				noise.Read(raw) // never fails
				if err := svc.Deliver(ctx, service.Delivery{To: []service.Recipient{to}, Raw: raw}); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait() // for files that are being removed
		if size := diskUse(t, dir); size < 80<<20 {
			t.Fatalf("80 MB of mail take %d KB", size>>10)
		}

		// When idle, everything is in tables.
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if size := diskUse(t, dir); size < 80<<20 || size > 90<<20 {
			t.Errorf("80 MB of mail take %d KB when idle", size>>10)
		}

		time.Sleep(time.Hour)
		synctest.Wait()
		if size := diskUse(t, dir); size > 1<<20 {
			t.Errorf("an empty store takes %d KB", size>>10)
		}

		// The store still works.
		in, err := svc.CreateInbox(ctx, key, service.NewInbox{})
		if err != nil {
			t.Fatal(err)
		}
		to, err := svc.Recipient(ctx, in.Address)
		if err != nil {
			t.Fatal(err)
		}
		if err := svc.Deliver(ctx, service.Delivery{To: []service.Recipient{to}, Raw: raw}); err != nil {
			t.Fatal(err)
		}
	})
}

// diskUse returns the size of all files in a folder.
func diskUse(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
