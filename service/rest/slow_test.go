package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/rest"
)

// inMemory is a service with one message of any size.
type inMemory struct {
	rest.Service
	raw []byte
}

func (s inMemory) Authenticate(_ context.Context, secret string) (service.Key, error) {
	return service.Key{ID: "key_" + secret, Plan: service.Dev}, nil
}

func (s inMemory) Allow(context.Context, service.Key) (service.Quota, error) {
	return service.Quota{Limit: 60, Remaining: 59}, nil
}

func (s inMemory) Summary(context.Context, service.Key, string, string) (service.Summary, error) {
	return service.Summary{ID: "msg_any", Size: int64(len(s.raw))}, nil
}

func (s inMemory) Message(context.Context, service.Key, string, string) (service.Message, error) {
	return service.Message{Summary: service.Summary{ID: "msg_any"}, Raw: s.raw}, nil
}

func (s inMemory) Inbox(context.Context, service.Key, string) (service.Inbox, error) {
	return service.Inbox{ID: "inbox_any", Version: 1}, nil
}

func (s inMemory) WaitMessages(ctx context.Context, _ service.Key, _ string, _ uint64) (bool, error) {
	<-ctx.Done()
	return false, nil
}

// slowly runs a test against a server in fake time.
func slowly(t *testing.T, svc rest.Service, o rest.Options, test func(t *testing.T, s *rest.Server, dial func() net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		l := fortest.NewPipes()
		s := rest.New(svc, o)
		served := make(chan error)
		go func() { served <- s.Serve(l) }()
		test(t, s, l.Dial)
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(c, text)
	must(t, err)
}

func wantStatus(t *testing.T, c net.Conn, status string) {
	t.Helper()
	b := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "HTTP/1.1 "+status {
		t.Errorf("the answer begins with %q, want %s, %v", b, status, err)
	}
}

const slowRequest = "GET /v1/inboxes/inbox_any/messages/msg_any HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nAccept: message/rfc822\r\n\r\n"

// A client that does not read is disconnected, which releases its memory.
func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	slowly(t, inMemory{raw: make([]byte, size)}, rest.Options{Large: limits.NewMemory(size)}, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
		start := time.Now()
		slow := dial()
		write(t, slow, slowRequest)
		synctest.Wait() // it has all the memory now

		waits := dial()
		write(t, waits, slowRequest)
		wantStatus(t, waits, "503")
		if got := time.Since(start); got != 10*time.Second {
			t.Errorf("after %v", got)
		}
		waits.Close()

		time.Sleep(5 * time.Minute)
		if n, err := io.Copy(io.Discard, slow); err == nil && n >= size {
			t.Error("the answer waited for its reader")
		}
		again := dial()
		defer again.Close()
		write(t, again, slowRequest)
		wantStatus(t, again, "200")
	})
}

// Keys whose clients read slowly, or not at all, delay no other key.
func TestSlowReadersDelayOnlyTheirKeys(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	slowly(t, inMemory{raw: make([]byte, size)}, rest.Options{Large: limits.NewMemory(16 * size)}, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
		start := time.Now()
		var slow []net.Conn
		for i := range 56 { // of four keys
			c := dial()
			defer c.Close()
			write(t, c, strings.Replace(slowRequest, "X-API-Key: any", fmt.Sprintf("X-API-Key: slow%d", i%4), 1))
			slow = append(slow, c)
			synctest.Wait() // the first have all that their keys may use
		}
		other := dial()
		defer other.Close()
		write(t, other, strings.Replace(slowRequest, "X-API-Key: any", "X-API-Key: other", 1))
		answer, err := http.ReadResponse(bufio.NewReader(other), nil)
		must(t, err)
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK || n != size {
			t.Errorf("another key's answer: %d, %d bytes, %v", answer.StatusCode, n, err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %v", took)
		}
		// A client that stops reading is cut off long before the response deadline.
		_, err = io.CopyN(io.Discard, slow[0], 1<<20)
		must(t, err)
		time.Sleep(16 * time.Second)
		if n, err := io.Copy(io.Discard, slow[0]); n >= size/2 {
			t.Errorf("after it had stopped reading, a client got %d bytes, %v", n, err)
		}
	})
}

// A client that sends slowly is disconnected, in the header as in the body.
func TestSlowWriterIsCutOff(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"header":        "GET /healthz HTTP/1.1\r\nHost: x\r\n",
		"body":          "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nContent-Length: 100\r\n\r\n{",
		"refused agent": "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx",
		"agent":         "POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nContent-Length: 2\r\n\r\nx", // though streams have no time limit
		"unread":        "DELETE /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			agents := rest.Options{MCP: func(http.ResponseWriter, *http.Request, string, *api.Client) { t.Error("half a body was taken") }}
			slowly(t, inMemory{}, agents, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
				began := time.Now()
				c := dial()
				write(t, c, start)
				answer, err := io.ReadAll(c) // until it is closed
				if err != nil || strings.Contains(string(answer), "200 OK") {
					t.Errorf("%q, %v", answer, err)
				}
				if got := time.Since(began); got > 20*time.Second {
					t.Errorf("closed after %v", got)
				}
			})
		})
	}
}

// A long poll waits for as long as the client wants, but at most a minute.
func TestTimeOfALongPoll(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]time.Duration{"0": 0, "25": 25 * time.Second, "60": time.Minute, "2147483647": time.Minute, "55": 40 * time.Second} {
		t.Run(wait, func(t *testing.T) {
			o := rest.Options{}
			if wait == "55" {
				o.MaxWait = 40 * time.Second // the service's longest wait counts, not the client's
			}
			slowly(t, inMemory{}, o, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
				start := time.Now()
				c := dial()
				defer c.Close()
				request := "GET /v1/inboxes/inbox_any/messages HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nIf-None-Match: \"1\"\r\nPrefer: wait=" + wait + "\r\nConnection: close\r\n\r\n"
				write(t, c, request)
				answer, err := io.ReadAll(c)
				if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 304 ") || !strings.Contains(string(answer), "\r\nPreference-Applied: wait\r\n") {
					t.Errorf("%q, %v", answer, err)
				}
				if got := time.Since(start); got != want {
					t.Errorf("it waited for %v", got)
				}
			})
		})
	}
}

const longPoll = "GET /v1/inboxes/inbox_any/messages HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nIf-None-Match: *\r\nPrefer: wait=50\r\n\r\n"

// A client that leaves ends its long poll without delay, as does a shutdown.
func TestLongPollEndsAtOnce(t *testing.T) {
	t.Parallel()
	slowly(t, inMemory{}, rest.Options{MaxLongPollsPerKey: 1}, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
		start := time.Now()
		startPoll := func() net.Conn {
			c := dial()
			write(t, c, longPoll)
			synctest.Wait()
			if n := s.LongPolls(); n != 1 {
				t.Fatalf("%d requests wait", n)
			}
			return c
		}
		must(t, startPoll().Close())
		synctest.Wait()
		if n := s.LongPolls(); n != 0 {
			t.Fatalf("%d requests wait for a client that has left", n)
		}
		c := startPoll()
		defer c.Close()
		go s.Shutdown(t.Context())
		wantStatus(t, c, "304")
		if got := time.Since(start); got != 0 {
			t.Errorf("it took %v", got)
		}
		go io.Copy(io.Discard, c) // the rest of the answer
	})
}

// lateConn is a listener that accepts a connection as it closes.
type lateConn struct {
	*fortest.Pipes
	accepted *bool
}

func (l lateConn) Accept() (net.Conn, error) {
	_, err := l.Pipes.Accept() // which ends as it closes
	if *l.accepted {
		return nil, err
	}
	*l.accepted = true
	time.Sleep(time.Second)
	_, server := net.Pipe()
	return server, nil
}

// A shutdown does not wait for the request of a connection that was accepted meanwhile.
func TestShutdownWaitsForNoRequestToCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := rest.New(inMemory{}, rest.Options{})
		served := make(chan error)
		go func() { served <- s.Serve(lateConn{fortest.NewPipes(), new(bool)}) }()
		synctest.Wait()
		start := time.Now()
		must(t, s.Shutdown(t.Context()))
		must(t, <-served)
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// An idle connection is closed eventually.
func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	slowly(t, inMemory{}, rest.Options{}, func(t *testing.T, s *rest.Server, dial func() net.Conn) {
		c := dial()
		start := time.Now()
		write(t, c, "HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%q, %v", answer, err)
		}
		if got := time.Since(start); got > 3*time.Minute {
			t.Errorf("closed after %v", got)
		}
	})
}

func TestABodyThatIsTooLargeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.base, "http://"))
	must(t, err)
	defer conn.Close()
	write(t, conn, "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: "+key+"\r\nContent-Length: 99999999\r\n\r\n{")
	wantStatus(t, conn, "400") // at once, or the test hangs
}

// Nor does a client hold its connection for good that reads no answer, though it has no body.
func TestAnswersWithoutBodiesAreNotAwaited(t *testing.T) {
	t.Parallel()
	slowly(t, inMemory{}, rest.Options{}, func(t *testing.T, _ *rest.Server, dial func() net.Conn) {
		c := dial()
		defer c.Close()
		write(t, c, "GET /v1/inboxes/inbox_any HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nIf-None-Match: *\r\n\r\n")
		time.Sleep(time.Minute)
		if got, _ := io.ReadAll(c); len(got) > 0 {
			t.Errorf("the answer waited for its reader: %q", got)
		}
	})
}

// Streams have no time limit, unless nobody reads them.
func TestStreamsOfMCP(t *testing.T) {
	t.Parallel()
	stream := func(w http.ResponseWriter, r *http.Request, _ string, _ *api.Client) {
		for range 3 {
			select {
			case <-time.After(time.Minute):
			case <-r.Context().Done():
				return
			}
			io.WriteString(w, "event\n")
			http.NewResponseController(w).Flush()
		}
		time.Sleep(time.Minute)
	}
	t.Run("stream", func(t *testing.T) {
		slowly(t, inMemory{}, rest.Options{MCP: stream}, func(t *testing.T, _ *rest.Server, dial func() net.Conn) {
			c := dial()
			defer c.Close()
			fmt.Fprint(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nContent-Length: 2\r\n\r\nxx")
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			must(t, err)
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != strings.Repeat("event\n", 3) {
				t.Errorf("%q, %v", got, err)
			}
		})
	})
	t.Run("unread stream", func(t *testing.T) {
		slowly(t, inMemory{}, rest.Options{MCP: stream}, func(t *testing.T, _ *rest.Server, dial func() net.Conn) {
			c := dial()
			defer c.Close()
			fmt.Fprint(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nX-API-Key: any\r\nContent-Length: 2\r\n\r\nxx")
			time.Sleep(10 * time.Minute)
			if got, _ := io.ReadAll(c); len(got) > 0 {
				t.Errorf("the stream waited for its reader: %q", got)
			}
		})
	})
}
