//go:build unix

package rest

import (
	"errors"
	"net"
	"syscall"
)

// gone reports whether the peer of a connection has closed it. It reads nothing and does not wait.
func gone(c net.Conn) bool {
	for {
		outer, ok := c.(interface{ NetConn() net.Conn }) // as *tls.Conn is
		if !ok {
			break
		}
		c = outer.NetConn()
	}
	plain, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return false // closed by us, or not a connection of the system
	}
	var n int
	var b [1]byte
	failed := raw.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		return false
	}
	return failed != nil || err != nil || n == 0
}
