// Package sockets has what programs need to know of sockets on every system: errors, free ports.
package sockets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
)

// winsock has the numbers by which Windows knows the errors of sockets. Those in syscall are made up there.
var winsock = map[syscall.Errno]syscall.Errno{
	syscall.EADDRINUSE:   10048,
	syscall.ENETUNREACH:  10051,
	syscall.ECONNRESET:   10054,
	syscall.ECONNREFUSED: 10061,
	syscall.EHOSTUNREACH: 10065,
}

// IsError reports whether err is the error of a socket that Unix calls code.
func IsError(err error, code syscall.Errno) bool {
	return errors.Is(err, code) || errors.Is(err, winsock[code])
}

// IsLoopback reports whether a host, a name or an IP address, is this machine itself.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// IsLoopbackAddress reports whether an address is an IP address of this machine itself and a port.
func IsLoopbackAddress(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// The ports that FreePort returns are below the ephemeral ones of Linux, macOS and Windows, so that no connection and no
// listener on port 0 takes one before its server does, or while that server is stopped.
const first, last = 15_000, 32_000

var given sync.Map

// FreePort returns a port of the loopback interface on which nothing listens. It returns each port once
// per process.
func FreePort() (int, error) {
	var failed error
	for range 100 {
		port := first + rand.IntN(last-first)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			failed = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("find a free port: %w", failed)
}

// Address returns the address host:port of a port of the loopback interface.
func Address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
