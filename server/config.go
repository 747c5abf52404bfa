package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"mayfly/service/postgres"
	"mayfly/service/smtp"
)

// Config says what a server listens on, where it keeps its store and what it allows. A zero limit stands for its
// default, which the doors know (see the packages service/smtp and service/rest).
type Config struct {
	HTTP    string // address of the REST API, host:port; port 0 takes a free one
	SMTP    string // address of the SMTP door, likewise
	Metrics string // address of the Prometheus metrics; empty: none

	// HTTPListener and SMTPListener, when set, are used in place of the addresses, and closed by the server.
	HTTPListener, SMTPListener net.Listener

	Store   string   // directory of the embedded store, or postgres://user:password@host:port/database
	Domains []string // domains of the addresses; the first is the default

	// CatchAll makes an inbox for mail to an unknown address, at any domain. It belongs to the key with the ID
	// CatchAllKey, or else to the one whose secret is in KeyFile.
	CatchAll    bool
	CatchAllKey string
	CatchAllTTL time.Duration // lifetime of such an inbox; default 24 h

	// KeyFile holds the secret of an API key, which is made, with the plan enterprise, when the file is not there or
	// the store does not know the key.
	KeyFile string

	SMTPAuthAny bool   // any SMTP login is accepted
	Hostname    string // how the SMTP door names itself; default the machine's name

	HTTPCert, HTTPKey string // PEM files, read again when they change: the REST API speaks TLS
	SMTPCert, SMTPKey string // likewise: the SMTP door offers STARTTLS

	// Limits of the SMTP door.
	MaxMessageBytes          int64         // of one message
	MaxRecipients            int           // of one message
	MaxCommandLine           int           // octets of a command line
	MaxTextLine              int           // octets of a line of a message
	MaxErrors                int           // bad commands of a session
	MaxMessages              int           // messages of a connection
	MaxConnections           int           // at a time; default 2,048, and no more than a quarter of the files that may be open
	MaxConnectionsPerAddress int           // at a time, from one address
	MaxInFlightBytes         int64         // of messages not yet stored, over all connections
	IdleTimeout              time.Duration // without an octet from the client
	SessionTimeout           time.Duration // of a whole session

	// Limits of the REST API.
	MaxWait            time.Duration // the longest that a request is held
	MaxHeld            int           // requests held at once
	MaxHTTPConnections int           // at a time, more have to wait; default 65,536, and no more than half of the files that may be open

	// MCP serves /mcp on the address of the REST API, and checks the key itself; nil: there is no such path.
	MCP http.Handler

	Log *slog.Logger // default: nothing is logged
}

// withDefaults fills in the limits that depend on the machine. A store that cannot open its files any more cannot go
// on, so the connections of all doors leave it some.
func (c Config) withDefaults() Config {
	if c.MaxConnections == 0 {
		c.MaxConnections = min(2048, openFiles()/4)
	}
	if c.MaxHTTPConnections == 0 {
		c.MaxHTTPConnections = min(65536, openFiles()/2)
	}
	return c
}

// domainName is a host name of at least one label, lower case (RFC 1123).
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check finds all that is wrong with a configuration, a line for each fault, without opening anything but the
// certificates.
func (c Config) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	for _, a := range []struct {
		name, addr string
		needed     bool
	}{
		{"HTTP", c.HTTP, c.HTTPListener == nil},
		{"SMTP", c.SMTP, c.SMTPListener == nil},
		{"metrics", c.Metrics, c.Metrics != ""},
	} {
		if !a.needed {
			continue
		}
		if _, _, err := net.SplitHostPort(a.addr); err != nil {
			fault("the %s address %q is not host:port", a.name, a.addr)
		} else if _, err := net.ResolveTCPAddr("tcp", a.addr); err != nil {
			fault("the %s address %q cannot be used: %w", a.name, a.addr, err)
		}
	}
	if err := checkStore(c.Store); err != nil {
		faults = append(faults, err)
	}
	if len(c.Domains) == 0 {
		fault("no domain is given: name at least one")
	}
	for i, d := range c.Domains {
		if len(d) > 253 || !domainName.MatchString(d) {
			fault("%q is not a domain: use lower case, and xn-- for letters beyond a-z", d)
		} else if slices.Contains(c.Domains[:i], d) {
			fault("the domain %s is given twice", d)
		}
	}
	if c.CatchAll && c.CatchAllKey == "" && c.KeyFile == "" {
		fault("catch-all needs the ID of the API key that its inboxes belong to: give it with --catch-all-key")
	}
	faults = append(faults, checkCertificate("HTTP", c.HTTPCert, c.HTTPKey), checkCertificate("SMTP", c.SMTPCert, c.SMTPKey),
		c.smtpOptions().Check())
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"lifetime of catch-all inboxes", int64(c.CatchAllTTL)},
		{"longest wait", int64(c.MaxWait)},
		{"number of held requests", int64(c.MaxHeld)},
		{"number of HTTP connections", int64(c.MaxHTTPConnections)},
	} {
		if limit.value < 0 {
			fault("the limit of the %s is negative", limit.name)
		}
	}
	return errors.Join(faults...)
}

// smtpOptions are the options of the SMTP door, without its certificate.
func (c Config) smtpOptions() smtp.Options {
	return smtp.Options{
		Hostname:                 c.Hostname,
		AuthAny:                  c.SMTPAuthAny,
		MaxMessageBytes:          c.MaxMessageBytes,
		MaxRecipients:            c.MaxRecipients,
		MaxCommandLine:           c.MaxCommandLine,
		MaxTextLine:              c.MaxTextLine,
		MaxErrors:                c.MaxErrors,
		MaxMessages:              c.MaxMessages,
		MaxConnections:           c.MaxConnections,
		MaxConnectionsPerAddress: c.MaxConnectionsPerAddress,
		MaxInFlightBytes:         c.MaxInFlightBytes,
		IdleTimeout:              c.IdleTimeout,
		SessionTimeout:           c.SessionTimeout,
		Log:                      c.Log,
	}
}

func checkStore(name string) error {
	switch scheme, _, ok := strings.Cut(name, "://"); {
	case name == "":
		return errors.New("no store is given: name a directory, or a database as postgres://user@host/database")
	case isDatabase(name):
		return postgres.CheckURL(name)
	case ok:
		return fmt.Errorf("%s:// stores are not supported: name a directory, or a database as postgres://user@host/database", scheme)
	}
	return nil
}

func checkCertificate(door, certFile, keyFile string) error {
	if certFile == "" && keyFile == "" {
		return nil
	}
	if certFile == "" || keyFile == "" {
		return fmt.Errorf("TLS for %s needs both a certificate and a key", door)
	}
	if _, err := loadCertificate(certFile, keyFile, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("TLS for %s: %w", door, err)
	}
	return nil
}

// privateDir makes a directory that only its owner can look into.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the store's folder: %w", err)
	}
	return nil
}
