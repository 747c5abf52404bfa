package relay

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/emersion/go-smtp"

	"mayfly/internal/clean"
	"mayfly/internal/sockets"
	"mayfly/service"
)

const (
	dialTimeout = 10 * time.Second
	quitTimeout = time.Second // for a server that has taken the message
	maxAnswers  = 256 << 10   // bytes that the server may send in a session
	maxAnswer   = 300         // characters of an answer that are passed on
)

// send hands a message over in a session of its own. It ends with ctx.
func (r *Relay) send(ctx context.Context, to []string, m resent) error {
	password, err := r.config.password()
	if err != nil {
		return undelivered(ctx, fmt.Errorf("%w: %w", plain("The relay's password cannot be read"), err), false)
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", r.config.Host)
	if err != nil {
		return undelivered(ctx, err, false)
	}
	return r.handOver(ctx, conn, password, to, m)
}

// handOver has the session on a connection, and closes it.
func (r *Relay) handOver(ctx context.Context, conn net.Conn, password string, to []string, m resent) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if err := r.transact(&boundedConn{conn, maxAnswers}, password, to, m); err != nil {
		return undelivered(ctx, err, hasPassword(err.Error(), r.config.User, password))
	}
	return nil
}

// boundedConn cuts off a server that never stops talking.
type boundedConn struct {
	net.Conn
	left int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, plain("The relay's answers do not end")
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// plain is an error in words for the user.
type plain string

func (p plain) Error() string { return string(p) }

// refusal is that of something else than the message.
type refusal struct {
	of string // a recipient, or the login
	error
}

func (e refusal) Unwrap() error { return e.error }

// unanswered is what kept the answer to a whole message from coming.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

func (r *Relay) transact(conn net.Conn, password string, to []string, m resent) error {
	c, err := r.open(conn, password)
	if err != nil {
		return err
	}
	size := len(m.header) + len(m.body)
	if ok, _ := c.Extension("8BITMIME"); m.eightBit && !ok {
		return plain("The relay accepts only 7-bit messages (no 8BITMIME), and this one has 8-bit characters")
	}
	if ok, _ := c.Extension("SMTPUTF8"); m.utf8Header && !ok {
		return plain("The relay accepts only ASCII header fields (no SMTPUTF8), and this message has others")
	}
	if err := c.Mail(r.config.From, &smtp.MailOptions{Size: int64(size), UTF8: m.utf8Header}); err != nil {
		return err
	}
	for _, a := range to {
		if err := c.Rcpt(a, nil); err != nil {
			return refusal{a, err}
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	for _, part := range [][]byte{m.header, m.body} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return unanswered{err}
	}
	c.CommandTimeout = quitTimeout
	_ = c.Quit() // the message is the server's by now
	return nil
}

// open greets the server, secures the connection as configured and logs in.
func (r *Relay) open(conn net.Conn, password string) (*smtp.Client, error) {
	host, _, _ := net.SplitHostPort(r.config.Host)
	secure := &tls.Config{ServerName: host, RootCAs: r.roots, MinVersion: tls.VersionTLS12}
	switch cmp.Or(r.config.TLS, "starttls") {
	case "tls":
		conn = tls.Client(conn, secure)
	case "starttls":
		if err := r.startTLS(conn); err != nil {
			return nil, err
		}
		secured := tls.Client(conn, secure)
		conn = greetedConn{secured, io.MultiReader(strings.NewReader("220 Go on\r\n"), secured)}
	}
	c, err := r.greet(conn)
	if err != nil || r.config.User == "" {
		return c, err
	}
	return c, login(c, r.config.User, password)
}

// greet begins a session with bounds on the time that answers may take.
func (r *Relay) greet(conn net.Conn) (*smtp.Client, error) {
	c := smtp.NewClient(conn)
	c.CommandTimeout, c.SubmissionTimeout = commandTimeout, sessionTimeout
	return c, c.Hello(r.hostname)
}

// startTLS asks for TLS in a session of its own. The client's own STARTTLS introduces everyone as
// localhost, on which servers such as smtp-relay.gmail.com hang up.
func (r *Relay) startTLS(conn net.Conn) error {
	c, err := r.greet(conn)
	if err != nil {
		return err
	}
	if ok, _ := c.Extension("STARTTLS"); !ok {
		return plain("The relay offers no STARTTLS")
	}
	if err := conn.SetDeadline(time.Now().Add(commandTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "STARTTLS\r\n"); err != nil {
		return err
	}
	_, _, err = textproto.NewReader(bufio.NewReader(conn)).ReadResponse(220)
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		err = refusal{"STARTTLS", &smtp.SMTPError{Code: answer.Code, Message: answer.Msg}}
	}
	return err
}

// greetedConn begins with a greeting, as a client wants it, on a connection that had its own before
// TLS.
type greetedConn struct {
	net.Conn
	in io.Reader
}

func (c greetedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// undelivered says why the relay has not taken a message, without saying where the relay is. The
// log has the cause. Neither has what the relay said if that repeats the password.
func undelivered(ctx context.Context, err error, repeated bool) error {
	logged := err.Error()
	answer, refused := errors.AsType[*smtp.SMTPError](err)
	if repeated {
		logged = "not shown, since it repeats the password"
		if refused {
			answer.Message = ""
		}
	}
	text := cause(ctx, err)
	if !refused && errors.As(err, new(unanswered)) {
		text += "; the message may have been sent"
	}
	return &service.Error{Code: service.Undelivered, Message: text, Err: errors.New(quote(logged))}
}

// quote returns the first maxAnswer characters of what the server said, on one printable line.
func quote(said string) string { return fmt.Sprintf("%.*s", maxAnswer, clean.Line(said)) }

func cause(ctx context.Context, err error) string {
	var answer *smtp.SMTPError
	var dns *net.DNSError
	var timeout net.Error
	var unverified *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var words plain
	switch {
	case errors.As(err, &words):
		return string(words)
	case errors.As(err, &answer):
		return said(err, answer)
	case ctx.Err() == context.Canceled:
		return "The caller left"
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return "The relay did not answer in time"
	case errors.As(err, &dns):
		return "The relay's host was not found"
	case sockets.IsError(err, syscall.ECONNREFUSED):
		return "The relay refused the connection"
	case errors.As(err, &authority):
		return "The relay's certificate is not signed by a trusted authority"
	case errors.As(err, &unverified):
		return "The relay's certificate is not valid"
	case errors.As(err, &notTLS):
		return "The relay does not speak TLS"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), sockets.IsError(err, syscall.ECONNRESET), sockets.IsError(err, syscall.EPIPE):
		return "The relay closed the connection"
	}
	return "The relay does not speak SMTP as expected"
}

// said is the server's answer on one line, with the recipient it is about.
func said(err error, answer *smtp.SMTPError) string {
	what := "the message"
	if r := (refusal{}); errors.As(err, &r) {
		what = r.of
	}
	code := strconv.Itoa(answer.Code)
	if e := answer.EnhancedCode; e != (smtp.EnhancedCode{}) {
		code += fmt.Sprintf(" %d.%d.%d", e[0], e[1], e[2])
	}
	return strings.TrimSpace(fmt.Sprintf("The relay refused %s: %s %s", what, code, quote(answer.Message)))
}
