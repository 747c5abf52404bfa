// Package relay sends a message that was received on to addresses that the operator has allowed, by
// one mail server. Messages are sent only on request, and nothing is queued:
// the server takes a message at once and for every recipient, or it is not sent.
package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mayfly/internal/files"
	"mayfly/internal/mail"
	"mayfly/internal/sockets"
	"mayfly/service"
)

// Config says which mail server takes messages, and for whom. The zero value means no relay.
type Config struct {
	Host         string   // host:port; empty: no relay
	TLS          string   // "starttls" (also if empty), "tls" from the start, or "none"
	User         string   // empty: no login
	PasswordFile string   // of the user
	From         string   // envelope sender, and Resent-From
	Allow        []string // addresses, and *@domain for those of a domain that are letters, digits and . _ + -
}

// Limits of what is released.
const (
	maxRecipients  = 10               // of a release
	perMinute      = 20               // recipients of a key in a minute
	maxSessions    = 8                // with the server at a time; a key has one
	sessionTimeout = 90 * time.Second // a release, at most
	commandTimeout = 30 * time.Second // an answer to a command
)

// address matches a plain address: no quoted local part, no address literal and only ASCII, so that
// an address can mean nothing else to the server than it does here. Few programs need it.
var address = sync.OnceValue(func() *regexp.Regexp {
	const atom, label = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
	return regexp.MustCompile("^(" + atom + "(?:\\." + atom + ")*)@((?:" + label + "\\.)*" + label + ")$")
})

// domainOf returns the domain of an address in lower case, or false if it is not a plain address.
func domainOf(s string) (domain string, ok bool) {
	parts := address().FindStringSubmatch(s)
	if parts == nil || len(parts[1]) > 64 || len(s) > 254 { // RFC 5321, 4.5.3.1
		return "", false
	}
	return strings.ToLower(parts[2]), true
}

// Check returns all that is wrong with the configuration for a service that has the domains, a line
// for each fault. It reads the password file.
func (c Config) Check(domains []string) error {
	if c.Host == "" {
		if c.User+c.PasswordFile+c.From != "" || len(c.Allow) > 0 {
			return errors.New("the relay has settings but no host: give one such as mail.example.com:587")
		}
		return nil
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	host, port, err := net.SplitHostPort(c.Host)
	if err != nil || host == "" || port == "" {
		fault("the relay's host %q is not host:port, such as mail.example.com:587", c.Host)
	}
	switch c.TLS {
	case "", "starttls", "tls":
	case "none":
		if c.User != "" && !sockets.IsLoopback(host) {
			fault("the relay's password would be sent without TLS: use starttls or tls")
		}
	default:
		fault("the relay's TLS %q: want starttls, tls or none", c.TLS)
	}
	if (c.User == "") != (c.PasswordFile == "") {
		fault("the relay needs both a user and a file with the password, or neither")
	} else if _, err := c.password(); err != nil {
		faults = append(faults, err)
	}
	if _, ok := domainOf(c.From); !ok {
		fault("the relay's sender %q is not an address such as mayfly@example.com", c.From)
	}
	if len(c.Allow) == 0 {
		fault("the relay allows no address: list those that mail may go to, such as qa@example.com or *@example.org")
	}
	for _, a := range c.Allow {
		domain, ok := domainOf(a)
		if local, _, _ := strings.Cut(a, "@"); !ok || local != "*" && strings.Contains(local, "*") {
			fault("the relay cannot allow %q: want an address such as qa@example.com, or *@example.org", a)
		} else if slices.Contains(domains, domain) {
			fault("the relay cannot allow %s: %s is a domain of this service", a, domain)
		}
	}
	return errors.Join(faults...)
}

// password reads the password file; "" without one.
func (c Config) password() (string, error) {
	if c.PasswordFile == "" {
		return "", nil
	}
	text, _, err := files.Read(c.PasswordFile, 4<<10)
	if err != nil {
		return "", fmt.Errorf("the relay's password: %w", err)
	}
	text = bytes.TrimRight(text, "\r\n")
	if len(text) == 0 || len(text) > 1000 || bytes.ContainsAny(text, "\x00\r\n") {
		return "", fmt.Errorf("the relay's password: %s does not have it on one line", c.PasswordFile)
	}
	return string(text), nil
}

// mailbox matches the local parts that *@domain stands for. In others many servers read a route
// (user%host, host!user), a command or a file.
var mailbox = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[A-Za-z0-9][A-Za-z0-9._+-]*$") })

// matches reports whether a pattern of Config.Allow stands for a plain address. Case makes no difference.
func matches(pattern, to string) bool {
	domain, all := strings.CutPrefix(pattern, "*@")
	if !all {
		return strings.EqualFold(pattern, to)
	}
	local, at, _ := strings.Cut(to, "@")
	return strings.EqualFold(domain, at) && mailbox().MatchString(local)
}

// Relay releases messages.
type Relay struct {
	config   Config
	hostname string
	roots    *x509.CertPool // that sign the server's certificate; nil: the system's
	sessions chan struct{}  // full when there are maxSessions

	mu   sync.Mutex
	keys map[string]*quota // by ID, one for each that has released anything
}

// quota is what a key may still release.
type quota struct {
	recipients *rate.Limiter
	busy       bool // it has a session
}

// New returns the relay of a valid configuration. The service calls itself hostname; empty: the
// machine's name.
func New(c Config, hostname string) *Relay {
	if hostname == "" {
		hostname, _ = os.Hostname()
	}
	if _, ok := domainOf("x@" + hostname); !ok {
		hostname = "localhost"
	}
	return &Relay{config: c, hostname: hostname, sessions: make(chan struct{}, maxSessions), keys: map[string]*quota{}}
}

// Allowed returns Config.Allow.
func (r *Relay) Allowed() []string { return r.config.Allow }

// Release sends a message for a key, and returns nil once the server has taken it for all
// recipients; after an error none has got it, unless the answer to the whole message was lost.
// Invalid: an address or the message cannot be sent. Forbidden: an address is not allowed.
// RateLimited: the key has released too much. Undelivered: the server cannot be reached or refuses, or
// ctx ended first.
func (r *Relay) Release(ctx context.Context, keyID string, to []string, raw []byte) error {
	if len(to) == 0 || len(to) > maxRecipients {
		return service.Errorf(service.Invalid, "A message is released to 1 to %d addresses", maxRecipients)
	}
	for _, a := range to {
		if _, ok := domainOf(a); !ok {
			return service.Errorf(service.Invalid, "%.80q is not an address to release to: want one such as qa@example.com, with xn-- for letters beyond a-z", a)
		}
		if !slices.ContainsFunc(r.config.Allow, func(pattern string) bool { return matches(pattern, a) }) {
			return service.Errorf(service.Forbidden, "The relay is not allowed to send to %s", a)
		}
	}
	m, err := resend(raw, r.config.From, to, time.Now())
	if err != nil {
		return err
	}
	done, err := r.begin(keyID, len(to))
	if err != nil {
		return err
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	select {
	case r.sessions <- struct{}{}:
		defer func() { <-r.sessions }()
		return r.send(limited, to, m)
	case <-limited.Done():
		return &service.Error{Code: service.Unavailable, Message: "Too many messages are being released"}
	}
}

// begin counts n recipients of a key. The key cannot release more until done is called.
func (r *Relay) begin(keyID string, n int) (done func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.keys[keyID]
	if q == nil {
		q = &quota{recipients: rate.NewLimiter(rate.Every(time.Minute/perMinute), perMinute)}
		r.keys[keyID] = q
	}
	if q.busy {
		return nil, &service.Error{Code: service.RateLimited, Message: "Another message is being released with this key", RetryAfter: time.Second}
	}
	now := time.Now()
	reserved := q.recipients.ReserveN(now, n)
	if wait := reserved.DelayFrom(now); wait > 0 {
		reserved.CancelAt(now)
		return nil, &service.Error{Code: service.RateLimited, Message: fmt.Sprintf("A key can release to %d addresses in a minute", perMinute), RetryAfter: wait}
	}
	q.busy = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		q.busy = false
	}, nil
}

// resent is a message to be sent on.
type resent struct {
	header     []byte // with its new Resent fields, and the empty line
	body       []byte
	eightBit   bool // it has octets above 127, which needs 8BITMIME
	utf8Header bool // so has its header, which needs SMTPUTF8
}

// resend adds the fields of RFC 5322, 3.6.6, in front of a message and leaves out what is not a field, or says why SMTP
// cannot carry the message as it is.
func resend(raw []byte, from string, to []string, now time.Time) (resent, error) {
	breaks := bytes.Count(raw, []byte("\r\n"))
	if bytes.Count(raw, []byte("\r")) != breaks || bytes.Count(raw, []byte("\n")) != breaks || bytes.IndexByte(raw, 0) >= 0 {
		return resent{}, service.Errorf(service.Invalid, "The message is binary: it has a zero byte, or a bare CR or LF, and cannot be released as it is")
	}
	_, domain, _ := strings.Cut(from, "@")
	header := fmt.Appendf(nil, "Resent-Date: %s\r\nResent-From: %s\r\nResent-To: %s\r\nResent-Message-ID: <%s@%s>\r\n",
		now.Format(time.RFC1123Z), from, strings.Join(to, ",\r\n "), rand.Text(), domain)
	lines, body := mail.Split(raw)
	for _, l := range lines {
		if l.Name != nil { // other servers end the header at a line that is not a field
			header = append(append(header, l.Raw...), "\r\n"...)
		}
	}
	header = append(header, "\r\n"...)
	m := resent{header: header, body: body, utf8Header: !mail.IsASCII(header)}
	m.eightBit = m.utf8Header || !mail.IsASCII(body)
	return m, nil
}
