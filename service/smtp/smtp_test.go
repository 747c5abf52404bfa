package smtp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	netsmtp "net/smtp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"mayfly/internal/fortest"
	"mayfly/service"
)

// inboxes is a service with the inboxes a@box.test to f@box.test, "odd one"@box.test and
// jürgen@box.test.
type inboxes struct {
	mu         sync.Mutex
	delivered  []delivery
	deliveries []service.Delivery
	err        error         // of Deliver
	blocked    chan struct{} // Deliver waits for it, if it is not nil
}

type delivery struct {
	from string
	to   []string
	raw  string
}

func (s *inboxes) Authenticate(_ context.Context, secret string) (service.Key, error) {
	switch secret {
	case "right":
		return service.Key{ID: "key_right", Plan: service.Dev}, nil
	case "free":
		return service.Key{ID: "key_free", Plan: service.Free}, nil
	case "broken":
		return service.Key{}, errors.New("disk sda1 is on fire")
	}
	return service.Key{}, service.Errorf(service.Unauthorized, "Invalid API key")
}

func (s *inboxes) Recipient(_ context.Context, login, address string) (service.Recipient, error) {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	switch {
	case login != "" && local == "revoked":
		return service.Recipient{}, service.Errorf(service.Unauthorized, "Invalid API key")
	case login != "":
		return service.Recipient{Address: address, KeyID: login}, nil
	case local == "full":
		return service.Recipient{}, service.Errorf(service.OverQuota, "used up")
	case local == "broken":
		return service.Recipient{}, fmt.Errorf("disk sda1 is on fire")
	case domain != "box.test":
	case local == "d", local == "e", local == "f":
		return service.Recipient{Address: address, InboxID: "inbox_" + local, KeyID: "key_" + local}, nil
	case local == "d+smtp-lost", len(local) == 1 && "a" <= local && local <= "c", local == `"odd one"`, local == "jürgen":
		return service.Recipient{Address: address, InboxID: "inbox_" + local}, nil
	}
	return service.Recipient{Address: address}, service.Errorf(service.NotFound, "No such inbox")
}

func (s *inboxes) Deliver(ctx context.Context, d service.Delivery) error {
	if s.blocked != nil {
		select {
		case <-s.blocked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	got := delivery{from: d.From, raw: string(d.Raw)}
	for _, r := range d.To {
		got.to = append(got.to, r.Address)
	}
	d.Messages = maps.Clone(d.Messages)
	s.delivered, s.deliveries = append(s.delivered, got), append(s.deliveries, d)
	return nil
}

func (s *inboxes) Inboxes(context.Context, service.Key, service.Page) (service.InboxList, error) {
	return service.InboxList{}, nil
}

func (s *inboxes) IsUnlimited(k service.Key) bool { return k.ID == "all" }

func (s *inboxes) IsShared() bool { return false }

func (s *inboxes) mails() []delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.delivered)
}

// stats are what a server has counted, and its present state.
type stats struct{ connections, sessions, accepted, acceptedBytes, delivering, inFlight int }

func (s *Server) stats() stats {
	return stats{s.sessions.Len(), value(s.count.sessions), value(s.count.accepted), value(s.count.acceptedBytes), value(s.count.delivering), int(s.memory.Used())}
}

func (s *Server) refusals(r reason) int { return value(s.count.refused.WithLabelValues(string(r))) }

func value(m prometheus.Metric) int {
	var d dto.Metric
	if err := m.Write(&d); err != nil {
		panic(err)
	}
	return int(d.GetCounter().GetValue() + d.GetGauge().GetValue())
}

var must = fortest.Must

func serve(t *testing.T, svc Service, o Options) (*Server, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	return serveOn(t, l, svc, o), l.Addr().String()
}

func serveOn(t *testing.T, l net.Listener, svc Service, o Options) *Server {
	t.Helper()
	if o.Hostname == "" {
		o.Hostname = "mx.test"
	}
	s, err := New(svc, o)
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

type peer struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, address string) *peer {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	must(t, err)
	return newClient(t, nc)
}

func newClient(t *testing.T, nc net.Conn) *peer {
	c := &peer{t: t, Conn: nc, r: bufio.NewReader(nc)}
	t.Cleanup(func() { nc.Close() })
	return c
}

func (c *peer) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("sending %.60q: %v", s, err)
	}
}

// expect reads a reply, whose last line must start with want.
func (c *peer) expect(want string) string {
	c.t.Helper()
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			c.t.Fatalf("got %v (and %q), want %q", err, line, want)
		}
		if len(line) > 3 && line[3] == '-' {
			continue
		}
		if !strings.HasSuffix(line, "\r\n") || !strings.HasPrefix(line, want) {
			c.t.Fatalf("got %q, want %q", line, want)
		}
		return line
	}
}

func (c *peer) expectEnd() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
		c.t.Fatalf("got %q and %v, want the end", rest, err)
	}
}

// run plays a script. A line is sent, and the reply behind " → " is expected; "→ " alone expects one more.
func (c *peer) run(script string) {
	c.t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		send, want, replied := strings.Cut(strings.TrimSpace(line), "→ ")
		if send != "" || !replied {
			c.send(strings.TrimSuffix(send, " ") + "\r\n")
		}
		if replied {
			c.expect(want)
		}
	}
}

// accepted is a conversation in which each of the senders is accepted.
func accepted(senders ...string) string {
	var b strings.Builder
	for _, s := range senders {
		b.WriteString("MAIL FROM:<" + s + "> → 250 2.1.0\nRSET → 250\n")
	}
	return strings.TrimSpace(b.String())
}

func TestConversations(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script string }{
		{"a mail", `
			EHLO me → 250 ENHANCEDSTATUSCODES
			MAIL FROM:<x@y.test> → 250 2.1.0
			RCPT TO:<a@box.test> → 250 2.1.5
			DATA → 354
			Subject: hi

			. → 250 2.0.0
			QUIT → 221 2.0.0`},
		{"lower case and HELO", `
			helo me → 250 mx.test
			mail from:<x@y.test> → 250
			rcpt to:<A@Box.Test> → 250`},
		{"null sender", `
			EHLO me → 250
			MAIL FROM:<> → 250
			RCPT TO:<a@box.test> → 250`},
		{"no greeting", `
			MAIL FROM:<x@y.test> → 503 5.5.1`},
		{"order", `
			EHLO me → 250
			RCPT TO:<a@box.test> → 503 5.5.1
			DATA → 503 5.5.1
			MAIL FROM:<x@y.test> → 250
			MAIL FROM:<x@y.test> → 503 5.5.1
			DATA → 554 5.5.1
			RSET → 250
			RCPT TO:<a@box.test> → 503
			MAIL FROM:<x@y.test> → 250
			EHLO again → 250
			RCPT TO:<a@box.test> → 503`},
		{"recipients that are refused", `
			EHLO me → 250
			MAIL FROM:<x@y.test> → 250
			RCPT TO:<nobody@box.test> → 550 5.1.1
			RCPT TO:<a@elsewhere.test> → 550 5.1.1
			RCPT TO:<postmaster> → 550 5.1.1
			RCPT TO:<full@box.test> → 452 4.2.2
			RCPT TO:<broken@box.test> → 451 4.3.0
			RCPT TO:<a%elsewhere.test@box.test> → 550 5.1.1
			RCPT TO:<a@[127.0.0.1]> → 550 5.1.1
			RCPT TO:<@relay.test:a@box.test> → 250
			RCPT TO:<> → 501 5.1.3
			RCPT TO:<a@box.test> FOO=BAR → 555 5.5.4`},
		{"senders of real mailers", `
			EHLO me → 250
			` + accepted(
			"bounce-"+strings.Repeat("v", 58)+"@y.test", strings.Repeat("v", 255)+"@"+strings.Repeat("a.", 120)+"test",
			"a..b@docomo.ne.jp", "a.@docomo.ne.jp", ".a@docomo.ne.jp", "a@b.c.", "root", "x@@y.test", "x@-y.test", "x@under_score.test",
			"x@y..test", "<nested@y.test", "=?utf-8?q?x?=@y.test", "a:b@y.test", "a(b)@y.test", "a,b@y.test", `"x > y"@z.test`) + `
			MAIL FROM:<x@y.test> → 250
			RCPT TO:<a@box.test.> → 250
			RCPT TO:<a..b@box.test> → 501 5.1.3
			RCPT TO:<a.@box.test> → 501 5.1.3
			RCPT TO:<a@box.test..> → 501 5.1.3
			RCPT TO:<root> → 501 5.1.3
			RCPT TO:<` + strings.Repeat("v", 65) + `@box.test> → 501 5.1.3`},
		{"extensions that are not offered", `
			EHLO me → 250
			MAIL FROM:<x@y.test> RET=FULL → 555 5.5.4
			MAIL FROM:<x@y.test> BODY=BINARYMIME → 501 5.5.4
			MAIL FROM:<x@y.test> → 250
			RCPT TO:<a@box.test> NOTIFY=NEVER → 555 5.5.4
			BDAT 0 LAST → 500 5.5.1`},
		{"quoted local parts", `
			EHLO me → 250
			MAIL FROM:<"x > y"@z.test> → 250
			RCPT TO:<"a"@box.test> → 250
			RCPT TO:<"odd one"@box.test> → 250
			RCPT TO:<"a@box.test> → 501
			RCPT TO:<odd one@box.test> → 501`},
		{"paths that are refused", `
			EHLO me → 250
			MAIL FROM x@y.test → 501 5.5.4
			MAIL FROM:x@y.test → 501 5.5.4
			MAIL FROM:<x@y.test → 501
			MAIL FROM:<x y@y.test> → 501 5.1.7
			MAIL FROM:<` + strings.Repeat("v", 256) + `@y.test> → 501 5.1.7
			MAIL FROM:<@relay.test:> → 501 5.1.7
			MAIL TO:<x@y.test> → 501 5.5.4
			MAIL FROM:<x@y.test>SIZE=1 → 501 5.5.4
			MAIL → 501`},
		{"parameters", `
			EHLO me → 250
			MAIL FROM:<x@y.test> SIZE=abc → 501 5.5.4
			MAIL FROM:<x@y.test> SIZE → 501 5.5.4
			MAIL FROM:<x@y.test> SIZE=1 size=2 → 501 5.5.4
			MAIL FROM:<x@y.test> BODY=OTHER → 501 5.5.4
			MAIL FROM:<x@y.test> FOO=BAR → 555 5.5.4
			MAIL FROM:<x@y.test> =1 → 501 5.5.4
			MAIL FROM:<x@y.test> SIZE=99999999999999999999 → 552 5.3.4
			MAIL FROM:<x@y.test> SIZE=1000  BODY=8bitmime SMTPUTF8 → 250`},
		{"SMTPUTF8", `
			EHLO me → 250
			MAIL FROM:<ü@y.test> → 553 5.6.7
			MAIL FROM:<x@y.test> → 250
			RCPT TO:<jürgen@box.test> → 553 5.6.7
			RSET → 250
			MAIL FROM:<ü@bücher.test> SMTPUTF8 → 250
			RCPT TO:<jürgen@box.test> → 250`},
		{"nothing is revealed", `
			VRFY a → 252 2.5.0
			VRFY nobody → 252 2.5.0
			EXPN list → 502 5.5.1`},
		{"small commands", `
			NOOP → 250 2.0.0
			NOOP with words → 250 2.0.0
			HELP → 214
			RSET → 250
			EHLO → 501 5.5.4
			WHAT → 500 5.5.1
			QUIT now → 501
			STARTTLS → 502 5.5.1
			DATA x → 501`},
		{"a web page", `
			POST / HTTP/1.1 → 421 4.7.0`},
		{"a request line of HTTP", `
			Trace /x HTTP/1.1 → 421 4.7.0`},
		{"TLS", "\x16\x03\x01\x02\x00\x01 → 421 4.7.0"},
		{"what comes after a request line that is too long", `
			GET /` + strings.Repeat("x", 5000) + ` HTTP/1.1 → 500 5.5.2
			Host: 127.0.0.1:2525 → 421 4.7.0`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, address := serve(t, &inboxes{}, Options{})
			c := dial(t, address)
			c.expect("220 mx.test")
			c.run(test.script)
		})
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	_, address := serve(t, &inboxes{}, Options{AuthAny: true, Limits: Limits{MaxMessageBytes: 1000}})
	c, err := netsmtp.Dial(address)
	must(t, err)
	defer c.Close()
	for _, want := range [][2]string{{"PIPELINING"}, {"SIZE", "1000"}, {"8BITMIME"}, {"SMTPUTF8"}, {"ENHANCEDSTATUSCODES"}, {"AUTH", "PLAIN LOGIN"}} {
		if ok, param := c.Extension(want[0]); !ok || param != want[1] {
			t.Errorf("%s: got %v, %q", want[0], ok, param)
		}
	}
	if ok, _ := c.Extension("STARTTLS"); ok {
		t.Error("STARTTLS without a certificate")
	}
}

// envelope begins a transaction for a@box.test.
const envelope = "EHLO me\r\nMAIL FROM:<x@y.test>\r\nRCPT TO:<a@box.test>\r\n"

func (c *peer) envelope() {
	c.t.Helper()
	c.expect("220")
	c.send(envelope)
	c.expect("250")
	c.expect("250")
	c.expect("250")
}

func (c *peer) beginData() {
	c.t.Helper()
	c.envelope()
	c.run("DATA → 354")
}

// What ends a message for some servers but not for others (SMTP smuggling) ends no message here:
// the message with it is refused.
func TestOnlyCRLFDotCRLFEndsAMessage(t *testing.T) {
	t.Parallel()
	const smuggled = "MAIL FROM:<evil@y.test>\r\nRCPT TO:<b@box.test>\r\nDATA\r\nSubject: smuggled\r\n\r\n"
	for _, end := range []string{
		"\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r", "\r.\n", "\n.\r", "\n\n.\r\n", "\r\r.\r\n", "\r\n.\r\r\n", "\n\r.\r\n",
	} {
		t.Run(fmt.Sprintf("%q", end), func(t *testing.T) {
			svc := &inboxes{}
			s, address := serve(t, svc, Options{})
			c := dial(t, address)
			c.beginData()
			c.send("Subject: one\r\n\r\ntext" + end + smuggled + ".\r\n")
			c.expect("554 5.6.0")
			c.run("NOOP → 250 2.0.0")
			if got := svc.mails(); len(got) > 0 {
				t.Errorf("delivered %q", got)
			}
			if st := s.stats(); s.refusals(ambiguousEnd) != 1 {
				t.Errorf("stats: %+v", st)
			}
		})
	}
}

func TestCommandsEndInCRLF(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"NOOP\n", "NOOP\r\nNOOP\n", "NO\rOP\r\n", "NOOP\r\r\n", "\n", "MAIL FROM:<x@y.test>\nRCPT TO:<a@box.test>\r\n"} {
		t.Run(fmt.Sprintf("%q", line), func(t *testing.T) {
			_, address := serve(t, &inboxes{}, Options{})
			c := dial(t, address)
			c.expect("220")
			c.send(line)
			if strings.HasPrefix(line, "NOOP\r\nN") {
				c.expect("250")
			}
			c.expect("500 5.5.2")
			c.expectEnd()
		})
	}
}

func TestPipelining(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	s, address := serve(t, svc, Options{})
	c := dial(t, address)
	all := "EHLO me\r\n"
	const count = 500
	for i := range count {
		all += fmt.Sprintf("MAIL FROM:<x@y.test>\r\nRCPT TO:<a@box.test>\r\nDATA\r\nSubject: %d\r\n\r\n..\x00\xff\x1b[2J\nx\n\r\r\n.\r\n", i)
	}
	go io.WriteString(c, all+"QUIT\r\n")
	c.run("→ 220\n→ 250\n" + strings.Repeat("→ 250\n→ 250\n→ 354\n→ 250 2.0.0\n", count) + "→ 221")
	c.expectEnd()
	size := 0
	for i, got := range svc.mails() {
		want := fmt.Sprintf("Subject: %d\r\n\r\n.\x00\xff\x1b[2J\nx\n\r\r\n", i)
		if size += len(want); got.raw != want || got.from != "x@y.test" || !slices.Equal(got.to, []string{"a@box.test"}) {
			t.Fatalf("mail %d: %q", i, got)
		}
	}
	if st := s.stats(); st.accepted != count || st.acceptedBytes != size || st.inFlight != 0 {
		t.Errorf("stats: %+v", st)
	}
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestErrorsOfTheServiceStayInside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("pebble: /var/lib/x is broken"), "451 4.3.0 Cannot store the message now, try again later"},
		{service.Errorf(service.Full, "disk sda1"), "452 4.3.1 No space left"},
		{service.Errorf(service.OverQuota, "key ci"), "452 4.2.2"},
		{service.Errorf(service.NotFound, "inbox_123"), "550 5.1.1"},
		{service.Errorf(service.Unavailable, "db at 10.0.0.1"), "452 4.3.2 The store is unavailable, try again later"},
	} {
		t.Run(test.want, func(t *testing.T) {
			log := make(lines, 10)
			s, address := serve(t, &inboxes{err: test.err}, Options{Log: slog.New(slog.NewTextHandler(log, nil))})
			c := dial(t, address)
			c.envelope()
			for range 2 {
				c.run("DATA → 354")
				c.send("x\r\n.\r\n")
				if line := c.expect(test.want); strings.Contains(line, test.err.Error()) {
					t.Errorf("got %q", line)
				}
				c.run("MAIL FROM:<x@y.test> → 250\nRCPT TO:<a@box.test> → 250") // the session goes on
			}
			// A fault is a line a minute, with how much mail it has refused.
			faults := map[service.Code]int{service.Full: 1, service.Unavailable: 1, service.Internal: 1}[service.ErrorCode(test.err)]
			if len(log) != faults {
				t.Fatalf("%d lines of log", len(log))
			}
			if faults > 0 {
				if line := <-log; !strings.Contains(line, test.err.Error()) || !strings.Contains(line, "refused=1\n") {
					t.Errorf("logged %s", line)
				}
			}
			if st := s.stats(); st.accepted != 0 || st.inFlight != 0 {
				t.Errorf("stats: %+v", st)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	_, address := serve(t, &inboxes{}, Options{AuthAny: true})
	for _, test := range []struct{ name, script string }{
		{"plain", "AUTH PLAIN AHgAeQ== → 235 2.7.0"},
		{"plain asked for", "auth plain → 334\nAHgAeQ== → 235"},
		{"login", "AUTH LOGIN → 334 VXNlcm5hbWU6\neA== → 334 UGFzc3dvcmQ6\neQ== → 235"},
		{"login with a name", "AUTH LOGIN eA== → 334 UGFzc3dvcmQ6\neQ== → 235"},
		{"long", "AUTH PLAIN → 334\n" + strings.Repeat("AAAA", 3000) + " → 235\nNOOP → 250"},
		{"too long", "AUTH PLAIN → 334\n" + strings.Repeat("AAAA", 4000) + " → 500 5.5.6\nNOOP → 250"},
		{"given up", "AUTH LOGIN → 334\n* → 501 5.7.0\nNOOP → 250"},
		{"not base64", "AUTH PLAIN !! → 501 5.5.2\nAUTH LOGIN → 334\n!! → 501 5.5.2"},
		{"unknown", "AUTH GSSAPI → 504 5.5.4\nAUTH → 504"},
		{"twice", "AUTH PLAIN AHgAeQ== → 235\nAUTH PLAIN AHgAeQ== → 503"},
		{"within a mail", "MAIL FROM:<x@y.test> AUTH=<> → 250\nAUTH PLAIN AHgAeQ== → 503"},
		// RFC 5321, section 4.1.1: white space before the line break is tolerated.
		{"white space", "EHLO me \t → 250\nAUTH PLAIN  → 334\nAHgAeQ== → 235\nMAIL FROM:<x@y.test> SIZE=5   → 250\nRCPT TO:<a@box.test>\t → 250\nDATA  → 354\n. → 250\nRSET   → 250\nQUIT  → 221"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, address)
			c.expect("220")
			c.run("EHLO me → 250\n" + test.script)
		})
	}
	t.Run("net/smtp", func(t *testing.T) {
		auth := netsmtp.PlainAuth("", "any", "thing", "127.0.0.1")
		must(t, netsmtp.SendMail(address, auth, "x@y.test", []string{"a@box.test", "b@box.test"}, []byte("Subject: x\r\n\r\ny\r\n")))
	})
}

// What is above a limit is refused, and does not end the session unless → 421 says so.
func TestLimits(t *testing.T) {
	t.Parallel()
	const begin = "MAIL FROM:<x@y.test> → 250\nRCPT TO:<a@box.test> → 250\nDATA → 354\n"
	const mail = begin + "x\n. → 250\n"
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, test := range map[string]struct {
		limits  Limits
		script  string
		refused map[reason]int
		mails   int
	}{
		"recipients": {Limits{MaxRecipients: 2}, "MAIL FROM:<x@y.test> → 250\nRCPT TO:<a@box.test> → 250\nRCPT TO:<b@box.test> → 250\n" +
			"RCPT TO:<c@box.test> → 452 4.5.3\nDATA → 354\nx\n. → 250", map[reason]int{tooManyRecipients: 1}, 1},
		"refused recipients": {Limits{MaxRecipients: 2}, "MAIL FROM:<x@y.test> → 250\nRCPT TO:<p@box.test> → 550\nRCPT TO:<q@box.test> → 550\n" +
			"RCPT TO:<r@box.test> → 550\n→ 421 4.7.0", map[reason]int{unknownRecipient: 3, tooManyErrors: 1}, 0},
		"command line": {Limits{MaxCommandLine: 1000}, "NOOP " + x(1000-7) + " → 250\nNOOP " + x(1000-6) + " → 500 5.5.2\nNOOP → 250",
			map[reason]int{lineTooLong: 1, badCommand: 1}, 0},
		"line of a message": {Limits{MaxTextLine: 1000}, begin + x(1000) + "\n. → 250\n" + begin + "x\n" + x(1001) + "\ny\n. → 554 5.6.0",
			map[reason]int{lineTooLong: 1}, 1},
		"message": {Limits{MaxMessageBytes: 1000}, "MAIL FROM:<x@y.test> SIZE=1001 → 552 5.3.4\nMAIL FROM:<x@y.test> SIZE=1000 → 250\nRSET → 250\n" +
			begin + x(998) + "\n. → 250\n" + begin + x(999) + "\n. → 552 5.3.4\nRCPT TO:<a@box.test> → 503\nNOOP → 250", map[reason]int{tooBig: 2}, 1},
		"errors":   {Limits{MaxErrors: 3}, "ONE → 500\nTWO → 500\nTHREE → 500\n→ 421 4.7.0", map[reason]int{badCommand: 3, tooManyErrors: 1}, 0},
		"messages": {Limits{MaxMessages: 2}, mail + mail + "MAIL FROM:<x@y.test> → 421 4.7.0", map[reason]int{tooManyMessages: 1}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			svc := &inboxes{}
			s, address := serve(t, svc, Options{Limits: test.limits})
			c := dial(t, address)
			c.run("→ 220\nEHLO me → 250\n" + test.script)
			if strings.Contains(test.script, "421") {
				c.expectEnd()
			}
			if got := svc.mails(); len(got) != test.mails {
				t.Errorf("got %d mails", len(got))
			}
			for r, want := range test.refused {
				if n := s.refusals(r); n != want {
					t.Errorf("%s: %d refusals, want %d", r, n, want)
				}
			}
		})
	}
}

// A line of the maximum length may be split anywhere between two reads.
func TestLongestLineAtEverySplit(t *testing.T) {
	t.Parallel()
	line := "12345678\r\n"
	for at := range len(line) {
		var d dotReader
		n, _ := d.next([]byte(line[:at]), func([]byte) {})
		d.next([]byte(line[n:]+line), func([]byte) {})
		if d.longest != 8 {
			t.Errorf("split at %d: %d octets", at, d.longest)
		}
	}
}

// 200 MB without a line break, as a command or as a message, are discarded as they come in.
func TestLongLinesCostNoMemory(t *testing.T) { // not parallel: it counts what the process allocates
	s, address := serve(t, &inboxes{}, Options{})
	c := dial(t, address)
	c.envelope()
	block := bytes.Repeat([]byte("x"), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const count = 200
	for range count {
		_, err := c.Write(block)
		must(t, err)
	}
	c.send("\r\n")
	c.expect("500 5.5.2")
	c.run("DATA → 354")
	for range count {
		_, err := c.Write(block)
		must(t, err)
		if n := s.stats().inFlight; n > 4<<20 {
			t.Fatalf("%d octets held", n)
		}
	}
	c.send("\r\n.\r\n")
	c.expect("554 5.6.0")
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d octets allocated for lines of %d", grown, count<<20)
	}
}

func TestConnectionLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options Options
		reason  reason
	}{
		{"in all", Options{Limits: Limits{MaxConnections: 2}}, connections},
		{"per address", Options{Limits: Limits{MaxConnectionsPerAddress: 2}}, perAddress},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, address := serve(t, &inboxes{}, test.options)
			one, two := dial(t, address), dial(t, address)
			one.expect("220")
			two.expect("220")
			three := dial(t, address)
			three.expect("421 4.3.2")
			three.expectEnd()
			one.run("QUIT → 221")
			one.expectEnd()
			for s.stats().connections > 1 { // the slot is free a moment after the end is seen
				runtime.Gosched()
			}
			dial(t, address).expect("220")
			if st := s.stats(); s.refusals(test.reason) != 1 || st.sessions != 3 || st.connections != 2 {
				t.Errorf("stats: %+v", st)
			}
		})
	}
}

// A balancer's connection that does not say whose it is cannot be answered, and must not hold up those
// after it.
func TestSilentConnectionIsTurnedAway(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		serveOn(t, l, &inboxes{}, Options{Limits: Limits{MaxConnections: 1}})
		newClient(t, l.Dial()).expect("220")
		_, silent := net.Pipe()
		l.Connect(headed{silent})
		begun := time.Now()
		newClient(t, l.Dial()).expect("421 4.3.2")
		if waited := time.Since(begun); waited >= time.Second {
			t.Errorf("the next connection waited for %v", waited)
		}
	})
}

// headed is a connection that is written to only after a header was read, as with the PROXY protocol.
type headed struct{ net.Conn }

func (c headed) Write(b []byte) (int, error) {
	time.AfterFunc(5*time.Second, c.interrupt) // as the listener of a balancer does
	if _, err := c.Read(make([]byte, 1)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c headed) interrupt() { c.SetReadDeadline(time.Now()) }

// An address that guesses recipients is told no more about them, in any of its sessions.
func TestGuessesOfRecipients(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		s := serveOn(t, l, &inboxes{}, Options{Limits: Limits{MaxGuesses: 1}})
		ask := func(client byte, to, want string) {
			t.Helper()
			nc, far := net.Pipe()
			l.Connect(fromAddress{far, &net.TCPAddr{IP: net.IPv4(192, 0, 2, client)}})
			c := newClient(t, nc)
			c.expect("220")
			c.run("EHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<" + to + "@box.test> → " + want + "\nQUIT → 221")
			c.expectEnd()
		}
		ask(1, "guess", "550 5.1.1")
		ask(1, "guess", "450 4.7.1")
		ask(1, "a", "450 4.7.1")
		ask(2, "a", "250")
		time.Sleep(time.Minute)
		ask(1, "a", "250")
		ask(1, "guess", "550")
		ask(1, "a", "250")
		ask(1, "b", "450 4.7.1")
		if st := s.stats(); s.refusals(guesses) != 3 || s.refusals(unknownRecipient) != 2 {
			t.Errorf("stats: %+v", st)
		}
	})
}

type fromAddress struct {
	net.Conn
	remote net.Addr
}

func (c fromAddress) RemoteAddr() net.Addr { return c.remote }

// Messages for one key leave memory for those for others, wherever they come from.
func TestMemoryInFlightOfAKey(t *testing.T) {
	t.Parallel()
	l := fortest.NewPipes()
	s := serveOn(t, l, &inboxes{}, Options{Limits: Limits{MaxMessageBytes: 40 << 10, MaxInFlightBytes: 160 << 10}})
	begin := func(to string) *peer {
		c := newClient(t, l.Dial())
		c.expect("220")
		c.run("EHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<" + to + "@box.test> → 250\nDATA")
		return c
	}
	large := begin("f")
	large.expect("354")
	var sending []*peer
	for range 4 {
		c := begin("d")
		c.expect("354")
		sending = append(sending, c)
	}
	large.send(strings.Repeat("0123456789\r\n", 3000) + ".\r\n") // outgrows the memory
	large.expect("452 4.3.1")
	large.Close()
	sending = append(sending, begin("d"))
	sending[4].expect("354")
	begin("d").expect("452 4.3.1")
	other := begin("e")
	other.expect("354")
	other.send("x\r\n.\r\n")
	other.expect("250 2.0.0")
	sending[0].send("x\r\n.\r\n")
	sending[0].expect("250 2.0.0")
	sending[1].Close() // in the middle of its message
	for s.stats().connections > 6 {
		runtime.Gosched()
	}
	for range 2 {
		begin("d").expect("354")
	}
	begin("d").expect("452 4.3.1")
	for range 2 { // nor can two keys together use up the memory
		begin("e").expect("354")
	}
	begin("e").expect("452 4.3.1")
	begin("f").expect("354")
}

// The options ensure that there is enough memory for the largest message.
func TestLargestMessageFitsInFlight(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{2, 16 << 10, 16<<10 + 1, 256 << 10, 1 << 20, 1<<20 + 1, 3 << 20} {
		svc := &inboxes{}
		o := Options{Limits: Limits{MaxMessageBytes: size, MaxInFlightBytes: 2 * maxBufferBytes(size), MaxTextLine: 4 << 20}}
		_, address := serve(t, svc, o)
		c := dial(t, address)
		c.beginData()
		c.send(strings.Repeat("x", int(size-2)) + "\r\n.\r\n")
		c.expect("250 2.0.0 Stored")
		o.MaxInFlightBytes--
		if _, err := New(svc, o); err == nil {
			t.Errorf("less memory than a message of %d octets takes is let through", size)
		}
	}
}

// inFakeTime runs a test with a listener, in a bubble.
func inFakeTime(t *testing.T, test func(t *testing.T, l *fortest.Pipes)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, fortest.NewPipes()) })
}

func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, before string }{
		{"at the start", ""},
		{"within a line", "NOO"},
		{"within data", envelope + "DATA\r\nab"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fortest.NewPipes()
				s := serveOn(t, l, &inboxes{}, Options{Limits: Limits{IdleTimeout: time.Minute}})
				c := newClient(t, l.Dial())
				begun := time.Now()
				c.expect("220")
				if test.before != "" {
					go io.WriteString(c, test.before)
				}
				all, err := io.ReadAll(c.r)
				if lines := strings.Split(string(all), "\r\n"); err != nil || len(lines) < 2 || !strings.HasPrefix(lines[len(lines)-2], "421 4.4.2") {
					t.Errorf("got %q, %v", all, err)
				}
				if d := time.Since(begun); d < 50*time.Second || d > time.Minute {
					t.Errorf("ended after %v", d)
				}
				if st := s.stats(); s.refusals(timedOut) != 1 || st.inFlight != 0 {
					t.Errorf("stats: %+v", st)
				}
			})
		})
	}
}

func TestSessionTimeout(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		serveOn(t, l, &inboxes{}, Options{Limits: Limits{IdleTimeout: time.Minute, SessionTimeout: 10 * time.Minute}})
		c := newClient(t, l.Dial())
		begun := time.Now()
		c.expect("220")
		for range 19 { // never idle
			time.Sleep(30 * time.Second)
			c.run("NOOP → 250")
		}
		c.expect("421 4.4.2")
		if d := time.Since(begun); d != 10*time.Minute {
			t.Errorf("ended after %v", d)
		}
	})
}

// A client that ends its mail with LF.LF waits for an answer, and gets one that says what is wrong.
func TestStalledAfterAmbiguousEnd(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		svc := &inboxes{}
		serveOn(t, l, svc, Options{})
		c := newClient(t, l.Dial())
		c.beginData()
		begun := time.Now()
		c.send("Subject: x\n\ny\n.\n")
		c.expect("554 5.6.0")
		c.expectEnd()
		if d := time.Since(begun); d != ambiguousEndTimeout {
			t.Errorf("answered after %v", d)
		}
		if len(svc.mails()) > 0 {
			t.Error("delivered")
		}
	})
}

// The idle timeout also applies to a peer that does not read its replies.
func TestPeerThatDoesNotRead(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		s := serveOn(t, l, &inboxes{}, Options{Limits: Limits{IdleTimeout: time.Minute}})
		l.Dial()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if st := s.stats(); st.connections != 0 {
			t.Errorf("stats: %+v", st)
		}
	})
}

func TestShutdown(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		svc := &inboxes{blocked: make(chan struct{})}
		s := serveOn(t, l, svc, Options{})
		idle, sending, stored := newClient(t, l.Dial()), newClient(t, l.Dial()), newClient(t, l.Dial())
		finishing, fresh := newClient(t, l.Dial()), newClient(t, l.Dial())
		idle.expect("220")
		finishing.beginData()
		finishing.send("half and ")
		sending.beginData()
		sending.send("half of")
		stored.beginData()
		stored.send("whole\r\n.\r\n")
		synctest.Wait()

		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		// What has begun is completed, within ten seconds.
		finishing.send("half\r\n.\r\n")
		fresh.beginData()
		fresh.send("new\r\n.\r\n")
		idle.expect("421 4.3.2")
		idle.expectEnd()
		sending.expect("421 4.3.2")
		sending.expectEnd()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("ended with %v before the mail was stored", err)
		default:
		}
		close(svc.blocked)
		stored.expect("250 2.0.0")
		stored.expect("421 4.3.2")
		stored.expectEnd()
		for _, c := range []*peer{finishing, fresh} {
			c.expect("250 2.0.0")
			c.expect("421 4.3.2")
			c.expectEnd()
		}
		must(t, <-ended)
		var got []string
		for _, m := range svc.mails() {
			got = append(got, m.raw)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"half and half\r\n", "new\r\n", "whole\r\n"}) {
			t.Errorf("got %q", got)
		}
	})
}

func TestShutdownThatRunsOutOfTime(t *testing.T) {
	inFakeTime(t, func(t *testing.T, l *fortest.Pipes) {
		svc := &inboxes{blocked: make(chan struct{})} // never
		s, err := New(svc, Options{})
		must(t, err)
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		c := newClient(t, l.Dial())
		c.beginData()
		c.send("x\r\n.\r\n")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err == nil {
			t.Error("no error")
		}
		if line, err := c.r.ReadString('\n'); err == nil && strings.HasPrefix(line, "250") {
			t.Errorf("answered %q", line)
		}
		must(t, <-served)
	})
}

func TestSTARTTLS(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	certificate, _ := fortest.Certificate()
	_, address := serve(t, svc, Options{TLS: certificate})
	c, err := netsmtp.Dial(address)
	must(t, err)
	defer c.Close()
	must(t, c.StartTLS(&tls.Config{InsecureSkipVerify: true}))
	if ok, _ := c.Extension("STARTTLS"); ok {
		t.Error("STARTTLS within TLS")
	}
	must(t, c.Mail("x@y.test"))
	must(t, c.Rcpt("a@box.test"))
	w, err := c.Data()
	must(t, err)
	io.WriteString(w, "Subject: secret\r\n\r\n")
	must(t, w.Close())
	must(t, c.Quit())
	if got := svc.mails(); len(got) != 1 || got[0].raw != "Subject: secret\r\n\r\n" {
		t.Errorf("got %q", got)
	}

	t.Run("input before the handshake", func(t *testing.T) {
		c := dial(t, address)
		c.expect("220")
		c.run("EHLO me → 250")
		c.send("STARTTLS\r\nMAIL FROM:<evil@y.test>\r\n")
		c.expect("421 4.7.0")
		c.expectEnd()
	})
	t.Run("greeting is forgotten", func(t *testing.T) {
		c := dial(t, address)
		c.expect("220")
		c.run("EHLO me → 250\nSTARTTLS → 220")
		secure := newClient(t, tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}))
		secure.run("MAIL FROM:<x@y.test> → 503\nSTARTTLS → 503\nEHLO me → 250\nMAIL FROM:<x@y.test> → 250")
	})
}

// A panic ends the session in which it happened, and what it held is free again.
func TestPanicEndsOneSession(t *testing.T) {
	t.Parallel()
	s, address := serve(t, &panicking{}, Options{})
	other := dial(t, address)
	other.run("→ 220\nEHLO other → 250")
	c := dial(t, address)
	c.run("→ 220\nEHLO me → 250\nMAIL FROM:<> → 250\nRCPT TO:<d@box.test> → 250\nDATA → 354\nx\n. → 421 4.3.0")
	c.expectEnd()
	other.run("QUIT → 221")
	other.expectEnd()
	must(t, s.Shutdown(t.Context()))
	if st := s.stats(); st.connections != 0 || st.delivering != 0 || st.inFlight != 0 {
		t.Errorf("left over: %+v", st)
	}
}

type panicking struct{ inboxes }

func (*panicking) Deliver(context.Context, service.Delivery) error { panic("on a message") }

// Replies wait for the commands that were sent with theirs, but not as many as fit into the largest
// buffer: each connection would keep their memory.
func TestManyRepliesAreSentMeanwhile(t *testing.T) {
	t.Parallel()
	l := fortest.NewPipes()
	serveOn(t, l, &inboxes{}, Options{})
	c := newClient(t, l.Dial())
	c.expect("220")
	go io.WriteString(c, "NOOP "+strings.Repeat("x", commandSize)+"\r\n"+strings.Repeat("EHLO x\r\n", bulkSize/8)+"QUIT\r\n")
	b := make([]byte, 1<<20)
	for longest := 0; ; {
		n, err := c.Read(b)
		if longest = max(longest, n); err != nil {
			if longest > 2*commandSize {
				t.Errorf("%d octets of replies were kept", longest)
			}
			return
		}
	}
}
