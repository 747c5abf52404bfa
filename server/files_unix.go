//go:build unix

package server

import "golang.org/x/sys/unix"

// openFiles returns how many files this process can have open.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // the usual minimum
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
