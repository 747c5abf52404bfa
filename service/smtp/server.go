package smtp

import (
	"context"
	"net"
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"mayfly/service/limits"
)

// Server accepts connections and receives mail on them.
type Server struct {
	service  Service
	options  Options
	chaos    chaos
	memory   *limits.Memory // for messages in flight
	count    metrics
	guesses  *limits.Guesses // of recipients
	sessions *limits.Sessions

	unavailable rate.Sometimes // limits how often an unavailable store is logged
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
		memory:      limits.NewMemory(o.MaxInFlightBytes),
		guesses:     limits.NewGuesses(o.MaxGuesses, o.Log, "recipients"),
		unavailable: rate.Sometimes{Interval: time.Minute},
	}
	s.sessions = limits.NewSessions(limits.SessionOptions{
		Protocol:      "SMTP",
		Max:           o.MaxConnections,
		MaxPerAddress: o.MaxConnectionsPerAddress,
		TooMany:       "421 4.3.2 " + o.Hostname + " Too many connections, try again later",
		Refused: func(byAddress bool) {
			if byAddress {
				s.count.refuse(perAddress)
			} else {
				s.count.refuse(connections)
			}
		},
		Log: o.Log,
	})
	s.count = newMetrics(s)
	if s.chaos, _ = parseChaos(o.Chaos); s.chaos != nil {
		o.Log.Warn("SMTP goes wrong on purpose", "chaos", o.Chaos)
		for _, faults := range s.chaos {
			for _, f := range faults {
				f.occurred = s.count.faults.WithLabelValues(f.rule)
			}
		}
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
		s.count.sessions.Inc()
		c := newConn(s, nc)
		c.implicitTLS, c.address = implicitTLS, address
		c.oneOfMany = s.sessions.Len() > manyConnections
		c.serve()
	})
}

// Shutdown stops accepting connections, answers 421 to sessions that wait for their client, and
// waits for the messages that are being stored. If ctx ends first, it closes the remaining
// connections and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error { return s.sessions.Shutdown(ctx) }
