package pebble

import (
	"context"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// Backup writes a copy of the store, as it is now, into a directory that does not exist yet. The store is served on
// meanwhile. Files that do not change are linked where the file system can, so that a copy on the same disk is made at
// once. The copy is a store: [Open] it, or put it in the place of a lost one.
func (s *Store) Backup(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// All that was acknowledged is in the log on disk, which is part of the copy; flushing it takes in what is written now.
	if err := s.db.Checkpoint(dir, pebbledb.WithFlushedWAL()); err != nil {
		return fmt.Errorf("copy the store to %s: %w", dir, err)
	}
	return nil
}
