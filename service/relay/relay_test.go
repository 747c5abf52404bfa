package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"mayfly/internal/fortest"
	"mayfly/service"
)

const raw = "From: ada@engine.example\r\nSubject: dots\r\n\r\n.\r\n..two\r\nend"

var must = fortest.Must

type mailServer struct {
	addr   string
	roots  *x509.CertPool
	refuse map[string]*smtp.SMTPError // answers to RCPT, or to the message for "data"

	mu       sync.Mutex
	taken    []taken
	greeters []string // what clients call themselves, in each EHLO
}

type taken struct {
	user, from string
	options    smtp.MailOptions
	to         []string
	raw        string
}

// session is one of the server's; it implements smtp.AuthSession.
type session struct {
	server *mailServer
	taken
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "open sesame" {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	s.from, s.options = from, *o
	return nil
}
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.server.refuse[to]; err != nil {
		return err
	}
	s.to = append(s.to, to)
	return nil
}
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.refuse["data"]; err != nil {
		return err
	}
	s.raw = string(text)
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.taken = append(s.server.taken, s.taken)
	return nil
}
func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// newMailServer runs a server with STARTTLS, or TLS from the start, until the test ends.
func newMailServer(t *testing.T, change func(*smtp.Server), fromStart bool) *mailServer {
	t.Helper()
	certificate, roots := fortest.Certificate()
	m := &mailServer{roots: roots, refuse: map[string]*smtp.SMTPError{}}
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.greeters = append(m.greeters, c.Hostname())
		return &session{server: m}, nil
	}))
	s.Domain, s.EnableSMTPUTF8, s.MaxMessageBytes, s.MaxLineLength, s.TLSConfig = "mail.test", true, 40<<20, 20_000, certificate
	s.ErrorLog = discard{}
	if change != nil {
		change(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	m.addr = l.Addr().String()
	if fromStart {
		l = tls.NewListener(l, s.TLSConfig)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) }) // ends when it is closed
	t.Cleanup(func() {
		_ = s.Close()
		_ = l.Close() // if it was not serving yet
		serving.Wait()
	})
	return m
}

type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}

func (m *mailServer) configuration(t *testing.T) Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(file, []byte("open sesame\n"), 0o600))
	return Config{Host: m.addr, User: "mayfly", PasswordFile: file, From: "mayfly@sender.example", Allow: []string{"QA@example.com", "*@Example.org"}}
}

func (m *mailServer) relay(t *testing.T, change func(*Config)) *Relay {
	t.Helper()
	c := m.configuration(t)
	if change != nil {
		change(&c)
	}
	must(t, c.Check(nil))
	r := New(c, "mayfly.example")
	r.roots = m.roots
	return r
}

var resentFields = regexp.MustCompile(`^Resent-Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}\r
Resent-From: mayfly@sender\.example\r
Resent-To: ((?:.+,\r\n )*.+)\r
Resent-Message-ID: <\w{26}@sender\.example>\r
`)

func TestAMessageIsReleasedAsItWasReceived(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server    func(*smtp.Server)
		config    func(*Config)
		fromStart bool
		raw       string
		stray     string // what of it is left out
		eightBit  bool
		utf8      bool
	}{
		"STARTTLS":            {raw: raw},
		"TLS from the start":  {raw: raw, fromStart: true, config: func(c *Config) { c.TLS = "tls" }},
		"without TLS":         {raw: raw, server: func(s *smtp.Server) { s.TLSConfig, s.AllowInsecureAuth = nil, true }, config: func(c *Config) { c.TLS = "none" }},
		"without a login":     {raw: raw, config: func(c *Config) { c.User, c.PasswordFile = "", "" }},
		"8-bit body":          {raw: "Subject: x\r\n\r\nGr\xfc\xdfe", eightBit: true},
		"UTF-8 header":        {raw: "Subject: Grüße\r\n\r\nx", eightBit: true, utf8: true},
		"no fields":           {raw: "From x\r\nSubject: x\r\n\r\nFrom x\r\n", stray: "From x\r\n"},
		"text alone":          {raw: "Hello.\r\n\r\nx"},
		"no header":           {raw: " continued\r\n\r\nx"},
		"nothing":             {raw: ""},
		"long line and 10 MB": {raw: "Subject: x\r\n\r\n" + strings.Repeat("z", 10_000) + "\r\n" + strings.Repeat(".dot\r\n", 2<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMailServer(t, test.server, test.fromStart)
			r := m.relay(t, test.config)
			to := []string{"qa@EXAMPLE.com", "any.body+tag@example.ORG"}
			must(t, r.Release(t.Context(), "key_1", to, []byte(test.raw)))
			if len(m.taken) != 1 {
				t.Fatalf("it took %d messages", len(m.taken))
			}
			got := m.taken[0]
			fields := resentFields.FindStringSubmatch(got.raw)
			if fields == nil || fields[1] != strings.Join(to, ",\r\n ") {
				t.Fatalf("it begins with %.400q", got.raw)
			}
			body := strings.TrimPrefix(strings.TrimSuffix(got.raw[len(fields[0]):], "\r\n"), "\r\n")
			if body != strings.TrimSuffix(strings.Replace(test.raw, test.stray, "", 1), "\r\n") {
				t.Errorf("it is %.400q", body)
			}
			// Servers such as smtp-relay.gmail.com hang up on any EHLO localhost.
			if slices.ContainsFunc(m.greeters, func(name string) bool { return name != "mayfly.example" }) {
				t.Errorf("it is greeted by %q", m.greeters)
			}
			if got.from != "mayfly@sender.example" || !slices.Equal(got.to, to) || got.user != r.config.User {
				t.Errorf("from %s to %s, user %q", got.from, got.to, got.user)
			}
			if got.options.UTF8 != test.utf8 || test.eightBit && got.options.Body != smtp.Body8BitMIME || got.options.Size < int64(len(test.raw)) {
				t.Errorf("options %+v", got.options)
			}
		})
	}
}

func TestWhatIsNotReleased(t *testing.T) {
	t.Parallel()
	m := newMailServer(t, nil, false)
	r := m.relay(t, nil)
	odd := "o'neil%mail.example/x@odd.example"
	r.config.Allow = append(r.config.Allow, odd)
	tests := []struct {
		to   []string
		raw  string
		want service.Code
	}{
		{[]string{odd}, raw, ""},
		{nil, raw, service.Invalid},
		{slices.Repeat([]string{"qa@example.com"}, maxRecipients+1), raw, service.Invalid},
		{[]string{"qa@example.com", "eve@evil.example"}, raw, service.Forbidden},
		{[]string{"qa@mail.example.com"}, raw, service.Forbidden},
		{[]string{"x@mail.example.org"}, raw, service.Forbidden},
		{[]string{"x@evilexample.org"}, raw, service.Forbidden},
		{[]string{"x@example.org.evil.example"}, raw, service.Forbidden},
		{[]string{"qa+tag@example.com"}, raw, service.Forbidden},
		{[]string{`"*@example.org"@evil.example`}, raw, service.Invalid},
		{[]string{`"a@b"@example.org`}, raw, service.Invalid},
		{[]string{"eve@evil.example@example.org"}, raw, service.Invalid},
		{[]string{"@evil.example:x@example.org"}, raw, service.Invalid},
		{[]string{"x@example.org\r\nRCPT TO:<eve@evil.example>"}, raw, service.Invalid},
		{[]string{"x@example.org> NOTIFY=NEVER"}, raw, service.Invalid},
		{[]string{"x@example.org\n"}, raw, service.Invalid},
		{[]string{"x@example.org\x00"}, raw, service.Invalid},
		{[]string{"x@example.org."}, raw, service.Invalid},
		{[]string{"x@example.org "}, raw, service.Invalid},
		{[]string{"eve%evil.example@odd.example"}, raw, service.Forbidden},
		{[]string{"x@[127.0.0.1]"}, raw, service.Invalid},
		{[]string{"grüße@example.org"}, raw, service.Invalid},
		{[]string{"x@exampLe.org"}, raw, ""},
		{[]string{"x@ex\u00e4mple.org"}, raw, service.Invalid},
		{[]string{"x@e\u0131xample.org"}, raw, service.Invalid},
		{[]string{strings.Repeat("x", 65) + "@example.org"}, raw, service.Invalid},
		{[]string{"x@" + strings.Repeat("x.", 200) + "example.org"}, raw, service.Invalid},
		{[]string{""}, raw, service.Invalid},
		{[]string{"qa@example.com"}, "a\x00b", service.Invalid},
		{[]string{"qa@example.com"}, "a\nb", service.Invalid},
		{[]string{"qa@example.com"}, "a\r.\r\nMAIL FROM:<eve@evil.example>\r\n", service.Invalid},
	}
	// What *@example.org stands for: many servers send user%host and host!user on to that host, and run |command.
	for want, locals := range map[service.Code][]string{
		"": {"x", "X", "0", "a.b", "a+b", "a_b", "a-b", "a-", "a+", "9.a_B-c+d"},
		service.Forbidden: {"eve%evil.example", "evil.example!eve", "a%b%c", "|cmd", "/etc/passwd", "-oQ/tmp", "-a", "+a", "_a", "*", "a*",
			"a/b", "a=b", "#a", "a&b", "{a}", "~a", "a`b`", "$a", "a?b", "a^b", "o'neil"},
		service.Invalid: {"", ".a", "a.", "a..b", `"a"`, `"eve%evil.example"`, `a\@evil.example`, "a@evil.example", "@evil.example:a", "@evil.example,@b.example:a",
			"evil.example:a", "a b", " a", "a ", "a\t", "a,b", "<a>", "(a)a", "a;b", "[a]", "a\x7f", "a\x00", "a\n", "\r\na", "é", "a\u0301", "\uff05a", "a\u200b", "a\xff"},
	} {
		for _, local := range locals {
			r.keys = map[string]*quota{}
			if err := r.Release(t.Context(), "key_1", []string{local + "@example.org"}, []byte(raw)); service.ErrorCode(err) != want {
				t.Errorf("to %q at a domain that is allowed: %v, want %q", local, err, want)
			}
		}
	}
	m.taken = nil
	for _, test := range tests {
		r.keys = map[string]*quota{}
		err := r.Release(t.Context(), "key_1", test.to, []byte(test.raw))
		if service.ErrorCode(err) != test.want || err != nil && strings.ContainsAny(err.Error(), "\r\n\x00") {
			t.Errorf("to %.100q: %v, want %q", test.to, err, test.want)
		}
	}
	if len(m.taken) != 2 {
		t.Errorf("it took %d messages", len(m.taken))
	}
}

// A refusal is for all recipients, and its answer is passed on.
func TestRefusals(t *testing.T) {
	t.Parallel()
	refusal := func(code int, text string) *smtp.SMTPError {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
	}
	for name, test := range map[string]struct {
		refuse map[string]*smtp.SMTPError
		server func(*smtp.Server)
		config func(*Config)
		raw    string
		want   string
	}{
		"one recipient, for good":  {refuse: map[string]*smtp.SMTPError{"b@example.org": refusal(550, "no such user")}, want: "The relay refused b@example.org: 550 5.1.1 no such user"},
		"one recipient, for now":   {refuse: map[string]*smtp.SMTPError{"b@example.org": refusal(450, "greylisted")}, want: "The relay refused b@example.org: 450 4.1.1 greylisted"},
		"the message":              {refuse: map[string]*smtp.SMTPError{"data": refusal(554, "spam")}, want: "The relay refused the message: 554 5.1.1 spam"},
		"escape sequences":         {refuse: map[string]*smtp.SMTPError{"data": refusal(554, "\x1b[31mred\x07\u202e\u009b2J\xff")}, want: "554 5.1.1 red"},
		"a long answer":            {refuse: map[string]*smtp.SMTPError{"data": refusal(554, strings.Repeat("é", 600))}, want: "554 5.1.1 " + strings.Repeat("é", maxAnswer)},
		"too large":                {server: func(s *smtp.Server) { s.MaxMessageBytes = 20 }, want: "552 5.3.4"},
		"no STARTTLS":              {server: func(s *smtp.Server) { s.TLSConfig, s.AllowInsecureAuth = nil, true }, want: "The relay offers no STARTTLS"},
		"no TLS":                   {config: func(c *Config) { c.TLS = "tls" }, want: "The relay does not speak TLS"},
		"no login":                 {server: func(s *smtp.Server) { s.TLSConfig = nil }, config: func(c *Config) { c.TLS = "none" }, want: "The relay offers no login by PLAIN or LOGIN"},
		"wrong password":           {config: func(c *Config) { _ = os.WriteFile(c.PasswordFile, []byte("guess"), 0o600) }, want: "The relay refused the login: 535"},
		"no SMTPUTF8":              {server: func(s *smtp.Server) { s.EnableSMTPUTF8 = false }, raw: "Subject: ü\r\n\r\n", want: "no SMTPUTF8"},
		"a certificate of another": {config: func(c *Config) { c.Host = strings.Replace(c.Host, "127.0.0.1", "localhost", 1) }, want: "The relay's certificate is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMailServer(t, test.server, false)
			m.refuse = test.refuse
			err := m.relay(t, test.config).Release(t.Context(), "key_1", []string{"a@example.org", "b@example.org"}, []byte(test.raw))
			e, ok := err.(*service.Error)
			if !ok || e.Code != service.Undelivered || !strings.Contains(e.Message, test.want) {
				t.Fatalf("%v, want %q", err, test.want)
			}
			if strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' || r == 0x9b || r == '\u202e' }) || len(e.Message) > 800 || strings.Contains(e.Message, "sesame") {
				t.Errorf("%q", e.Message)
			}
			if len(m.taken) != 0 {
				t.Errorf("it took %+v", m.taken)
			}
		})
	}
}

func TestAPasswordThatIsGone(t *testing.T) {
	t.Parallel()
	r := newMailServer(t, nil, false).relay(t, nil)
	must(t, os.Remove(r.config.PasswordFile))
	err := r.Release(t.Context(), "key_1", []string{"a@example.org"}, []byte(raw))
	if e, ok := err.(*service.Error); !ok || e.Message != "The relay's password cannot be read" {
		t.Error(err)
	}
}

// scripted is a relay by a server that says what serve writes.
func scripted(t *testing.T, serve func(c net.Conn)) *Relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
			serve(c)
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return New(Config{Host: l.Addr().String(), TLS: "none", From: "a@b.example", Allow: []string{"*@example.org"}}, "")
}

func readMessage(c net.Conn) {
	in := bufio.NewScanner(c)
	for in.Scan() && in.Text() != "." {
	}
}

func TestAHostileServer(t *testing.T) {
	t.Parallel()
	endless := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			for {
				if _, err := io.WriteString(c, text); err != nil {
					return
				}
			}
		}
	}
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"no 8BITMIME":        {func(c net.Conn) { io.WriteString(c, "220 x\r\n250 x\r\n"); io.Copy(io.Discard, c) }, "The relay accepts only 7-bit messages"},
		"a line without end": {endless("220 x"), "The relay does not speak SMTP as expected"},
		"lines without end":  {endless("220-x\r\n"), "The relay's answers do not end"},
		"not SMTP":           {endless("HTTP/1.1 400 Bad Request\r\n\r\n"), "The relay does not speak SMTP as expected"},
		"nothing":            {func(net.Conn) {}, "The relay closed the connection"},
		"hangs up at the end": {func(c net.Conn) {
			io.WriteString(c, "220 x\r\n250-x\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n250 x\r\n250 x\r\n354 x\r\n")
			readMessage(c)
		}, "The relay closed the connection; the message may have been sent"},
		"a refusal": {func(c net.Conn) { io.WriteString(c, "554-go\r\n554 a\x1b]0;x\x07way\r\n") }, "554 go a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := scripted(t, test.serve).Release(t.Context(), "key_1", []string{"a@example.org"}, []byte("\xff"))
			if e, ok := err.(*service.Error); !ok || e.Code != service.Undelivered || !strings.Contains(e.Message, test.want) || strings.ContainsAny(e.Message, "\x1b\x07\n") {
				t.Errorf("%q, want %q", err, test.want)
			}
		})
	}
	t.Run("down", func(t *testing.T) {
		t.Parallel()
		r := New(Config{Host: "127.0.0.1:1", From: "a@b.example", Allow: []string{"*@example.org"}}, "")
		if err := r.Release(t.Context(), "key_1", []string{"a@example.org"}, []byte(raw)); err == nil || !strings.Contains(err.Error(), "The relay refused the connection") {
			t.Error(err)
		}
	})
}

// repeats is the error of a release by a server that answers the step of a login (from 1, as far as it
// takes) or the MAIL after it with text. LINE in it is what the server was told last, SECRET its last word,
// and LOGIN all words of the login.
func repeats(t *testing.T, mechanism string, step int, text string) *service.Error {
	t.Helper()
	r := scripted(t, func(c net.Conn) {
		in := bufio.NewScanner(c)
		login, n := "", 0
		for answer := "220 x\r\n"; ; {
			if _, err := io.WriteString(c, answer); err != nil || !in.Scan() {
				return
			}
			line := in.Text()
			secret := line[strings.LastIndex(line, " ")+1:]
			switch {
			case strings.HasPrefix(line, "EHLO"):
				answer = "250-x\r\n250 AUTH " + mechanism + "\r\n"
				continue
			case strings.HasPrefix(line, "MAIL"):
				answer = "250 x\r\n"
			default:
				login += secret
				answer = "235 x\r\n"
				if mechanism == sasl.Login && n == 0 {
					answer = "334 UGFzc3dvcmQ6\r\n"
				}
			}
			if n++; n == step || strings.HasPrefix(line, "MAIL") {
				io.WriteString(c, strings.NewReplacer("LINE", line, "SECRET", secret, "LOGIN", login).Replace(text))
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
				return
			}
		}
	})
	r.config.User, r.config.PasswordFile = "mayfly", filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(r.config.PasswordFile, []byte("open sesame"), 0o600))
	err := r.Release(t.Context(), "key_1", []string{"a@example.org"}, nil)
	e, ok := err.(*service.Error)
	if !ok || e.Code != service.Undelivered {
		t.Fatalf("%v", err)
	}
	return e
}

// given reports what of a login an error tells: six characters of the password, plain or in base64.
func given(e *service.Error) (piece string) {
	told := strings.ToLower(e.Error()) // what the log gets; it begins with what the user sees
	for _, secret := range []string{"open sesame", "b3BlbiBzZXNhbWU=", "AG1heWZseQBvcGVuIHNlc2FtZQ=="} {
		for i := range len(secret) - 5 {
			if piece := strings.ToLower(secret[i : i+6]); strings.Contains(told, piece) {
				return piece
			}
		}
	}
	return ""
}

func TestAServerThatRepeatsTheLogin(t *testing.T) {
	t.Parallel()
	const broken = "The relay does not speak SMTP as expected"
	for _, test := range []struct {
		step           int // 1 for AUTH, 2 for the password of LOGIN; 3 for MAIL
		text, of, want string
	}{
		{1, "500 what is LINE?\r\n", "PLAIN", "The relay refused the login: 500"},
		{2, "535-5.7.8 no\r\n535 5.7.8 SECRET\r\n", "LOGIN", "The relay refused the login: 535"},
		{1, "LINE\r\n", "PLAIN", broken},
		{1, "2a5 LINE\r\n", "PLAIN", broken},
		{2, "SECRET\r\n", "LOGIN", broken},
		{1, "334 SECRET\r\n", "PLAIN", broken},
		{2, "334 SECRET\r\n", "LOGIN", broken},
		{1, "500-LINE\r\n2a5 LINE\r\n500 x\r\n", "PLAIN", "The relay refused the login: 500"},
		{1, "500-AUTH PLAIN AG1heWZseQBvcGVu\r\nIHNlc2FtZQ==\r\n", "PLAIN", "The relay closed the connection"},
		{3, "2a5 LOGIN\r\n", "PLAIN", broken},
		{3, "500 late: AUTH PLAIN LOGIN\r\n", "PLAIN", "The relay refused the message: 500"},
		{3, "500-late: AG1heWZseQBv\r\n500 cGVuIHNlc2FtZQ==\r\n", "PLAIN", "The relay refused the message: 500"},
		{3, "500 AG1heWZs eQBvcGVu IHNlc2Ft\r\n", "PLAIN", "The relay refused the message: 500"},
		{3, "500 5.5.1 LATE: B3BLBIBZZXNHBWU\r\n", "LOGIN", "The relay refused the message: 500 5.5.1"},
		{3, "500 wrong: Open\tSesame\r\n", "LOGIN", "The relay refused the message: 500"},
		{3, "500 b3B\x1b[mlbiBz\x07ZXNh\r\n", "LOGIN", "The relay refused the message: 500"},
		{3, "500 open the door first\r\n", "LOGIN", "The relay refused the message: 500 open the door first"},
		{3, "5x0 \x1b]0;x\x07\xff" + strings.Repeat("é", 900) + "\r\n", "LOGIN", broken},
	} {
		e := repeats(t, test.of, test.step, test.text)
		if e.Message != test.want || given(e) != "" {
			t.Errorf("%q: %q tells %q, want %s", test.text, e.Error(), given(e), test.want)
		}
		if s := e.Error(); len([]rune(s)) > 2*maxAnswer || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q: the log gets %q", test.text, s)
		}
	}
}

func TestWhatIsSaidBeforeTLS(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answers, want, told string }{
		{"502 x\r\n|250 x\r\n", "The relay offers no STARTTLS", "EHLO mayfly.example|HELO mayfly.example"},
		{"250-x\r\n250 STARTTLS\r\n|454 4.7.0 not now\r\n", "The relay refused STARTTLS: 454 4.7.0 not now", "EHLO mayfly.example|STARTTLS"},
	} {
		var told []string
		ended := make(chan struct{})
		r := scripted(t, func(c net.Conn) {
			defer close(ended)
			io.WriteString(c, "220 x\r\n")
			in := bufio.NewScanner(c)
			for answer := range strings.SplitSeq(test.answers, "|") {
				if in.Scan() {
					told = append(told, in.Text())
				}
				io.WriteString(c, answer)
			}
		})
		r.config.TLS, r.hostname = "starttls", "mayfly.example"
		err := r.Release(t.Context(), "key_1", []string{"a@example.org"}, nil)
		if e, ok := err.(*service.Error); !ok || e.Message != test.want {
			t.Errorf("%v, want %s", err, test.want)
		}
		if <-ended; strings.Join(told, "|") != test.told {
			t.Errorf("it was told %q", told)
		}
	}
}

// A server that says nothing is left when the caller leaves. That is an error with a line of the log,
// since the message may be on its way.
func TestTheContextEndsIt(t *testing.T) {
	t.Parallel()
	for want, script := range map[string]string{
		"The caller left": "",
		"The caller left; the message may have been sent": "220 x\r\n250 x\r\n250 x\r\n250 x\r\n354 x\r\n",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r := scripted(t, func(c net.Conn) {
			if io.WriteString(c, script); script != "" {
				readMessage(c)
			}
			cancel()
			io.Copy(io.Discard, c)
		})
		err := r.Release(ctx, "key_1", []string{"a@example.org"}, []byte(raw))
		if e, ok := err.(*service.Error); !ok || e.Code != service.Undelivered || e.Message != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A server that sends a byte now and then is left after sessionTimeout.
func TestASlowServerIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		var talking sync.WaitGroup
		talking.Go(func() {
			for {
				if _, err := io.WriteString(theirs, "220-x\r\n"); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), sessionTimeout)
		defer cancel()
		r := New(Config{Host: "x:25", TLS: "none"}, "")
		start := time.Now()
		err := r.handOver(ctx, ours, "", []string{"a@example.org"}, resent{})
		if e, ok := err.(*service.Error); !ok || !strings.Contains(e.Message, "The relay did not answer in time") {
			t.Error(err)
		}
		if took := time.Since(start); took > sessionTimeout {
			t.Errorf("after %v", took)
		}
		theirs.Close()
		talking.Wait()
	})
}

func TestAKeyCannotFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{}, "")
		end, err := r.begin("key_1", 1)
		must(t, err)
		if _, err := r.begin("key_1", 1); service.ErrorCode(err) != service.RateLimited {
			t.Errorf("a second release of the key at a time: %v", err)
		}
		other, err := r.begin("key_2", maxRecipients)
		must(t, err)
		other()
		end()
		sent := 1
		for ; ; sent++ {
			end, err := r.begin("key_1", 1)
			if err != nil {
				e := err.(*service.Error)
				if e.Code != service.RateLimited || e.RetryAfter <= 0 || e.RetryAfter > time.Minute {
					t.Errorf("%+v", e)
				}
				time.Sleep(e.RetryAfter)
				if _, err := r.begin("key_1", 1); err != nil {
					t.Error(err)
				}
				break
			}
			end()
		}
		if sent != perMinute {
			t.Errorf("%d recipients in a minute", sent)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(password, []byte("two\nlines"), 0o600))
	good := Config{Host: "mail.example.com:587", From: "mayfly@example.com", Allow: []string{"qa@example.com", "*@example.org"}}
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"none":             {func(c *Config) { *c = Config{TLS: "starttls"} }, nil},
		"good":             {func(*Config) {}, nil},
		"no host":          {func(c *Config) { c.Host = "" }, []string{"the relay has settings but no host: give one such as mail.example.com:587"}},
		"no port":          {func(c *Config) { c.Host = "mail.example.com" }, []string{`the relay's host "mail.example.com" is not host:port, such as mail.example.com:587`}},
		"TLS":              {func(c *Config) { c.TLS = "ssl" }, []string{`the relay's TLS "ssl": want starttls, tls or none`}},
		"from and allow":   {func(c *Config) { c.From, c.Allow = "", nil }, []string{`the relay's sender "" is not an address such as mayfly@example.com`, "the relay allows no address: list those that mail may go to, such as qa@example.com or *@example.org"}},
		"login in clear":   {func(c *Config) { c.TLS, c.User, c.PasswordFile = "none", "u", password }, []string{"the relay's password would be sent without TLS: use starttls or tls", fmt.Sprintf("the relay's password: %s does not have it on one line", password)}},
		"half a login":     {func(c *Config) { c.User = "u" }, []string{"the relay needs both a user and a file with the password, or neither"}},
		"no password file": {func(c *Config) { c.User, c.PasswordFile = "u", password+"2" }, []string{"the relay's password: open " + password + "2: "}},
		"allow all":        {func(c *Config) { c.Allow = []string{"*", "*@*", "a*@example.org", "*@*.example.org"} }, []string{`the relay cannot allow "*"`, `the relay cannot allow "*@*"`, `the relay cannot allow "a*@example.org"`, `the relay cannot allow "*@*.example.org"`}},
		"a domain of ours": {func(c *Config) { c.Allow = []string{"x@Inbox.example", "*@inbox.example", "x@other.inbox.example"} }, []string{"the relay cannot allow x@Inbox.example: inbox.example is a domain of this service", "the relay cannot allow *@inbox.example: inbox.example is a domain of this service"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good
			test.change(&c)
			var got []string
			if err := c.Check([]string{"inbox.example"}); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
