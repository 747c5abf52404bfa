//go:build unix

package systemd

import (
	"net"
	"syscall"
)

// Keep has systemd keep a listening socket under a name, and pass it on when the service is started again: meanwhile
// connections wait instead of being refused. Its unit says how many sockets it keeps.
func Keep(name string, l net.Listener) error {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := raw.Control(func(fd uintptr) {
		sent = notify("FDSTORE=1\nFDNAME="+name, syscall.UnixRights(int(fd)))
	}); err != nil {
		return err
	}
	return sent
}
