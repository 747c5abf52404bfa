package host

import (
	"runtime/debug"
	"sync/atomic"
)

// Shared is set in a process with the applications of many users.
var Shared atomic.Bool

// FreeMemory returns memory to the system: the collector may not run for minutes. It stops the process for a moment, which is no
// user's to do to others.
func FreeMemory() {
	if !Shared.Load() {
		debug.FreeOSMemory()
	}
}
