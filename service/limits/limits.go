// Package limits bounds what clients of SMTP, POP3 and REST take: connections and wrong guesses by
// address, memory by API key.
package limits

import (
	"io"
	"net"
	"net/netip"
	"sync"
)

// Prefix returns what counts as one address: an IPv4 address or an IPv6 /64, of which one client can
// have all. It is the zero value for other transports.
func Prefix(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	return prefix(tcp.AddrPort().Addr())
}

// ParsePrefix is Prefix for an address in the form of http.Request.RemoteAddr.
func ParsePrefix(hostPort string) netip.Prefix {
	a, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix(a.Addr())
}

func prefix(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// addresses counts the connections from each address.
type addresses struct {
	max int // from one

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newAddresses(max int) *addresses {
	return &addresses{max: max, open: make(map[netip.Prefix]int)}
}

// enter counts a connection, unless its address has too many. Without an address there is no bound.
func (a *addresses) enter(p netip.Prefix) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !p.IsValid() {
		return true
	}
	if a.open[p] >= a.max {
		return false
	}
	a.open[p]++
	return true
}

// leave is called once for each connection that has entered.
func (a *addresses) leave(p netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !p.IsValid() {
		return
	}
	if a.open[p]--; a.open[p] == 0 {
		delete(a.open, p)
	}
}

// Limit bounds the connections that are open at a time from one address. One above the bound ends
// when it is first read: before, its address may not be known.
func Limit(l net.Listener, perAddress int) net.Listener {
	return &limitedListener{l, newAddresses(perAddress)}
}

type limitedListener struct {
	net.Listener
	addresses *addresses
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &limitedConn{Conn: c, addresses: l.addresses, leave: func() {}}, nil
}

type limitedConn struct {
	net.Conn
	addresses *addresses
	first     sync.Once // Read or Close
	ended     bool      // there are too many, or it was closed before it was read
	leave     func()
}

// Read implements net.Conn.
func (c *limitedConn) Read(b []byte) (int, error) {
	address := Prefix(c.RemoteAddr()) // it may wait for the name of a balancer's client
	c.first.Do(func() {
		if c.ended = !c.addresses.enter(address); !c.ended {
			c.leave = sync.OnceFunc(func() { c.addresses.leave(address) })
		}
	})
	if c.ended {
		return 0, io.EOF
	}
	return c.Conn.Read(b)
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.first.Do(func() { c.ended = true })
	c.leave()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, if the transport can.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
