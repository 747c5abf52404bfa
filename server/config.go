package server

import (
	"log/slog"
	"net"
	"time"
)

// Config says what a server listens on, where it keeps its store and what it allows. A zero limit stands for its
// default; [Start] checks all of it and tells all faults at once.
type Config struct {
	HTTP    string // address of the REST API, host:port; port 0 takes a free one
	SMTP    string // address of the SMTP door, likewise
	Metrics string // address of the Prometheus metrics; empty: none

	// HTTPListener and SMTPListener, when set, are used in place of the addresses.
	HTTPListener, SMTPListener net.Listener

	Store   string   // directory of the embedded store
	Domains []string // domains of the addresses; the first is the default

	CatchAll    bool   // mail to an unknown address makes an inbox, for CatchAllKey
	CatchAllKey string // ID of the API key that owns what CatchAll makes
	SMTPAuthAny bool   // any SMTP login is accepted

	HTTPCert, HTTPKey string // PEM files: the REST API speaks TLS
	SMTPCert, SMTPKey string // PEM files: the SMTP door offers STARTTLS

	MaxMessageBytes       int64         // default 25 MB
	MaxRecipients         int           // of one message; default 100
	MaxLineLength         int           // bytes of an SMTP command; default 2,000
	MaxCommandErrors      int           // of one SMTP session
	MaxMessagesPerSession int           // of one SMTP session
	SMTPIdleTimeout       time.Duration // between commands
	SMTPSessionTimeout    time.Duration // of a whole session
	MaxConnections        int           // SMTP connections in all
	MaxConnectionsPerIP   int           // SMTP connections of one address
	MaxWait               time.Duration // longest time a REST request is held; default 60 s

	Log *slog.Logger // default: nothing is logged
}
