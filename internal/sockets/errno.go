// Package sockets has what programs need to know of sockets on every system: errors, free ports.
package sockets

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

// IsError reports whether err is the error of a socket that Unix calls code.
func IsError(err error, code syscall.Errno) bool {
	return errors.Is(err, code) || errors.Is(err, winsock[code])
}
