// Package limits bounds what clients of SMTP, POP3 and REST take: connections and wrong guesses by
// address, memory and requests that wait by API key.
package limits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
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

// Count counts what is open, such as connections or requests, in all and for each K, such as an address
// or an API key. It is safe for concurrent use.
type Count[K comparable] struct {
	max, maxOfEach int

	mu    sync.Mutex
	total int
	open  map[K]int // without zeros
}

// NewCount returns a counter that allows max in all, and for each K maxOfEach.
func NewCount[K comparable](max, maxOfEach int) *Count[K] {
	return &Count[K]{max: max, maxOfEach: maxOfEach, open: make(map[K]int)}
}

// Acquire counts one more, unless a bound is reached. Those of the zero K, such as no address, are not counted.
func (c *Count[K]) Acquire(of K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of == *new(K) {
		return true
	}
	if c.total >= c.max || c.open[of] >= c.maxOfEach {
		return false
	}
	c.total++
	c.open[of]++
	return true
}

// Release is called once for each that has entered.
func (c *Count[K]) Release(of K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of == *new(K) {
		return
	}
	c.total--
	if c.open[of]--; c.open[of] == 0 {
		delete(c.open, of)
	}
}

// Len returns how many are open.
func (c *Count[K]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Limit bounds the connections that are open at a time from one address. One above the bound ends
// when it is first read: before, its address may not be known.
func Limit(l net.Listener, perAddress int) net.Listener {
	return &limitedListener{l, NewCount[netip.Prefix](math.MaxInt, perAddress)}
}

type limitedListener struct {
	net.Listener
	addresses *Count[netip.Prefix]
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
	addresses *Count[netip.Prefix]
	first     sync.Once // Read or Close
	ended     bool      // there are too many, or it was closed before it was read
	leave     func()
}

// Read implements net.Conn.
func (c *limitedConn) Read(b []byte) (int, error) {
	address := Prefix(c.RemoteAddr()) // it may wait for the name of a balancer's client
	c.first.Do(func() {
		if c.ended = !c.addresses.Acquire(address); !c.ended {
			c.leave = sync.OnceFunc(func() { c.addresses.Release(address) })
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

// SessionOptions are the settings of Sessions.
type SessionOptions struct {
	Protocol      string                // named in errors and in the log
	Max           int                   // connections at a time
	MaxPerAddress int                   // of them, from one address
	TooMany       string                // the line that a connection above these limits gets
	Refused       func(perAddress bool) // counts such a connection; may be nil
	Log           *slog.Logger
}

// Sessions are the connections to a server whose protocol has sessions. It is safe for concurrent use.
type Sessions struct {
	options       SessionOptions
	ctx, draining context.Context // draining ends when a shutdown begins, once no connection comes any more
	cancel, drain context.CancelFunc
	closing       context.Context // ends when no more connections are to be accepted
	close         context.CancelFunc
	accepting     sync.WaitGroup // calls of Serve

	mu        sync.Mutex
	grace     time.Time                 // see Grace
	conns     map[net.Conn]netip.Prefix // zero unless it is counted
	addresses *Count[netip.Prefix]
	running   sync.WaitGroup // connections
}

// NewSessions returns the sessions of a server that has none yet.
func NewSessions(o SessionOptions) *Sessions {
	s := &Sessions{
		options:   o,
		conns:     make(map[net.Conn]netip.Prefix),
		addresses: NewCount[netip.Prefix](math.MaxInt, o.MaxPerAddress),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.draining, s.drain = context.WithCancel(s.ctx)
	s.closing, s.close = context.WithCancel(s.ctx)
	return s
}

// Context ends when a shutdown has ended or runs out of time.
func (s *Sessions) Context() context.Context { return s.ctx }

// Draining reports whether the server shuts down: sessions have to end.
func (s *Sessions) Draining() bool { return s.draining.Err() != nil }

// graceTime is how long a shutdown lets sessions complete what they have begun.
const graceTime = 10 * time.Second

// Grace returns until when a session may complete what it has begun, once Draining.
func (s *Sessions) Grace() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.grace
}

// Stopping is closed when the server begins to shut down.
func (s *Sessions) Stopping() <-chan struct{} { return s.draining.Done() }

// Len returns how many connections are open.
func (s *Sessions) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Serve accepts connections on l until Shutdown is called, and then returns nil. It closes l. Each
// connection within the limits gets a goroutine that runs session with its address; session calls Leave
// at its end. With silent, connections above the limits are closed without a line, as those have to be
// that begin with a TLS handshake.
func (s *Sessions) Serve(l net.Listener, silent bool, session func(net.Conn, netip.Prefix)) error {
	defer l.Close()
	s.mu.Lock()
	if s.closing.Err() != nil {
		s.mu.Unlock()
		return nil
	}
	s.accepting.Add(1)
	s.mu.Unlock()
	defer s.accepting.Done()
	defer context.AfterFunc(s.closing, func() { l.Close() })()
	var delay time.Duration
	seldom := rate.Sometimes{Interval: time.Minute} // for the log
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			delay = 0
			s.admit(nc, silent, session)
		case s.closing.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accepting %s connections: %w", s.options.Protocol, err)
		default: // out of file descriptors, or the client has left already
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			seldom.Do(func() { s.options.Log.Warn(s.options.Protocol+" connections are not accepted", "error", err) })
			select {
			case <-time.After(delay):
			case <-s.closing.Done():
			}
		}
	}
}

func (s *Sessions) admit(nc net.Conn, silent bool, session func(net.Conn, netip.Prefix)) {
	if !s.Enter(nc) {
		s.turnAway(nc, silent, false)
		return
	}
	go func() {
		// If a balancer says what it is, this reads the connection.
		address := Prefix(nc.RemoteAddr())
		if !s.join(nc, address) {
			s.turnAway(nc, silent, true)
			s.Leave(nc)
			return
		}
		session(nc, address)
	}()
}

func (s *Sessions) turnAway(nc net.Conn, silent, perAddress bool) {
	if s.options.Refused != nil {
		s.options.Refused(perAddress)
	}
	if !silent {
		// A balancer's connection is read for the name of the client before. The few octets fit into the
		// socket's buffer: the deadline to write them is for a transport without one, and long enough
		// for a busy machine.
		nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		nc.SetWriteDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(nc, "%s\r\n", s.options.TooMany)
	}
	nc.Close()
}

// Enter adds a connection, unless there are too many.
func (s *Sessions) Enter(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Draining() || len(s.conns) >= s.options.Max {
		return false
	}
	s.conns[nc] = netip.Prefix{}
	s.running.Add(1)
	return true
}

// join counts a connection that has entered to those from its address, unless there are too many.
func (s *Sessions) join(nc net.Conn, address netip.Prefix) bool {
	if !s.addresses.Acquire(address) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[nc] = address
	return true
}

// Leave removes a connection that has entered, when its session has ended.
func (s *Sessions) Leave(nc net.Conn) {
	defer s.running.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses.Release(s.conns[nc])
	delete(s.conns, nc)
}

// SetReadDeadline sets the read deadline of a connection, which Shutdown makes pass.
func (s *Sessions) SetReadDeadline(nc net.Conn, t time.Time) {
	nc.SetReadDeadline(t)
	if s.Draining() { // it may have begun just before
		interrupt(nc)
	}
}

// interrupt ends a read that waits for the client.
func interrupt(nc net.Conn) { nc.SetReadDeadline(time.Unix(1, 0)) }

// Shutdown stops accepting connections, ends the reads of sessions that wait for their client, and
// waits for the sessions. If ctx ends first, it closes the remaining connections and returns ctx's
// error.
func (s *Sessions) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.close()
	s.mu.Unlock()
	s.accepting.Wait() // a connection that was accepted is served
	s.mu.Lock()
	s.grace = time.Now().Add(graceTime)
	s.drain()
	for nc := range s.conns {
		interrupt(nc)
	}
	s.mu.Unlock()

	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		s.cancel()
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	s.mu.Lock()
	for nc := range s.conns {
		nc.Close()
	}
	s.mu.Unlock()
	<-done
	return fmt.Errorf("%s sessions cut off: %w", s.options.Protocol, ctx.Err())
}

// Linger gives the client time to read the last reply. Closing a socket with unread input would
// reset the connection, and the reply could be lost.
func Linger(nc net.Conn) {
	if half, ok := nc.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		nc.SetReadDeadline(time.Now().Add(time.Second))
		io.CopyN(io.Discard, nc, 1<<20)
	}
}

// IsTLS reports whether a line begins as a TLS handshake does (RFC 8446, section 5.1), and no command. What follows may
// contain line breaks anywhere, or none.
func IsTLS(line []byte) bool { return len(line) > 0 && line[0] == 0x16 }

// IsHTTP reports whether the first word of a line, in upper case, is that of HTTP: a method, or the name of a
// header field. A web page can make a browser send commands to any port in the body of a request.
func IsHTTP(word string) bool {
	switch word {
	case "GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "PATCH", "DELETE", "TRACE", "PRI":
		return true
	}
	return strings.HasSuffix(word, ":")
}
