//go:build unix

package local

import "syscall"

// ownSession puts a process in a session of its own, so that neither the terminal nor the shell of
// the process that starts it ends or stops it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
