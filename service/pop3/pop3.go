// Package pop3 is the POP3 server of the service, for clients that can fetch mail by nothing else (RFC
// 1939, with CAPA, PIPELINING, RESP-CODES, AUTH-RESP-CODE, TOP, UIDL and STLS). The user is the address
// of an inbox, the password an API key that owns it.
//
// A login, each message that is sent, and the removal of those that were marked by DELE count as a request
// of the key each, which is checked anew. Whether an address has an inbox is told only to its key.
//
// A message is sent byte for byte as it was received, so that its size is what the store knows without
// reading it. Only one that does not end with CRLF gets that in addition. Lines that begin with a dot
// are stuffed after a bare LF too, which many clients take for the end of a line.
package pop3

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"mayfly/service"
	"mayfly/service/limits"
)

// Service is what the server needs of [service.Service]. Its errors carry a [service.Code].
type Service interface {
	Authenticate(ctx context.Context, secret string) (service.Key, error)
	Allow(ctx context.Context, k service.Key) (service.Quota, error)
	CatchesAll(k service.Key) bool
	InboxAt(ctx context.Context, k service.Key, address string) (service.Inbox, error)
	Messages(ctx context.Context, k service.Key, inboxID string, p service.Page) (service.List, error)
	Message(ctx context.Context, k service.Key, inboxID, messageID string) (service.Message, error)
	DeleteMessages(ctx context.Context, k service.Key, inboxID, messageID string) error
}

// Options are the settings of a Server. A zero field stands for its default.
type Options struct {
	TLS *tls.Config // for STLS, without which there is no login then; default: logins are in the clear

	MaxConnections           int           // at a time; default 2,048
	MaxConnectionsPerAddress int           // of an IPv4 address or IPv6 /64; default 256
	MaxErrors                int           // bad commands and logins in a session; default 20
	MaxGuesses               int           // wrong keys from an address in a minute; default: no limit
	IdleTimeout              time.Duration // between two commands; default 10 min (RFC 1939, section 3)
	SessionTimeout           time.Duration // of a whole session; default 1 h

	Large   *limits.Memory        // memory for large messages; default: 256 MiB
	Metrics prometheus.Registerer // default: none
	Log     *slog.Logger          // a line per session at debug, and failures; default: none
}

// Server accepts connections and sends the messages of inboxes on them.
type Server struct {
	service  Service
	options  Options
	guesses  *limits.Guesses // of keys
	sessions *limits.Sessions

	logins, refused, sent prometheus.Counter

	failed rate.Sometimes // limits how often a failing store is logged
}

// New returns a server.
func New(svc Service, o Options) *Server {
	o.MaxConnections = cmp.Or(o.MaxConnections, 2048)
	o.MaxConnectionsPerAddress = cmp.Or(o.MaxConnectionsPerAddress, 256)
	o.MaxErrors = cmp.Or(o.MaxErrors, 20)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 10*time.Minute)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, time.Hour)
	o.Large = cmp.Or(o.Large, limits.NewMemory(0))
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	counter := func(name, help string) prometheus.Counter {
		return promauto.With(o.Metrics).NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	s := &Server{
		service: svc,
		options: o,
		guesses: limits.NewGuesses(o.MaxGuesses, o.Log, "keys"),
		sessions: limits.NewSessions(limits.SessionOptions{
			Protocol:      "POP3",
			Max:           o.MaxConnections,
			MaxPerAddress: o.MaxConnectionsPerAddress,
			TooMany:       "-ERR [SYS/TEMP] Too many connections, try again later",
			Log:           o.Log,
		}),
		logins:  counter("mayfly_pop3_logins_total", "POP3 sessions that have logged in."),
		refused: counter("mayfly_pop3_logins_refused_total", "POP3 logins refused."),
		sent:    counter("mayfly_pop3_messages_total", "Messages sent by POP3, whole or in part."),
		failed:  rate.Sometimes{Interval: time.Minute},
	}
	promauto.With(o.Metrics).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mayfly_pop3_connections", Help: "POP3 connections that are open.",
	}, func() float64 { return float64(s.sessions.Len()) })
	return s
}

// Serve accepts connections on l until Shutdown is called, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	return s.sessions.Serve(l, false, func(nc net.Conn, address netip.Prefix) {
		newConn(s, nc, address).serve()
	})
}

// drainTimeout is how long a shutdown waits for a message that is being sent. It can be fetched again.
const drainTimeout = 5 * time.Second

// Shutdown stops accepting connections and ends all sessions, within a few seconds or when ctx ends.
func (s *Server) Shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	_ = s.sessions.Shutdown(ctx) // nothing is lost with a session that is cut off
}
