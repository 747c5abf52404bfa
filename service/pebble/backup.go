package pebble

import (
	"context"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// Backup writes a copy of the store, as it is now, to a directory that does not exist yet. The
// store can be used meanwhile. Immutable files are linked if possible, so that a copy on the same
// disk takes next to no time. The copy is a store itself: it can be opened, or replace a lost one.
func (s *Store) Backup(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// The log, which is part of the copy, has everything that was acknowledged.
	if err := s.db.Checkpoint(dir, pebbledb.WithFlushedWAL()); err != nil {
		return fmt.Errorf("copy the store to %s: %w", dir, err)
	}
	if err := takeInventory(s.space, dir); err != nil {
		return fmt.Errorf("say what is in %s: %w", dir, err)
	}
	return nil
}
