package rest

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"mayfly/service"
)

// A request that is held would keep what net/http needs for a request, some 30 KB in buffers and stacks. So it is
// parked: its connection is taken from net/http, which forgets all about it, and when the wait is over the connection
// is given back as if it were a new one on which the same request arrives. What is kept meanwhile is the connection,
// the few bytes of the request, and a goroutine that waits.

// parking is what is known of requests that are parked.
type parking struct {
	mu       sync.Mutex
	closed   bool // nothing is parked any more
	parked   int
	waits    sync.WaitGroup // of the parked, until a handler has them again
	returned returnedConns

	held     map[*resumedConn]context.CancelFunc
	sweepers sync.WaitGroup
	idle     chan struct{} // closed when nothing is held, which ends the sweeper
}

// sweepEvery is how often the parked connections are looked at: a client that leaves frees its place that soon.
const sweepEvery = time.Second

// resumedConn is a connection that was parked. The bytes in pending are read before those that are still to come.
type resumedConn struct {
	net.Conn
	pending []byte
	resumed *resumed // for the first request on it, then nil
}

// resumed is what a request knows of itself from before it was parked.
type resumed struct {
	quota   service.Quota
	since   time.Time
	changed bool // what it waited for has changed
}

func (c *resumedConn) Read(b []byte) (int, error) {
	if len(c.pending) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.pending)
	if c.pending = c.pending[n:]; len(c.pending) == 0 {
		c.pending = nil
	}
	return n, nil
}

type resumedKey struct{}

// connContext lets the requests of a connection know that it was parked.
func connContext(ctx context.Context, c net.Conn) context.Context {
	if r, ok := c.(*resumedConn); ok {
		return context.WithValue(ctx, resumedKey{}, r)
	}
	return ctx
}

// takeResumed returns what was known of the request before it was parked, nil for any other.
func takeResumed(ctx context.Context) *resumed {
	c, ok := ctx.Value(resumedKey{}).(*resumedConn)
	if !ok {
		return nil
	}
	r := c.resumed
	c.resumed = nil // the requests of a connection come one after the other
	return r
}

// park takes the request out of net/http until wait returns, for most at most. It refuses when too many are parked
// already, when the server stops, and when the connection cannot be taken; the request is to be answered then.
func (s *Server) park(w *response, r *http.Request, most time.Duration, wait func(context.Context) (bool, error)) bool {
	if r.Body != http.NoBody || !s.parking.enter(s.options.MaxHeld) {
		return false
	}
	request := replay(r)
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		s.parking.leave()
		s.parking.waits.Done()
		return false
	}
	w.parked = true
	if c, ok := conn.(*resumedConn); ok {
		conn = c.Conn
	}
	held := &resumedConn{Conn: conn, pending: append(request, rest(buffered.Reader)...), resumed: &resumed{quota: w.quota, since: time.Now()}}
	go func() {
		if !s.wait(held, most, wait) {
			s.parking.waits.Done()
		}
	}()
	return true
}

// replay is a request as it could have been sent.
func replay(r *http.Request) []byte {
	var b bytes.Buffer
	b.WriteString(r.Method + " " + r.RequestURI + " " + r.Proto + "\r\nHost: " + r.Host + "\r\n")
	_ = r.Header.Write(&b) // a buffer takes it all
	b.WriteString("\r\n")
	return bytes.Clone(b.Bytes())
}

// rest is what the client has sent beyond its request.
func rest(r *bufio.Reader) []byte {
	b, _ := r.Peek(r.Buffered()) // it is in the buffer
	return b
}

// wait waits and gives the connection back, at once when the client has left.
func (s *Server) wait(c *resumedConn, most time.Duration, wait func(context.Context) (bool, error)) bool {
	ctx, cancel := context.WithTimeout(s.draining, most)
	defer cancel()
	s.parking.watch(c, cancel)
	defer s.parking.forget(c)
	// The request comes to the same error again, if it is one.
	c.resumed.changed, _ = wait(ctx)
	s.parking.leave()
	return s.parking.returned.put(c)
}

// enter counts a request that is parked, unless there are too many.
func (p *parking) enter(most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.parked >= most {
		return false
	}
	p.parked++
	p.waits.Add(1)
	return true
}

// watch has the connection looked at until it is forgotten; cancel is called when its client has left. One goroutine
// looks at all of them, and only while there are any.
func (p *parking) watch(c *resumedConn, cancel context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) == 0 {
		p.held = make(map[*resumedConn]context.CancelFunc)
		idle := make(chan struct{})
		p.idle = idle
		p.sweepers.Go(func() { p.sweep(idle) })
	}
	p.held[c] = cancel
}

func (p *parking) forget(c *resumedConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, c)
	if len(p.held) == 0 {
		close(p.idle)
	}
}

func (p *parking) sweep(idle <-chan struct{}) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-idle:
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		for c, cancel := range p.held { // a microsecond each
			if gone(c.Conn) {
				cancel()
			}
		}
		p.mu.Unlock()
	}
}

func (p *parking) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parked--
}

func (p *parking) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parked
}

// close lets no more requests in.
func (p *parking) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// empty waits until handlers have all requests that were parked: net/http, once it shuts down, drops those that have
// not got that far. They all get there when their waits end, unless something is broken, and then ctx ends.
func (p *parking) empty(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.waits.Wait()
		p.sweepers.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// returnedConns is the listener by which connections come back to net/http.
type returnedConns struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *returnedConns) put(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.closed:
		_ = c.Close() // nobody is left to answer
		return false
	}
}

// Accept implements net.Listener.
func (l *returnedConns) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *returnedConns) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *returnedConns) Addr() net.Addr { return &net.UnixAddr{Name: "returned", Net: "unix"} }
