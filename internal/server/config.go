package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"mayfly/internal/files"
	"mayfly/service"
	"mayfly/service/postgres"
	"mayfly/service/relay"
	"mayfly/service/rest"
	"mayfly/service/smtp"
	"mayfly/service/webhook"
)

// Config is the configuration of a server. A zero limit stands for its default (see the packages
// service/smtp, service/rest and service/pop3).
type Config struct {
	HTTP    string // address of the REST API, host:port; port 0 is any free one
	SMTP    string // address of the SMTP server, likewise
	SMTPS   string // address of the SMTP server with implicit TLS; empty: none
	POP3    string // address of the POP3 server; empty: none
	Metrics string // address of the Prometheus metrics; empty: none
	SSH     string // address of the SSH server; empty: none

	// Sessions returns the command of the process that serves SSH, which calls [ServeSessions] with the settings; Name is the
	// service's for its users.
	Sessions  func(ctx context.Context, settings string) *exec.Cmd
	SSHLimits SSHLimits
	Name      string

	// Listeners replace the addresses, by protocol as in [Server.Addr]. The server closes them.
	Listeners map[string]net.Listener

	// Balancers are the IP addresses and networks whose connections are those of other clients, named
	// by the PROXY protocol (version 1 or 2), which a connection to the SMTP or POP3 server has to
	// begin with.
	Balancers []string

	Store   string   // directory, or postgres://user:password@host:port/database
	Domains []string // domains of the addresses; the first is the default

	// LocalOnly refuses requests to the REST API that name another machine than this one as their host
	// or origin, as those of a web page do that reaches a loopback address by a name of its own.
	LocalOnly bool

	// InMemory keeps everything in memory instead of a store, until the server stops. There is no
	// admin socket.
	InMemory bool

	// StoreMemory is how many bytes of memory a store in a directory uses for recent writes and
	// reads. Default: 64 MiB.
	StoreMemory int64

	// CatchAll creates an inbox for mail to an unknown address, at any domain. It belongs to the
	// key with the ID CatchAllKey, or else to the one that [Server.Key] returns.
	CatchAll    bool
	CatchAllKey string
	CatchAllTTL time.Duration // lifetime of such an inbox; default 24 h

	// KeyFile has the secret of an API key in the store. If the file does not exist, it and
	// a key with the plan enterprise are created. With OwnKey there is such a key without a file: it keeps
	// its inboxes, and its secret is new at each start.
	KeyFile string
	OwnKey  bool

	// Unlimited lets the key that [Server.Key] returns make any number of requests and get any number
	// of messages.
	Unlimited bool

	// Arrived is [service.Options].Arrived of a server without a WebhookURL.
	Arrived func(service.Arrival)

	// WebhookURL gets a request for each message, signed with the secret in WebhookSecretFile. If the
	// file does not exist, it is created. Both are empty, or neither.
	WebhookURL, WebhookSecretFile string

	HTTPCert, HTTPKey string // PEM files for HTTPS, read again when they change
	SMTPCert, SMTPKey string // likewise for STARTTLS, SMTPS, and STLS of POP3

	// Relay is the mail server that messages are sent on by when a client releases them. The zero value
	// is none.
	Relay Relay

	// Options of the SMTP server, without what the others share. By default, MaxConnections is at most a quarter of the
	// open files. MaxGuesses also limits the wrong API keys from an address in a minute. POP3 has the limits of
	// connections, errors and time too, and half of MaxConnections.
	smtp.Options

	// Limits of the REST API.
	MaxWait      time.Duration // of a long poll
	MaxLongPolls int           // at a time

	// MaxHTTPConnections is the limit of connections to the REST API at a time; others have to
	// wait. Default 65,536, at most half of the open files.
	MaxHTTPConnections int

	// MaxHTTPConnectionsPerAddress is the limit of those from one address; others are closed.
	// Default: half of all, and with LocalOnly all.
	MaxHTTPConnectionsPerAddress int

	// MCP returns what serves /mcp on the address of the REST API, given the address of SMTP. Nil: there is no such path.
	MCP func(smtpAddr string) MCP

	// Control returns what serves /control/ on the admin socket of an embedded store, see
	// [ControlClient], given what [Server.Key] returns. Its requests end with the server. Beside it the socket
	// serves the REST API. Nil: it serves neither.
	Control func(key string) http.Handler

	Log *slog.Logger // default: none
}

// MCP answers the requests of agents.
type MCP = rest.MCP

// Relay is the configuration of a relay.
type Relay = relay.Config

// Domain is the domain of a service that only this machine uses: RFC 6761 keeps .test out of the DNS.
const Domain = "mayfly.test"

// InMemoryConfig is the configuration of a service for one program and its tests: in memory, on free ports of
// loopback, for mail to any address and with any SMTP login, without limits on its key.
func InMemoryConfig() Config {
	return Config{
		HTTP:        "127.0.0.1:0",
		SMTP:        "127.0.0.1:0",
		LocalOnly:   true,
		InMemory:    true,
		OwnKey:      true,
		StoreMemory: 16 << 20, // bursts on one machine need no more
		Domains:     []string{Domain},
		CatchAll:    true,
		Unlimited:   true,
		Options:     smtp.Options{AuthAny: true, AddressFaults: true},
	}
}

// withDefaults fills in the limits that depend on how many files the process can open. Connections
// must leave some for the store, which cannot work without.
func (c Config) withDefaults() Config {
	if c.MaxConnections == 0 {
		c.MaxConnections = min(2048, openFiles()/4)
	}
	if c.MaxHTTPConnections == 0 {
		c.MaxHTTPConnections = min(65536, openFiles()/2)
	}
	if c.MaxHTTPConnectionsPerAddress == 0 {
		c.MaxHTTPConnectionsPerAddress = max(1, c.MaxHTTPConnections/2)
		if c.LocalOnly {
			c.MaxHTTPConnectionsPerAddress = c.MaxHTTPConnections
		}
	}
	return c
}

// address is where a protocol is served.
type address struct {
	protocol, addr string
	listener       net.Listener // instead of addr, unless it is nil
}

func (c Config) addresses() []address {
	all := []address{{protocol: "HTTP", addr: c.HTTP}, {protocol: "SMTP", addr: c.SMTP}, {protocol: "SMTPS", addr: c.SMTPS}, {protocol: "POP3", addr: c.POP3}, {protocol: "SSH", addr: c.SSH}, {protocol: "metrics", addr: c.Metrics}}
	for i := range all {
		all[i].listener = c.Listeners[all[i].protocol]
	}
	return all
}

// Adopt takes a listener for the protocol that its name says, in any case, or else for the one whose address it
// listens at, and reports whether there is one that has no listener yet.
func (c *Config) Adopt(name string, l net.Listener) bool {
	for _, a := range c.addresses() {
		if a.listener == nil && (strings.EqualFold(name, a.protocol) || sameAddress(a.addr, l.Addr())) {
			if c.Listeners == nil {
				c.Listeners = map[string]net.Listener{}
			}
			c.Listeners[a.protocol] = l
			return true
		}
	}
	return false
}

// sameAddress reports whether a listener at an address listens at the one that is configured.
func sameAddress(configured string, l net.Addr) bool {
	want, err := net.ResolveTCPAddr("tcp", configured)
	got, ok := l.(*net.TCPAddr)
	return err == nil && ok && want.Port == got.Port && (want.IP.Equal(got.IP) || len(want.IP) == 0 && got.IP.IsUnspecified())
}

// domainName matches a host name in lower case (RFC 1123).
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Check returns all that is wrong with a configuration, a line for each fault. It opens nothing but
// the certificates.
func (c Config) Check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	for _, a := range c.addresses() {
		if a.listener != nil || a.addr == "" && a.protocol != "HTTP" && a.protocol != "SMTP" {
			continue
		}
		if _, _, err := net.SplitHostPort(a.addr); err != nil {
			fault("the %s address %q is not host:port", a.protocol, a.addr)
		} else if _, err := net.ResolveTCPAddr("tcp", a.addr); err != nil {
			fault("the %s address %q cannot be used: %w", a.protocol, a.addr, err)
		}
	}
	if c.SMTPS != "" && c.SMTPCert == "" && c.SMTPKey == "" {
		fault("SMTPS needs a certificate: set --smtp-cert and --smtp-key")
	}
	if c.SSH != "" && !servesSSH {
		fault("--ssh is not supported on this system: run the service on Linux, macOS or a BSD")
	}
	if most := c.SSHLimits.Memory; most != 0 && most < leastSessionMemory {
		fault("the memory for all SSH sessions must be at least %d MiB: a single one takes about half of that", leastSessionMemory>>20)
	}
	if _, err := parseNetworks(c.Balancers); err != nil {
		faults = append(faults, err)
	}
	if err := checkStore(c.Store); err != nil && !c.InMemory {
		faults = append(faults, err)
	}
	if len(c.Domains) == 0 {
		fault("no domain is set: set at least one")
	}
	for i, d := range c.Domains {
		if len(d) > 253 || !domainName.MatchString(d) {
			fault("%q is not a domain: use lower case, and xn-- for letters beyond a-z", d)
		} else if slices.Contains(c.Domains[:i], d) {
			fault("the domain %s is set twice", d)
		}
	}
	if c.CatchAll && c.CatchAllKey == "" && c.KeyFile == "" && !c.OwnKey {
		fault("catch-all needs the ID of the API key that owns its inboxes: set --catch-all-key")
	}
	if (c.WebhookURL == "") != (c.WebhookSecretFile == "") {
		fault("webhooks need a URL and a file with their secret: set --webhook-url and --webhook-secret-file")
	}
	if c.WebhookURL != "" {
		faults = append(faults, webhook.CheckURL(c.WebhookURL))
	}
	faults = append(faults, checkCertificate("HTTP", c.HTTPCert, c.HTTPKey), checkCertificate("SMTP", c.SMTPCert, c.SMTPKey),
		c.Options.Check(), c.Relay.Check(c.Domains))
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"lifetime of catch-all inboxes", int64(c.CatchAllTTL)},
		{"time of a long poll", int64(c.MaxWait)},
		{"number of long polls", int64(c.MaxLongPolls)},
		{"number of HTTP connections", int64(c.MaxHTTPConnections)},
		{"number of HTTP connections per address", int64(c.MaxHTTPConnectionsPerAddress)},
		{"number of SSH sessions", int64(c.SSHLimits.MaxSessions)},
		{"number of SSH sessions per API key", int64(c.SSHLimits.MaxSessionsPerKey)},
	} {
		if limit.value < 0 {
			fault("the limit of the %s is negative", limit.name)
		}
	}
	return errors.Join(faults...)
}

func checkStore(name string) error {
	switch scheme, _, ok := strings.Cut(name, "://"); {
	case name == "":
		return errors.New("no store is set: name a directory, or a database as postgres://user@host/database")
	case isDatabase(name):
		return postgres.CheckURL(name)
	case ok:
		return fmt.Errorf("%s:// stores are not supported: name a directory, or a database as postgres://user@host/database", scheme)
	}
	return nil
}

func checkCertificate(server, certFile, keyFile string) error {
	if certFile == "" && keyFile == "" {
		return nil
	}
	if certFile == "" || keyFile == "" {
		return fmt.Errorf("TLS for %s needs both a certificate and a key", server)
	}
	if _, err := loadCertificate(certFile, keyFile, slog.New(slog.DiscardHandler)); err != nil {
		return fmt.Errorf("TLS for %s: %w", server, err)
	}
	return nil
}

// privateDir creates a directory that only its owner can access. It refuses one that exists and that others
// may write to.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("creating the store's directory: %w", err)
	}
	return files.CheckMode(dir)
}
