package server

import (
	"context"
	"errors"

	"mayfly/service/pebble"
)

// StoreReport says what can be read of a store.
type StoreReport = pebble.Report

// CheckStore reads all of the store in a directory, which no process may have open, and changes
// nothing there.
func CheckStore(ctx context.Context, dir string) (StoreReport, error) {
	if isDatabase(dir) {
		return StoreReport{}, errNoFolder
	}
	return pebble.Check(ctx, dir)
}

// RepairStore makes a new store in a directory that does not exist yet of what can be read of
// another store, which no process may have open and which it does not change.
func RepairStore(ctx context.Context, dir, to string) (StoreReport, error) {
	if isDatabase(dir) || isDatabase(to) {
		return StoreReport{}, errNoFolder
	}
	return pebble.Repair(ctx, dir, to)
}

var errNoFolder = errors.New("a database is checked and repaired with PostgreSQL's own tools: name a folder")
