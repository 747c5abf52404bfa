//go:build unix

package server

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFiles returns how many files this process can have open.
func openFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // the usual minimum
	}
	return int(min(uint64(limit.Cur), 1<<20))
}

// exposed reports whether a file of this user can be read by all users. That a container may read
// another's file, such as a secret, is intended.
func exposed(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o004 != 0
}
