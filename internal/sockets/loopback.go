package sockets

import (
	"net/netip"
	"strings"
)

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
