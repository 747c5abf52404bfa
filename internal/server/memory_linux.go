package server

import "golang.org/x/sys/unix"

// spareMemory is what a process may allocate beyond its limit between two looks at its memory.
const spareMemory = 512 << 20

// limitMemory stops this process if it allocates so much at once that nobody has looked.
func limitMemory(most int64) {
	limit := uint64(most) + spareMemory
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}) // it lowers one, which is always allowed
}
