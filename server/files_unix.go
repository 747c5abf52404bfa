//go:build unix

package server

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // what POSIX systems have at the least
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
