//go:build unix

package server

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// socketPair returns the ends of a socket: one for this process, and a file for one that it starts.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("creating a socket: %w", err)
	}
	end, theirs := os.NewFile(uintptr(fds[0]), "sessions"), os.NewFile(uintptr(fds[1]), "service")
	defer end.Close()
	if ours, err = net.FileConn(end); err != nil {
		_ = theirs.Close()
		return nil, nil, fmt.Errorf("creating a socket: %w", err)
	}
	return ours, theirs, nil
}

const servesSSH = true
