//go:build !linux

package server

import "net"

// trusted reports true: here only the owner and the mode of the socket tell who is at the other end.
func trusted(net.Conn) bool { return true }
