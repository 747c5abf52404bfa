package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"mayfly/service"
)

// Restore creates a store from a backup, which it does not change. The directory of the store must
// not exist or be empty. It gets its name only once it is complete and has been opened.
func Restore(ctx context.Context, backup, store string) error {
	if isDatabase(store) {
		return errors.New("this store is a database: restore it with pg_restore or from a copy by pg_basebackup, or name a folder")
	}
	entries, err := os.ReadDir(store)
	switch {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("%s is not empty: move its content away first", store)
	case err == nil:
		err = os.Remove(store)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return fmt.Errorf("restoring to %s: %w", store, err)
	}
	if entries, err := os.ReadDir(backup); err != nil || len(entries) == 0 {
		return fmt.Errorf("%s is not a backup: it is not a folder with files", backup)
	}
	unfinished := store + ".restoring"
	err = copyStore(ctx, backup, unfinished)
	if err == nil {
		err = os.Rename(unfinished, store)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("restoring %s: %w", backup, err), os.RemoveAll(unfinished))
	}
	return nil
}

// copyStore copies a store, and opens the copy as a check.
func copyStore(ctx context.Context, from, to string) error {
	if err := privateDir(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	s, err := openStore(ctx, to, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	keys, err := service.New(s, service.Options{}).Keys(ctx)
	if err == nil && len(keys) == 0 {
		err = errors.New("it has no API keys, so it is not the backup of a service that was used")
	}
	return errors.Join(err, s.Close())
}
