package smtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"mayfly/service/clients"
)

// Server accepts connections and receives mail on them.
type Server struct {
	service Service
	options Options
	budget  budget
	count   counters
	guesses *clients.Guesses // of recipients

	unavailable rate.Sometimes // limits how often an unavailable store is logged

	ctx      context.Context // for calls of the service; ends when a shutdown runs out of time
	cancel   context.CancelFunc
	draining atomic.Bool

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	clients   map[netip.Prefix]*party // those with connections
	keys      map[string]*party       // API keys with messages in flight, by ID
	running   sync.WaitGroup          // connections
}

// party is the connections from one address, or the messages for one API key, and what they share.
type party struct {
	members int
	share   share
}

func enter[K comparable](parties map[K]*party, key K) *share {
	p := parties[key]
	if p == nil {
		p = &party{}
		parties[key] = p
	}
	p.members++
	return &p.share
}

func leave[K comparable](parties map[K]*party, key K) {
	p := parties[key]
	if p.members--; p.members == 0 {
		delete(parties, key)
	}
}

// enterKey returns the share of the messages in flight for a key, until leaveKey.
func (s *Server) enterKey(id string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	return enter(s.keys, id)
}

func (s *Server) leaveKey(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	leave(s.keys, id)
}

// New returns a server. The error says which options are wrong.
func New(svc Service, o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Server{
		service:     svc,
		options:     o,
		budget:      budget{limit: o.MaxInFlightBytes},
		guesses:     clients.NewGuesses(o.MaxGuesses, o.Log, "recipients"),
		unavailable: rate.Sometimes{Interval: time.Minute},
		listeners:   make(map[net.Listener]struct{}),
		conns:       make(map[*conn]struct{}),
		clients:     make(map[netip.Prefix]*party),
		keys:        make(map[string]*party),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Serve accepts connections on l until Shutdown is called, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, false) }

// ServeTLS is Serve for connections that begin with a TLS handshake (RFC 8314). It needs Options.TLS.
func (s *Server) ServeTLS(l net.Listener) error { return s.accept(l, true) }

func (s *Server) accept(l net.Listener, implicitTLS bool) error {
	defer l.Close()
	if !s.addListener(l) {
		return nil
	}
	defer s.removeListener(l)
	var delay time.Duration
	seldom := rate.Sometimes{Interval: time.Minute} // for the log
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			delay = 0
			s.admit(nc, implicitTLS)
		case s.draining.Load():
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accepting SMTP connections: %w", err)
		default: // out of file descriptors, or the client has left already
			delay = min(max(2*delay, 5*time.Millisecond), time.Second)
			seldom.Do(func() { s.options.Log.Warn("SMTP connections are not accepted", "error", err) })
			select {
			case <-time.After(delay):
			case <-s.ctx.Done():
			}
		}
	}
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) removeListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// admit starts a session on nc if the limits allow it.
func (s *Server) admit(nc net.Conn, implicitTLS bool) {
	c := newConn(s, nc)
	c.implicitTLS = implicitTLS
	if !s.register(c) {
		s.turnAway(c, Connections)
		return
	}
	go func() {
		// If a balancer says what it is, this reads the connection.
		if !s.join(c, clients.Prefix(nc.RemoteAddr())) {
			s.turnAway(c, PerAddress)
			s.unregister(c)
			return
		}
		c.serve()
	}()
}

func (s *Server) turnAway(c *conn, reason Reason) {
	s.count.refuse(reason)
	if !c.implicitTLS {
		// A balancer's connection is read for the name of the client before. The few octets fit into the
		// socket's buffer: the deadline to write them is for a transport without one, and long enough
		// for a busy machine.
		c.raw.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		c.raw.SetWriteDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(c.raw, "421 4.3.2 %s Too many connections, try again later\r\n", s.options.Hostname)
	}
	c.raw.Close()
}

// manyConnections is how many there are before the memory of each matters more than a microsecond for
// each of their messages.
const manyConnections = 256

// register adds a connection, unless there are too many.
func (s *Server) register(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() || len(s.conns) >= s.options.MaxConnections {
		return false
	}
	c.oneOfMany = len(s.conns) >= manyConnections
	s.conns[c] = struct{}{}
	s.running.Add(1)
	return true
}

// join adds a registered connection to those from its address, unless there are too many.
func (s *Server) join(c *conn, address netip.Prefix) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if address.IsValid() {
		if from := s.clients[address]; from != nil && from.members >= s.options.MaxConnectionsPerAddress {
			return false
		}
		c.address, c.share = address, enter(s.clients, address)
	}
	s.count.sessions.Add(1)
	return true
}

func (s *Server) unregister(c *conn) {
	defer s.running.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if c.address.IsValid() {
		leave(s.clients, c.address)
	}
}

// Shutdown stops accepting connections, answers 421 to sessions that wait for their client, and
// waits for the messages that are being stored. If ctx ends first, it closes the remaining
// connections and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.interrupt()
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
	for c := range s.conns {
		c.raw.Close()
	}
	s.mu.Unlock()
	<-done
	return fmt.Errorf("SMTP sessions cut off: %w", ctx.Err())
}
