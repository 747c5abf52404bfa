package smtp

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mayfly/service/limits"
)

// Server accepts connections and receives mail on them.
type Server struct {
	service  Service
	options  Options
	chaos    chaos
	budget   budget
	count    counters
	guesses  *limits.Guesses // of recipients
	sessions *limits.Sessions

	unavailable rate.Sometimes // limits how often an unavailable store is logged

	clients parties[netip.Prefix] // those with connections
	keys    parties[string]       // API keys with messages in flight, by ID
}

// parties are the addresses with connections, or the API keys with messages in flight.
type parties[K comparable] struct {
	mu  sync.Mutex
	all map[K]*party
}

// party is the connections from one address, or the messages for one API key, and what they share.
type party struct {
	members int
	share   share
}

// enter returns the share of a party, until leave.
func (p *parties[K]) enter(key K) *share {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[key]
	if one == nil {
		one = &party{}
		p.all[key] = one
	}
	one.members++
	return &one.share
}

func (p *parties[K]) leave(key K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[key]
	if one.members--; one.members == 0 {
		delete(p.all, key)
	}
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
		guesses:     limits.NewGuesses(o.MaxGuesses, o.Log, "recipients"),
		unavailable: rate.Sometimes{Interval: time.Minute},
		clients:     parties[netip.Prefix]{all: make(map[netip.Prefix]*party)},
		keys:        parties[string]{all: make(map[string]*party)},
	}
	s.sessions = limits.NewSessions(limits.SessionOptions{
		Protocol:      "SMTP",
		Max:           o.MaxConnections,
		MaxPerAddress: o.MaxConnectionsPerAddress,
		TooMany:       "421 4.3.2 " + o.Hostname + " Too many connections, try again later",
		Refused: func(perAddress bool) {
			if perAddress {
				s.count.refuse(PerAddress)
			} else {
				s.count.refuse(Connections)
			}
		},
		Log: o.Log,
	})
	if s.chaos, _ = parseChaos(o.Chaos); s.chaos != nil {
		o.Log.Warn("SMTP goes wrong on purpose", "chaos", o.Chaos)
	}
	return s, nil
}

// Serve accepts connections on l until Shutdown is called, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, false) }

// ServeTLS is Serve for connections that begin with a TLS handshake (RFC 8314). It needs Options.TLS.
func (s *Server) ServeTLS(l net.Listener) error { return s.accept(l, true) }

// manyConnections is how many there are before the memory of each matters more than a microsecond for
// each of their messages.
const manyConnections = 256

func (s *Server) accept(l net.Listener, implicitTLS bool) error {
	return s.sessions.Serve(l, implicitTLS, func(nc net.Conn, address netip.Prefix) {
		s.count.sessions.Add(1)
		c := newConn(s, nc)
		c.implicitTLS = implicitTLS
		if address.IsValid() {
			c.address, c.share = address, s.clients.enter(address)
		}
		c.oneOfMany = s.sessions.Len() > manyConnections
		c.serve()
	})
}

// Shutdown stops accepting connections, answers 421 to sessions that wait for their client, and
// waits for the messages that are being stored. If ctx ends first, it closes the remaining
// connections and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error { return s.sessions.Shutdown(ctx) }
