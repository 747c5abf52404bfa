// Package smtp is the SMTP server of the service. It accepts mail only for inboxes that exist, and
// never relays (RFC 5321, with PIPELINING, 8BITMIME, SMTPUTF8, SIZE, STARTTLS, AUTH and
// ENHANCEDSTATUSCODES).
//
// A message is answered with 250 only after [Service.Deliver] has returned, when it is on disk. It
// is stored byte for byte as it was sent, with dots unstuffed. No Received or Return-Path field is
// added, since testers compare what they sent with what they got.
//
// The package implements the protocol itself to guarantee what libraries do not: only CRLF.CRLF ends
// a message, and one with any other line of a lone dot is refused, so that no two servers can disagree
// on where it ends; a line of any length takes no memory; connections, sessions and the memory for
// messages in flight are bounded. It reads blocks instead of octets, which leaves most of the time for
// storing. github.com/emersion/go-smtp 0.25.1 before the same store, with 64 connections, takes in 0.7
// times as many messages of 2 KB a second, and 0.4 times as many of 50 KB. It stores messages with lone
// dots between other line breaks, drops the CR in CRLF "." CR "x", takes command lines that end in LF,
// refuses senders without a domain, and its Shutdown waits for idle clients.
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"mayfly/service"
	"mayfly/service/limits"
)

// Service is what the server needs of [service.Service].
type Service interface {
	// Recipient resolves an envelope recipient of a session that the key with an ID logged in to, if any. Its
	// errors carry a [service.Code].
	Recipient(ctx context.Context, login, address string) (service.Recipient, error)
	// Authenticate returns the key that logs in.
	Authenticate(ctx context.Context, secret string) (service.Key, error)
	// Inboxes, IsUnlimited and IsShared decide what a key may read of the sessions.
	Inboxes(ctx context.Context, k service.Key, p service.Page) (service.InboxList, error)
	IsUnlimited(k service.Key) bool
	IsShared() bool
	// Deliver stores a message for its recipients and returns nil only when it is synced to disk.
	// It must not use Raw, whose memory is reused, after it has returned.
	Deliver(ctx context.Context, d service.Delivery) error
}

// Limits are the limits of a Server. A zero field stands for its default.
type Limits struct {
	MaxMessageBytes          int64         // of a message; default 25 MiB
	MaxRecipients            int           // of a message, or refused in a session; default 100
	MaxCommandLine           int           // octets of a command line with its CRLF; default 2,048
	MaxTextLine              int           // octets of a line of a message; default 1 MiB
	MaxErrors                int           // bad commands in a session; default 20
	MaxMessages              int           // messages in a connection; default 50,000
	MaxConnections           int           // at a time; default 2,048
	MaxConnectionsPerAddress int           // of an IPv4 address or IPv6 /64; default 256
	MaxGuesses               int           // unknown recipients from an address in a minute; default: no limit
	IdleTimeout              time.Duration // without an octet from the client; default 5 min
	SessionTimeout           time.Duration // of a whole session; default 1 h

	// MaxInFlightBytes bounds the memory for messages that are not yet stored, over all
	// connections. Those for one API key can use as much of it as they leave free. Default 256 MiB.
	MaxInFlightBytes int64
}

// Options are the settings of a Server. A zero field stands for its default.
type Options struct {
	Hostname string // name of the server; default: the machine's

	TLS *tls.Config // for ServeTLS and STARTTLS, which is not offered without it

	AuthAny        bool // accept any login; else the password is an API key, and all mail of the session is for that key
	InsecureLogins bool // offer logins without TLS to other machines, too

	Keys *limits.Guesses // wrong keys, which other servers count too; default: no limit

	// Chaos injects faults, for tests of clients: rules separated by commas,
	// each STAGE=FAULT, with :5% for a probability or :2x for the first two times. docs/chaos.md
	// describes them. Default: none.
	Chaos string

	AddressFaults bool // also do what a recipient's address asks for, such as ada+smtp-550@x.test; docs/service.md describes it

	Limits

	Metrics prometheus.Registerer // default: none
	Log     *slog.Logger          // a line per session at debug; default: none
}

func (o Options) withDefaults() Options {
	if o.Hostname == "" {
		name, err := os.Hostname()
		if err != nil || !isGreetingName(name) {
			name = "localhost"
		}
		o.Hostname = name
	}
	o.MaxMessageBytes = cmp.Or(o.MaxMessageBytes, 25<<20)
	o.MaxRecipients = cmp.Or(o.MaxRecipients, 100)
	o.MaxCommandLine = cmp.Or(o.MaxCommandLine, 2048)
	o.MaxTextLine = cmp.Or(o.MaxTextLine, 1<<20)
	o.MaxErrors = cmp.Or(o.MaxErrors, 20)
	o.MaxMessages = cmp.Or(o.MaxMessages, 50_000)
	o.MaxConnections = cmp.Or(o.MaxConnections, 2048)
	o.MaxConnectionsPerAddress = cmp.Or(o.MaxConnectionsPerAddress, 256)
	o.MaxInFlightBytes = cmp.Or(o.MaxInFlightBytes, 256<<20)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 5*time.Minute)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, time.Hour)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Check returns all that is wrong with the options, a line for each fault.
func (o Options) Check() error {
	o = o.withDefaults()
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"message size", o.MaxMessageBytes},
		{"number of recipients", int64(o.MaxRecipients)},
		{"text line", int64(o.MaxTextLine)},
		{"number of errors", int64(o.MaxErrors)},
		{"number of messages", int64(o.MaxMessages)},
		{"number of guesses", int64(o.MaxGuesses)},
		{"number of connections", int64(o.MaxConnections)},
		{"number of connections per address", int64(o.MaxConnectionsPerAddress)},
		{"memory for messages in flight", o.MaxInFlightBytes},
		{"idle timeout", int64(o.IdleTimeout)},
		{"session timeout", int64(o.SessionTimeout)},
	} {
		if limit.value < 0 {
			fault("the limit of the %s is negative", limit.name)
		}
	}
	if o.MaxCommandLine < 512 || o.MaxCommandLine > bulkSize {
		fault("the limit of the command line must be from 512 to %d bytes", bulkSize)
	}
	if need := 2 * maxBufferBytes(o.MaxMessageBytes); 0 <= o.MaxInFlightBytes && o.MaxInFlightBytes < need {
		fault("the memory for messages in flight must be at least %d bytes: a message of %d bytes takes half of that while it grows", need, o.MaxMessageBytes)
	}
	if int64(o.MaxRecipients) > (service.MaxDelivery-o.MaxMessageBytes)/service.MaxSummary {
		fault("a message of %d bytes to %d recipients is more than a store accepts at once: %d bytes, and %d of them for each recipient",
			o.MaxMessageBytes, o.MaxRecipients, service.MaxDelivery, service.MaxSummary)
	}
	if _, err := parseChaos(o.Chaos); err != nil {
		faults = append(faults, err)
	}
	if !isGreetingName(o.Hostname) {
		fault("the SMTP host name contains a space or a control character, or is too long")
	}
	return errors.Join(faults...)
}

// Server accepts connections and receives mail on them.
type Server struct {
	service  Service
	options  Options
	chaos    chaos
	memory   *limits.Memory // for messages in flight
	count    metrics
	guesses  *limits.Guesses // of recipients
	sessions *limits.Sessions
	log      sessionLog

	faults   rate.Sometimes // limits how often a fault of the store is logged
	unlogged atomic.Int64   // refusals because of faults since then
}

// New returns a server. The error says which options are wrong.
func New(svc Service, o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s := &Server{
		service: svc,
		options: o,
		memory:  limits.NewMemory(o.MaxInFlightBytes),
		guesses: limits.NewGuesses(o.MaxGuesses, o.Log, "recipients"),
		faults:  rate.Sometimes{Interval: time.Minute},
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

func (s *Server) accept(l net.Listener, implicitTLS bool) error {
	return s.sessions.Serve(l, implicitTLS, func(nc net.Conn, address netip.Prefix) {
		s.count.sessions.Inc()
		c := newConn(s, nc)
		c.implicitTLS, c.address = implicitTLS, address
		c.serve()
	})
}

// Shutdown stops accepting connections, answers 421 to sessions that send no message, and waits for the others: 10 seconds
// for what their clients send, and until it is stored. If ctx ends first, it closes the remaining
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
	wrongKey          reason = "wrong_key"
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
		storageFailed, badCommand, tooManyErrors, tooManyMessages, connections, perAddress, timedOut, wrongKey} {
		m.refused.WithLabelValues(string(r)) // shown as 0 from the start
	}
	return m
}

func (m *metrics) refuse(r reason) { m.refused.WithLabelValues(string(r)).Inc() }
