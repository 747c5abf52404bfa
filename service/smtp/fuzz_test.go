package smtp

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"mayfly/service"
)

// readWhole is a simple implementation of the end-of-data rule, for a whole stream.
func readWhole(stream []byte) (message []byte, length int, ambiguous, done bool) {
	s := "\r\n" + string(stream) // what DATA's line ended with
	end := strings.Index(s, "\r\n.\r\n")
	body := s
	if end >= 0 {
		body, done = s[:end+2], true
		length = end + 3
	}
	for i := 1; i+1 < len(s) && (!done || i < end+2); i++ {
		if s[i] == '.' && strings.IndexByte("\r\n", s[i-1]) >= 0 && strings.IndexByte("\r\n", s[i+1]) >= 0 {
			if !(s[i-1] == '\n' && i >= 2 && s[i-2] == '\r' && s[i+1] == '\r' && (i+2 == len(s) || s[i+2] == '\n')) {
				ambiguous = true
			}
		}
	}
	return []byte(strings.ReplaceAll(body, "\r\n.", "\r\n")[2:]), length, ambiguous, done
}

func FuzzDotReader(f *testing.F) {
	for _, s := range []string{"a\r\n.\r\n", ".\r\n", "..\r\n.\r\nQUIT\r\n", "a\n.\n", "a\r.\r", "\r\n.\r", "a\r\n.\r\r\n", "\n\r.\r\n.\r\n", ".\r.\r\n.\r\n", "a\r\n.b\r\n.\r\n",
		"a\r\n..b\r\n...\r\n..\r\n.\r\n", "a\nb\rc\n\n\r\r\n.\r\n", "a\n.b\r.c\n..\r\n.\r\n", "a\r\n\x00.\r\n.\x00\r\n.\r\n", "\x80\xff\r\n.\r\n", strings.Repeat("..x\r\n", 5000) + ".\r\n"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(3))
		f.Add([]byte(s), uint8(200))
	}
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		want, length, ambiguous, done := readWhole(stream)
		var d dotReader
		var got []byte
		var pending []byte
		taken, finished := 0, false
		for rest := stream; !finished; {
			n, ended := d.next(pending, func(p []byte) { got = append(got, p...) })
			taken += n
			pending = bytes.Clone(pending[n:])
			finished = ended
			if len(pending) > 2 && !ended {
				t.Fatalf("%d octets left over", len(pending))
			}
			if len(rest) == 0 {
				break
			}
			n = min(len(rest), int(step)+1)
			pending = append(pending, rest[:n]...)
			rest = rest[n:]
		}
		if !finished {
			n, ended := d.next(pending, func(p []byte) { got = append(got, p...) })
			taken += n
			finished = ended
		}
		if finished != done {
			t.Fatalf("done is %v, want %v", finished, done)
		}
		if !done {
			return // what comes next decides on the last octets
		}
		if !bytes.Equal(got, want) || taken != length || d.ambiguous != ambiguous {
			t.Fatalf("got %q, %d, %v; want %q, %d, %v", got, taken, d.ambiguous, want, length, ambiguous)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"FROM:<a@b>", "FROM:<>", `FROM:<"a\"b"@c.d> SIZE=1`, "FROM:<@x,@y:a@b>", "FROM: <a@[IPv6:::1]> BODY=8BITMIME", "FROM:<ü@ö> SMTPUTF8", `FROM:<"`, "FROM:<a@b>> X"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		for limit, parse := range map[int]func(string) (string, error){
			maxLocalPart + 1 + maxDomain: parseMailbox, maxSenderLocalPart + 1 + maxDomain: parseSender,
		} {
			address, params, err := parsePath(arg, "FROM:", parse)
			if err != nil || address == "" {
				continue
			}
			if strings.ContainsAny(address, "\r\n\x00") || len(address) > limit {
				t.Errorf("address %q", address)
			}
			again, _, err := parsePath("FROM:<"+address+">", "FROM:", parse)
			if err != nil || again != address {
				t.Errorf("%q reads as %q, %v", address, again, err)
			}
			for _, p := range params {
				if p.keyword != strings.ToUpper(p.keyword) || p.keyword == "" || !strings.Contains(arg, p.text) {
					t.Errorf("parameter %+v", p)
				}
			}
		}
	})
}

// everyone accepts all mail and counts the octets.
type everyone struct {
	inboxes
	octets, mails int
}

func (*everyone) Recipient(_ context.Context, _, address string) (service.Recipient, error) {
	return service.Recipient{Address: address}, nil
}

func (s *everyone) Deliver(_ context.Context, d service.Delivery) error {
	s.octets += len(d.Raw)
	s.mails++
	return nil
}

// A scripted connection returns what the client sent and discards the replies.
type scripted struct {
	io.Reader
	replies bytes.Buffer
}

func (c *scripted) Write(p []byte) (int, error)    { return c.replies.Write(p) }
func (*scripted) Close() error                     { return nil }
func (*scripted) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (*scripted) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (*scripted) SetDeadline(time.Time) error      { return nil }
func (*scripted) SetReadDeadline(time.Time) error  { return nil }
func (*scripted) SetWriteDeadline(time.Time) error { return nil }

// Whatever a client sends, the session ends with it, frees its memory, and stores no more than was
// sent.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		envelope + "DATA\r\nx\r\n.\r\nQUIT\r\n",
		envelope + "DATA\r\nx\n.\n" + envelope,
		"EHLO x\r\nAUTH LOGIN\r\nAA==\r\nAA==\r\nMAIL FROM:<>\r\n",
		"STARTTLS\r\n\x16\x03\x01", "GET / HTTP/1.1\r\n", strings.Repeat("x", 5000) + "\r\nNOOP\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		svc := &everyone{}
		s, err := New(svc, Options{Hostname: "mx.test", AuthAny: true, Limits: Limits{MaxMessageBytes: 10_000}})
		must(t, err)
		nc := &scripted{Reader: bytes.NewReader(sent)}
		c := newConn(s, nc)
		if !s.sessions.Enter(nc) {
			t.Fatal("not registered")
		}
		c.serve()
		if svc.octets > len(sent) {
			t.Errorf("stored %d octets of %d", svc.octets, len(sent))
		}
		if st := s.stats(); st.inFlight != 0 || st.accepted != svc.mails {
			t.Errorf("stats: %+v", st)
		}
		for line := range strings.Lines(nc.replies.String()) {
			if len(line) < 6 || !strings.HasSuffix(line, "\r\n") || line[0] < '2' || line[0] > '5' || strings.ContainsAny(line[:len(line)-2], "\r\n") {
				t.Errorf("reply %q", line)
			}
		}
	})
}
