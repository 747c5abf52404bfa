package limits

import (
	"io"
	"net"
	"net/netip"
	"sync"
)

// Limit bounds the connections that are open at a time from one address. One above the bound ends
// when it is first read: before, its address may not be known.
func Limit(l net.Listener, perAddress int) net.Listener {
	return &limitedListener{Listener: l, perAddress: perAddress, open: make(map[netip.Prefix]int)}
}

type limitedListener struct {
	net.Listener
	perAddress int

	mu   sync.Mutex
	open map[netip.Prefix]int
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &limitedConn{Conn: c, listener: l}, nil
}

func (l *limitedListener) enter(p netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p] >= l.perAddress {
		return false
	}
	l.open[p]++
	return true
}

func (l *limitedListener) leave(p netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[p]--; l.open[p] == 0 {
		delete(l.open, p)
	}
}

type limitedConn struct {
	net.Conn
	listener *limitedListener

	mu      sync.Mutex
	address netip.Prefix // valid while it is counted
	known   bool         // whether it was looked at; true after Close
	err     error        // io.EOF if there are too many
}

// Read implements net.Conn.
func (c *limitedConn) Read(b []byte) (int, error) {
	if err := c.enter(); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *limitedConn) enter() error {
	address := Prefix(c.RemoteAddr())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		return c.err
	}
	c.known = true
	if !address.IsValid() {
		return nil
	}
	if !c.listener.enter(address) {
		c.err = io.EOF
		return c.err
	}
	c.address = address
	return nil
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.mu.Lock()
	if c.address.IsValid() {
		c.listener.leave(c.address)
	}
	c.address, c.known = netip.Prefix{}, true
	c.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends what is sent, if the transport can.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
