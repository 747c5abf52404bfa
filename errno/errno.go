// Package errno recognises the errors of sockets on every system.
package errno

import (
	"errors"
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

// Is reports whether err is the error of a socket that Unix calls code.
func Is(err error, code syscall.Errno) bool {
	return errors.Is(err, code) || errors.Is(err, winsock[code])
}
