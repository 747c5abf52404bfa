package server

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// trusted reports whether a process of this user or of root is at the other end of a Unix socket.
func trusted(c net.Conn) bool {
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return failed == nil && err == nil && (peer.Uid == 0 || int(peer.Uid) == os.Geteuid())
}
