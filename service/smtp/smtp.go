// Package smtp is the SMTP door of the service: it takes mail for inboxes that exist and for nobody
// else (RFC 5321, with PIPELINING, CHUNKING, 8BITMIME, SMTPUTF8, SIZE, STARTTLS, AUTH and
// ENHANCEDSTATUSCODES). Nothing is ever sent on.
//
// A message is answered 250 only after [Service.Deliver] has returned, which is after it is on disk.
// It is handed over byte for byte as it was sent, dots unstuffed; no Received or Return-Path field is
// put on top, since testers compare what they sent with what they got.
//
// The protocol is read by a loop of our own because of three promises that a general library does not
// make: only CRLF.CRLF ends a message and a message with another lone dot line is refused, so that two
// servers cannot disagree on where it ends; a line of any length costs no memory; and the octets of a
// message in flight are bounded over all connections. Reading by block instead of by octet also leaves
// most of the time for storing.
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"mayfly/service"
)

// A Service knows the inboxes and stores the mail.
type Service interface {
	// Recipient resolves an envelope recipient. Its errors carry a [service.Code].
	Recipient(ctx context.Context, address string) (service.Recipient, error)
	// Deliver stores a message for its recipients and returns nil only when it is synced to disk.
	// It must not keep Raw, which is used again, after it has returned.
	Deliver(ctx context.Context, d service.Delivery) error
}

// Options are the settings of a Server. A zero field stands for its default.
type Options struct {
	Hostname string // how the server names itself; default the machine's name

	TLS *tls.Config // for STARTTLS, which is not offered without it

	AuthAny bool // offer AUTH and accept any login; else AUTH is not known

	MaxMessageBytes          int64         // of one message; default 25 MiB
	MaxRecipients            int           // of one message, and refused ones of a session; default 100
	MaxCommandLine           int           // octets of a command line with its CRLF; default 2,048
	MaxTextLine              int           // octets of a line of a message; default 1 MiB
	MaxErrors                int           // bad commands of a session; default 20
	MaxMessages              int           // messages of a connection; default 50,000
	MaxConnections           int           // at a time; default 2,048
	MaxConnectionsPerAddress int           // at a time, from one IPv4 address or IPv6 /64; default 256
	MaxInFlightBytes         int64         // of messages not yet stored, over all connections, half of it for one address; default 256 MiB
	IdleTimeout              time.Duration // without an octet from the client; default 5 min
	SessionTimeout           time.Duration // of a whole session; default 1 h

	Log *slog.Logger // a line a session at debug; default none
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

// Check finds all that is wrong with the options, a line for each fault.
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
	if need := 2 * mostHeld(o.MaxMessageBytes); 0 <= o.MaxInFlightBytes && o.MaxInFlightBytes < need {
		fault("the memory for messages in flight must be at least %d bytes: a message of %d bytes takes half of that while it grows", need, o.MaxMessageBytes)
	}
	if !isGreetingName(o.Hostname) {
		fault("the SMTP host name has a space or a control character, or is too long")
	}
	return errors.Join(faults...)
}
