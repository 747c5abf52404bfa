package pebble

import (
	"math/rand/v2"
	"sync"
)

// versions counts the changes of each key's list of inboxes, starting at a random number, so that
// no version from before a restart is valid after it.
type versions struct {
	start   uint64
	mu      sync.Mutex
	changes map[string]uint64
}

func newVersions() *versions {
	return &versions{start: rand.Uint64(), changes: make(map[string]uint64)}
}

func (v *versions) bump(keyID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changes[keyID]++
}

func (v *versions) of(keyID string) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.start + v.changes[keyID]
}
