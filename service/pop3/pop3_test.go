package pop3

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/pebble"
)

// world is a service with the inbox ada@x.test of a key, and a server.
type world struct {
	*service.Service
	t      *testing.T
	key    service.Key
	secret string
	inbox  service.Inbox
	server *Server
}

// inFakeTime runs a test with a world of its own.
func inFakeTime(t *testing.T, plan service.Plan, o Options, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t, plan, o)) })
}

func newWorld(t *testing.T, plan service.Plan, o Options) *world {
	t.Helper()
	store, err := pebble.OpenMemory(pebble.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	w := &world{t: t}
	domains := []string{"x.test"}
	w.secret, w.key, err = service.New(store, service.Options{Domains: domains}).CreateKey(t.Context(), "", plan)
	must(t, err)
	w.Service = service.New(store, service.Options{Domains: domains, CatchAll: w.key.ID})
	w.inbox = w.create(w.key, "ada")
	w.server = New(w, o)
	t.Cleanup(func() { w.server.Shutdown(context.Background()) })
	return w
}

var must = fortest.Must

func (w *world) create(k service.Key, username string) service.Inbox {
	w.t.Helper()
	in, err := w.CreateInbox(w.t.Context(), k, service.NewInbox{Username: username})
	must(w.t, err)
	return in
}

func (w *world) deliver(messages ...string) {
	w.t.Helper()
	for _, raw := range messages {
		to, err := w.Recipient(w.t.Context(), "", "ada@x.test")
		must(w.t, err)
		must(w.t, w.Deliver(w.t.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte(raw)}))
	}
}

// dial begins a session of a client at 192.0.2.n.
func (w *world) dial(n byte) *peer {
	w.t.Helper()
	here, there := net.Pipe()
	if !w.server.sessions.Enter(there) {
		w.t.Fatal("too many connections")
	}
	go newConn(w.server, there, netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, n}), 32)).serve()
	c := newPeer(w.t, here)
	c.run("< +OK Mayfly POP3")
	return c
}

// login begins a session in which the owner of ada@x.test has logged in.
func (w *world) login() *peer {
	w.t.Helper()
	c := w.dial(1)
	c.run("USER ADA+tag@x.test.\n< +OK…\nPASS " + w.secret + "\n< +OK…") // as mail for it may be addressed
	return c
}

type peer struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func newPeer(t *testing.T, nc net.Conn) *peer {
	t.Cleanup(func() { nc.Close() })
	return &peer{t, nc, bufio.NewReader(nc)}
}

// run plays a script: lines that start with "< " are expected, of which one may end with "…" for
// anything; others are sent.
func (c *peer) run(script string) {
	c.t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		want, ok := strings.CutPrefix(line, "< ")
		if !ok {
			c.send(line + "\r\n")
			continue
		}
		got, err := c.r.ReadString('\n')
		start, open := strings.CutSuffix(want, "…")
		if err != nil || !strings.HasSuffix(got, "\r\n") || open && !strings.HasPrefix(got, start) || !open && got != want+"\r\n" {
			c.t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
}

func (c *peer) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("sending %.60q: %v", s, err)
	}
}

// ends checks that the session ends after some replies.
func (c *peer) ends(want string) {
	c.t.Helper()
	if rest, err := io.ReadAll(c.r); err != nil || string(rest) != want {
		c.t.Fatalf("got %q and %v, want %q and the end", rest, err, want)
	}
}

const short = "Subject: x\r\n\r\none\r\n.two\r\n\r\nthree\r\n" // 34 octets

func TestConversations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, script string }{
		{"capabilities", "CAPA\n< +OK…\n< USER\n< TOP\n< UIDL\n< PIPELINING\n< RESP-CODES\n< AUTH-RESP-CODE\n< IMPLEMENTATION Mayfly\n< ."},
		{"before the login", "STAT\n< -ERR Log in first\nLIST\n< -ERR Log in first\nRETR 1\n< -ERR Log in first\nTOP 1 1\n< -ERR Log in first\n" +
			"UIDL\n< -ERR Log in first\nDELE 1\n< -ERR Log in first\nNOOP\n< -ERR Log in first\nRSET\n< -ERR Log in first\n" +
			"PASS x\n< -ERR Send USER first\nSTLS\n< -ERR STLS is not offered\nAPOP a b\n< -ERR Unknown command\nAUTH PLAIN\n< -ERR Unknown command\nQUIT\n< +OK Bye"},
		{"arguments of a login", "USER\n< -ERR Wrong number…\nUSER a b\n< -ERR Wrong number…\nUSER a\n< +OK…\nPASS\n< -ERR Wrong number…\nPASS a b\n< -ERR Wrong number…"},
		{"after the login", "LOGIN\nUSER a\n< -ERR Already logged in\nPASS a\n< -ERR Already logged in\nSTLS\n< -ERR Already logged in\nCAPA\n< +OK…\n< USER\n< TOP\n< UIDL\n< PIPELINING\n< RESP-CODES\n< AUTH-RESP-CODE\n< IMPLEMENTATION Mayfly\n< .\nNOOP\n< +OK\nRSET\n< +OK\nQUIT\n< +OK Bye"},
		{"lists", "LOGIN\nSTAT\n< +OK 2 49\nLIST\n< +OK Messages follow\n< 1 34\n< 2 15\n< .\nLIST 2\n< +OK 2 15\nlist 1\n< +OK 1 34\nUIDL 1\n< +OK 1 msg_…\nUIDL\n< +OK Messages follow\n< 1 msg_…\n< 2 msg_…\n< ."},
		{"numbers", "LOGIN\nLIST 0\n< -ERR No such message\nLIST 3\n< -ERR No such message\nLIST -1\n< -ERR No such message\nLIST +1\n< -ERR No such message\nRETR 1x\n< -ERR No such message\n" +
			"RETR 99999999999999999999999\n< -ERR No such message\nUIDL 4294967297\n< -ERR No such message\nTOP 1 -1\n< -ERR Not a number…\nTOP 9 1\n< -ERR No such message\nTOP 1\n< -ERR Wrong number…\nRETR\n< -ERR Wrong number…\nNOOP 1\n< -ERR Wrong number…\nSTAT 1\n< -ERR Wrong number…"},
		{"messages", "LOGIN\nRETR 1\n< +OK 34 octets\n< Subject: x\n< \n< one\n< ..two\n< \n< three\n< .\nRETR 2\n< +OK 15 octets\n< Subject: yyyy\n< ."},
		{"parts", "LOGIN\nTOP 1 0\n< +OK\n< Subject: x\n< \n< .\nTOP 1 2\n< +OK\n< Subject: x\n< \n< one\n< ..two\n< .\nTOP 2 9\n< +OK\n< Subject: yyyy\n< .\n" +
			"TOP 1 99999999999999999999999\n< +OK 34 octets\n< Subject: x\n< \n< one\n< ..two\n< \n< three\n< ."},
		{"marks", "LOGIN\nDELE 1\n< +OK\nDELE 1\n< -ERR No such message\nSTAT\n< +OK 1 15\nLIST\n< +OK…\n< 2 15\n< .\nUIDL 1\n< -ERR No such message\nRETR 1\n< -ERR No such message\n" +
			"RSET\n< +OK\nSTAT\n< +OK 2 49\nDELE 3\n< -ERR No such message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
				w.deliver(short, "Subject: yyyy\r\n")
				script, ok := strings.CutPrefix(test.script, "LOGIN\n")
				c := w.dial(1)
				if ok {
					c = w.login()
				}
				c.run(script)
				w.deliver("Subject: later\r\n\r\n") // which this session does not see
				if ok && !strings.HasSuffix(script, "Bye") {
					c.run("STAT\n< +OK 2 49")
				}
			})
		})
	}
}

func TestPipelining(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver(short)
		c := w.dial(1)
		go io.WriteString(c, "USER ada@x.test\r\nPASS "+w.secret+"\nSTAT\nTOP 1 0\r\nfoo\x00\r\n\r\nQUIT\r\nNOOP\r\n")
		c.ends("+OK Send the API key\r\n+OK 1 messages\r\n+OK 1 34\r\n+OK\r\nSubject: x\r\n\r\n.\r\n-ERR Unknown command\r\n-ERR Unknown command\r\n+OK Bye\r\n")
	})
}

// The reply does not say what is wrong with a login.
func TestRefusedLogins(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		_, revoked, err := w.CreateKey(t.Context(), "", service.Dev)
		must(t, err)
		other, otherKey, err := w.CreateKey(t.Context(), "", service.Dev)
		must(t, err)
		_, err = w.RevokeKey(t.Context(), revoked.ID)
		must(t, err)
		w.create(otherKey, "bob")
		must(t, w.DeleteInbox(t.Context(), otherKey, w.create(otherKey, "gone").ID))
		for _, login := range [][2]string{
			{"ada@x.test", "wrong"}, {"ada@x.test", other}, {"ADA@x.test", other}, {"nobody@x.test", other}, {"nobody@x.test", "wrong"}, {"gone@x.test", other},
			{"ada", other}, {"@", other}, {"\x00", other}, {strings.Repeat("a", 400), other}, {"bob@x.test", revoked.ID},
		} {
			c := w.dial(1)
			c.run("USER " + login[0] + "\n< +OK Send the API key\nPASS " + login[1] + "\n< -ERR [AUTH] Wrong address or API key\nPASS x\n< -ERR Send USER first\nSTAT\n< -ERR Log in first")
		}
		w.dial(1).run("USER BOB@X.test\n< +OK…\nPASS " + other + "\n< +OK 0 messages\nSTAT\n< +OK 0 0\nLIST\n< +OK Messages follow\n< .")
		// Mail for an address without an inbox will make one of this key.
		w.dial(1).run("USER any@thing.test\n< +OK…\nPASS " + w.secret + "\n< +OK 0 messages")
	})
}

// What is marked is removed when the client quits, and only then (RFC 1939, section 6).
func TestMarkedMessagesAreRemoved(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver("Subject: one\r\n", "Subject: two\r\n", "Subject: three\r\n")
		wants := func(want string) service.List {
			t.Helper()
			list, err := w.Messages(t.Context(), w.key, w.inbox.ID, service.Page{})
			must(t, err)
			got := ""
			for _, m := range list.Messages {
				got += m.Subject + " "
			}
			if got != want {
				t.Errorf("left are %q, want %q", got, want)
			}
			return list
		}
		c := w.login()
		c.run("DELE 1\n< +OK\nDELE 3\n< +OK")
		must(t, c.Close())
		wants("three two one ")
		c = w.login()
		c.run("DELE 2\n< +OK\nRSET\n< +OK\nDELE 1\n< +OK\nDELE 3\n< +OK")
		w.deliver("Subject: four\r\n")
		third := wants("four three two one ").Messages[1]
		must(t, w.DeleteMessages(t.Context(), w.key, w.inbox.ID, third.ID)) // as another client may
		c.run("QUIT\n< +OK Bye")
		wants("four two ")
		c = w.login()
		c.run("DELE 1\n< +OK")
		for range 60 {
			_, err := w.Allow(t.Context(), w.key)
			if err != nil {
				break
			}
		}
		c.run("QUIT\n< -ERR [SYS/TEMP] Rate limit exceeded…")
		wants("four two ")
	})
}

// Logins and messages count as requests.
func TestRateLimit(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver("Subject: x\r\n")
		c := w.login()
		for range 59 {
			c.run("LIST 1\n< +OK…\nTOP 1 0\n< +OK\n< Subject: x\n< .")
		}
		c.run("RETR 1\n< -ERR [SYS/TEMP] Rate limit exceeded, try again in 60 s\nSTAT\n< +OK 1 12")
		w.dial(1).run("USER ada@x.test\n< +OK…\nPASS " + w.secret + "\n< -ERR [SYS/TEMP] Rate limit exceeded, try again in 60 s")
		time.Sleep(time.Minute)
		c.run("RETR 1\n< +OK 12 octets\n< Subject: x\n< .")
	})
}

func TestChangesDuringASession(t *testing.T) {
	for _, test := range []struct {
		name, want string
		change     func(w *world) error
	}{
		{"revoked", "-ERR [AUTH] Invalid API key, closing", func(w *world) error {
			_, err := w.RevokeKey(w.t.Context(), w.key.ID)
			return err
		}},
		{"free", `-ERR [AUTH] The plan "free" has no API access, closing`, func(w *world) error {
			_, err := w.SetPlan(w.t.Context(), w.key.ID, service.Free)
			return err
		}},
		{"deleted", "-ERR No such message any more", func(w *world) error { return w.DeleteInbox(w.t.Context(), w.key, w.inbox.ID) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, service.Dev, Options{IdleTimeout: 2 * time.Hour, SessionTimeout: 3 * time.Hour}, func(t *testing.T, w *world) {
				w.deliver(short)
				c := w.login()
				must(t, test.change(w))
				c.run("LIST 1\n< +OK 1 34\nRETR 1\n< " + test.want)
				if strings.HasSuffix(test.want, "closing") {
					c.ends("")
				} else {
					c.run("NOOP\n< +OK")
				}
			})
		})
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct{ name, sent, want string }{
		{"line", strings.Repeat("x", maxLine+1), "-ERR Line too long, closing\r\n"},
		{"line of an argument", "USER " + strings.Repeat("x", maxLine) + "\r\n", "-ERR Line too long, closing\r\n"},
		{"errors", strings.Repeat("foo\r\n", 20), strings.Repeat("-ERR Unknown command\r\n", 20)},
		{"a web page", "POST / HTTP/1.1\r\nHost: x\r\n\r\nUSER a\r\n", "-ERR This is POP3, not HTTP, closing\r\n"},
		{"another method", "PROPFIND / HTTP/1.1\r\nHost: x\r\n\r\nUSER a\r\n", "-ERR Unknown command\r\n-ERR This is POP3, not HTTP, closing\r\n"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\nNOOP\r\n", "-ERR This is POP3 without TLS: send STLS first, closing\r\n"},
		{"half a line", "QUIT", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
				c := w.dial(1)
				go io.WriteString(c, test.sent)
				c.ends(test.want)
			})
		})
	}
}

// A client that is idle gets no reply (RFC 1939, section 3).
func TestTimeouts(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		begun := time.Now()
		w.login().ends("")
		if d := time.Since(begun); d != 10*time.Minute {
			t.Errorf("idle for %v", d)
		}
		begun = time.Now()
		c := w.login()
		for range 11 {
			time.Sleep(5 * time.Minute)
			c.run("NOOP\n< +OK")
		}
		c.ends("")
		if d := time.Since(begun); d != time.Hour {
			t.Errorf("a session of %v", d)
		}
	})
}

// A client that does not read holds up neither the memory for others nor a shutdown.
func TestStuckClient(t *testing.T) {
	const size = 4 << 20
	inFakeTime(t, service.Enterprise, Options{Large: limits.NewMemory(2 * size)}, func(t *testing.T, w *world) {
		w.deliver(strings.Repeat("0123456789abcde\n", size/16))
		stuck, other := w.login(), w.login()
		stuck.run("RETR 1\n< +OK…")
		other.run("RETR 1\n< -ERR [SYS/TEMP] The service cannot do this now, try again later") // for its own key
		time.Sleep(stallTimeout)
		other.run("RETR 1\n< +OK…")
		begun := time.Now()
		w.server.Shutdown(t.Context())
		if d := time.Since(begun); d != drainTimeout {
			t.Errorf("the shutdown took %v", d)
		}
		if n := w.server.sessions.Len(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

// A client that reads slowly, but reads, is not stuck, however long a line is.
func TestSlowClient(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver(strings.Repeat("x", 1<<20))
		c := w.login()
		c.run("RETR 1\n< +OK 1048576 octets")
		for range 16 {
			time.Sleep(stallTimeout / 3) // a part may need two reads
			_, err := io.CopyN(io.Discard, c.r, 1<<16)
			must(t, err)
		}
		c.run("< \n< .\nNOOP\n< +OK")
	})
}

func TestShutdown(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver(short)
		idle, reading := w.login(), w.login()
		reading.run("RETR 1\n< +OK 34 octets")
		go w.server.Shutdown(context.Background())
		idle.ends("-ERR [SYS/TEMP] Shutting down, try again later\r\n")
		synctest.Wait()
		reading.run("< Subject: x\n< \n< one\n< ..two\n< \n< three\n< .")
		reading.ends("-ERR [SYS/TEMP] Shutting down, try again later\r\n")
	})
}

type tap struct {
	net.Conn
	read []byte
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.read = append(t.read, p[:n]...)
	return n, err
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certificate, _ := fortest.Certificate()
	w := newWorld(t, service.Dev, Options{TLS: certificate})
	w.deliver(short)
	c := w.dial(1)
	c.run("CAPA\n< +OK…\n< STLS\n< TOP\n< UIDL\n< PIPELINING\n< RESP-CODES\n< AUTH-RESP-CODE\n< IMPLEMENTATION Mayfly\n< .\n" +
		"USER ada@x.test\n< -ERR Send STLS first\nPASS x\n< -ERR Send USER first\nSTLS now\n< -ERR Wrong…\nSTLS\n< +OK Begin TLS")
	wire := &tap{Conn: c.Conn}
	c = newPeer(t, tls.Client(wire, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}))
	c.run("STLS\n< -ERR TLS is already on\nCAPA\n< +OK…\n< USER\n< TOP\n< UIDL\n< PIPELINING\n< RESP-CODES\n< AUTH-RESP-CODE\n< IMPLEMENTATION Mayfly\n< .\n" +
		"USER ada@x.test\n< +OK…\nPASS " + w.secret + "\n< +OK 1 messages\nTOP 1 0\n< +OK\n< Subject: x\n< \n< .\nQUIT\n< +OK Bye")
	c.ends("")
	var last byte
	for records := wire.read; len(records) > 5; records = records[5+binary.BigEndian.Uint16(records[3:]):] {
		last = records[0]
	}
	if last != 21 {
		t.Errorf("the last TLS record has type %d, want an alert: close_notify", last)
	}

	c = w.dial(1)
	go io.WriteString(c, "STLS\r\nUSER injected\r\n")
	c.ends("-ERR Input after STLS, closing\r\n")
}

// faulty is a service that cannot do what a test says.
type faulty struct {
	Service
	fault func() error
}

func (f faulty) Message(context.Context, service.Key, string, string) (service.Message, error) {
	return service.Message{}, f.fault()
}

func TestErrorsOfTheServiceStayInside(t *testing.T) {
	for name, test := range map[string]struct {
		fault func() error
		want  string
	}{
		"unavailable": {func() error { return &service.Error{Code: service.Unavailable, Message: "10.0.0.1"} }, "-ERR [SYS/TEMP] The service cannot do this now, try again later"},
		"unknown":     {func() error { return errors.New("disk sda1 is on fire") }, "-ERR [SYS/PERM] Internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			inFakeTime(t, service.Dev, Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, func(t *testing.T, w *world) {
				w.deliver(short)
				w.server.service = faulty{w, test.fault}
				w.login().run("RETR 1\n< " + test.want + "\nRETR 1\n< " + test.want + "\nNOOP\n< +OK")
				if n := strings.Count(log.String(), "POP3 command failed"); n != 1 {
					t.Errorf("logged %d times: %s", n, &log)
				}
			})
		})
	}
}

func TestPanicEndsOneSession(t *testing.T) {
	inFakeTime(t, service.Dev, Options{}, func(t *testing.T, w *world) {
		w.deliver(short)
		w.server.service = faulty{w, func() error { panic("on a message") }}
		other, c := w.login(), w.login()
		c.run("RETR 1")
		c.ends("")
		other.run("NOOP\n< +OK")
	})
}

// scripted is a connection that has what a client sends, and takes the replies.
type scripted struct {
	net.Conn
	sent    io.Reader
	replies bytes.Buffer
}

func (c *scripted) Read(p []byte) (int, error)       { return c.sent.Read(p) }
func (c *scripted) Write(p []byte) (int, error)      { return c.replies.Write(p) }
func (*scripted) Close() error                       { return nil }
func (*scripted) RemoteAddr() net.Addr               { return &net.UnixAddr{} }
func (*scripted) SetReadDeadline(_ time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(_ time.Time) error { return nil }

// anyone has one message of any content, for each login.
type anyone struct {
	Service
	raw []byte
}

func (anyone) Authenticate(context.Context, string) (service.Key, error) {
	return service.Key{ID: "key"}, nil
}

func (anyone) Allow(context.Context, service.Key) (service.Quota, error) {
	return service.Quota{}, nil
}

func (anyone) InboxAt(context.Context, service.Key, string) (service.Inbox, error) {
	return service.Inbox{}, nil
}

func (s anyone) Messages(context.Context, service.Key, string, service.Page) (service.List, error) {
	return service.List{Messages: []service.Summary{{ID: "msg", Size: int64(len(s.raw))}}}, nil
}

func (s anyone) Message(context.Context, service.Key, string, string) (service.Message, error) {
	return service.Message{Raw: s.raw}, nil
}

// Whatever a client sends, the session ends with it; whatever a message has, its end is where a client
// finds it.
func FuzzSession(f *testing.F) {
	f.Add([]byte("CAPA\r\nSTLS\r\nLIST 99999999999\r\nUIDL\r\nTOP 1 1\r\n"), []byte("A: b\r\n\r\n.\n\r\n.\r\nx"))
	f.Add([]byte("TOP 1 0\nRETR\x00 1\n"+strings.Repeat("x", 600)), []byte(".\r\n"))
	f.Add([]byte("DELE 1\r\nQUIT\r\n"), []byte("\n.\r\n-ERR"))
	for _, raw := range []string{"", "\r\n", "A: b\r\n\r\n.\r\n..\r\na.\r\n.b\r\n", ".A: b\r\n\r\n", "A: b\n\n.\n.x\r\n", "A: b\r\n\r\nx\r.\ry\r\n",
		"A: b\r\n\r\n\x00\xff\r\n", "A: b\r\n\r\nx", "A: b\n\nx\n", "A: b\r\n\r\nx\r"} {
		f.Add([]byte("LIST 1\r\nQUIT\r\n"), []byte(raw))
	}
	f.Fuzz(func(t *testing.T, sent, raw []byte) {
		s := New(anyone{raw: raw}, Options{})
		nc := &scripted{sent: io.MultiReader(strings.NewReader("USER a\r\nPASS b\r\nRETR 1\r\n"), bytes.NewReader(sent))}
		s.sessions.Enter(nc)
		newConn(s, nc, netip.Prefix{}).serve()
		if s.sessions.Len() != 0 {
			t.Error("the session is left")
		}
		rest := nc.replies.String()
		for range 4 {
			var line string
			if line, rest, _ = strings.Cut(rest, "\r\n"); !strings.HasPrefix(line, "+OK") {
				t.Fatalf("got %q", line)
			}
		}
		var got []byte
		for {
			line, after, ok := strings.Cut(rest, "\n")
			rest = after
			if !ok {
				t.Fatalf("the message has no end: %q", line)
			}
			if line == ".\r" {
				break
			}
			got = append(append(got, strings.TrimPrefix(line, ".")...), '\n')
		}
		if !bytes.HasSuffix(raw, []byte("\r\n")) && len(raw) > 0 {
			raw = append(bytes.Clone(raw), "\r\n"...)
		}
		if !bytes.Equal(got, raw) {
			t.Errorf("got %q, want %q", got, raw)
		}
	})
}
