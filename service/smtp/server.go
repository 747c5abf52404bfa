package smtp

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
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

// A reason says why something was refused, as a label of a metric.
type reason string

const (
	unknownRecipient  reason = "unknown_recipient"
	guesses           reason = "guesses" // too many unknown recipients from an address
	overQuota         reason = "over_quota"
	tooManyRecipients reason = "too_many_recipients"
	tooBig            reason = "message_too_big"
	lineTooLong       reason = "line_too_long"
	ambiguousEnd      reason = "ambiguous_end_of_data"
	busy              reason = "busy" // the memory for messages in flight is used up
	storageFull       reason = "storage_full"
	storageFailed     reason = "storage_failed"
	badCommand        reason = "bad_command"
	tooManyErrors     reason = "too_many_errors"
	tooManyMessages   reason = "too_many_messages"
	connections       reason = "connections"
	perAddress        reason = "connections_per_address"
	timedOut          reason = "timed_out"
)

// metrics are what a server counts.
type metrics struct {
	sessions, accepted, acceptedBytes prometheus.Counter
	delivering                        prometheus.Gauge
	refused, faults                   *prometheus.CounterVec
}

func newMetrics(s *Server) metrics {
	with := promauto.With(s.options.Metrics)
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string, value func() float64) {
		with.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("mayfly_smtp_connections", "SMTP connections that are open.", func() float64 { return float64(s.sessions.Len()) })
	gauge("mayfly_smtp_in_flight_bytes", "Memory of messages not yet stored.", func() float64 { return float64(s.memory.Used()) })
	m := metrics{
		sessions:      counter("mayfly_smtp_sessions_total", "SMTP sessions started."),
		accepted:      counter("mayfly_smtp_accepted_total", "Messages accepted and stored."),
		acceptedBytes: counter("mayfly_smtp_accepted_bytes_total", "Bytes of accepted messages."),
		delivering:    with.NewGauge(prometheus.GaugeOpts{Name: "mayfly_smtp_delivering", Help: "Messages that are being stored."}),
		refused: with.NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_smtp_refused_total", Help: "Commands, messages and connections refused, by reason.",
		}, []string{"reason"}),
		faults: with.NewCounterVec(prometheus.CounterOpts{Name: "mayfly_smtp_chaos_total", Help: "Faults on purpose, by rule."}, []string{"rule"}),
	}
	for _, r := range []reason{unknownRecipient, guesses, overQuota, tooManyRecipients, tooBig, lineTooLong, ambiguousEnd, busy, storageFull,
		storageFailed, badCommand, tooManyErrors, tooManyMessages, connections, perAddress, timedOut} {
		m.refused.WithLabelValues(string(r)) // shown as 0 from the start
	}
	return m
}

func (m *metrics) refuse(r reason) { m.refused.WithLabelValues(string(r)).Inc() }
