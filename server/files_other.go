//go:build !unix

package server

// openFiles returns how many files this process can have open. Here, the system has no practical
// limit.
func openFiles() int { return 1 << 20 }
