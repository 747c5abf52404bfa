//go:build unix

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// The load during BenchmarkAcrossProcesses.
const (
	loadPerSecond = 5000 // mails of 2 KB at the process that gets the measured ones
	loadSenders   = 32
	waitingKeys   = 5 // a plan allows a thousand requests a minute
	waitingEach   = 20
)

// BenchmarkAcrossProcesses measures from the acceptance of a mail by one process to the answer of
// another process to the long poll for its inbox, one of a hundred. Run it with -benchtime
// 1000x; MAYFLY_TEST_POSTGRES names a server that syncs to the disk.
func BenchmarkAcrossProcesses(b *testing.B) {
	b.Run("Server", func(b *testing.B) { acrossProcesses(b, newMachine(b), pgtest.Database(b)) })
	b.Run("Citus", func(b *testing.B) {
		acrossProcesses(b, newMachine(b), pgtest.CitusDatabase(b)[0])
	})
}

func acrossProcesses(b *testing.B, m *machine, database string) {
	one, other := m.serve(database), m.serve(database)
	var waiters []*waiter
	for range waitingKeys {
		key := m.key(database, "enterprise")
		for n := range waitingEach {
			waiters = append(waiters, startWaiter(b, one.rest, other.rest, key, fmt.Sprintf("waiting-%d-%d", len(waiters)/waitingEach, n)))
		}
	}
	sent := startConstantLoad(b, m, database, one)
	sender := dialSender(b, one.smtp)
	message := strings.Repeat(strings.Repeat("x", 78)+"\r\n", 25)

	var took []time.Duration
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	before, begun := sent.Load(), time.Now()
	for n := 0; b.Loop(); n++ {
		<-pace.C
		w := waiters[n*37%len(waiters)]
		must(b, sender.send(w.address, message))
		accepted := time.Now()
		select {
		case answered := <-w.answered:
			took = append(took, max(0, answered.Sub(accepted)))
		case <-time.After(conditionTimeout):
			b.Fatal("no answer")
		}
	}
	rate := float64(sent.Load()-before) / time.Since(begun).Seconds()
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
	b.ReportMetric(rate, "load-mails/s")
	b.ReportMetric(0, "ns/op")
}

// waiter makes long polls for a list of messages and reports when one has a new message.
type waiter struct {
	address  string
	answered chan time.Time
}

func startWaiter(b *testing.B, makes, asks, key, username string) *waiter {
	user := newClient(b, makes, key)
	address := user.createInbox(username)
	id := user.inboxes[address]
	w := &waiter{address, make(chan time.Time, 1)}
	ctx, stop := context.WithCancel(b.Context())
	var ended sync.WaitGroup
	ended.Go(func() {
		tag := ""
		for ctx.Err() == nil {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, asks+"/v1/inboxes/"+id+"/messages?limit=1", nil)
			if err != nil {
				b.Error(err)
				return
			}
			request.Header.Set("X-API-Key", key)
			request.Header.Set("Prefer", "wait=50")
			if tag != "" {
				request.Header.Set("If-None-Match", tag)
			}
			answer, err := waiting.Do(request)
			if err != nil {
				if ctx.Err() == nil {
					b.Error(err)
				}
				return
			}
			_, err = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close() // read to its end
			switch {
			case err != nil && ctx.Err() == nil:
				b.Error(err)
				return
			case answer.StatusCode == http.StatusOK && tag != "":
				w.answered <- time.Now()
			case answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNotModified:
				b.Errorf("the long poll is answered with %s", answer.Status)
				return
			}
			if t := answer.Header.Get("ETag"); t != "" {
				tag = t
			}
		}
	})
	b.Cleanup(func() { stop(); ended.Wait() })
	return w
}

// waiting keeps a connection for each waiter.
var waiting = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: waitingKeys * waitingEach}}

// startConstantLoad sends mail to inboxes of other keys and counts it.
func startConstantLoad(b *testing.B, m *machine, database string, s *server) *atomic.Int64 {
	var sent atomic.Int64
	ctx, stop := context.WithCancel(b.Context())
	var ended sync.WaitGroup
	message := strings.Repeat(strings.Repeat("x", 78)+"\r\n", 25)
	var key string
	for n := range loadSenders {
		if n%4 == 0 { // a key takes a hundred thousand a day
			key = m.key(database, "enterprise")
		}
		address := newClient(b, s.rest, key).createInbox(fmt.Sprintf("load-%d", n))
		sender := dialSender(b, s.smtp)
		ended.Go(func() {
			pace := time.NewTicker(time.Second * loadSenders / loadPerSecond)
			defer pace.Stop()
			for {
				select {
				case <-pace.C:
				case <-ctx.Done():
					return
				}
				if err := sender.send(address, message); err != nil {
					b.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	b.Cleanup(func() { stop(); ended.Wait() }) // before the connections are closed
	return &sent
}

// sender is an SMTP connection that sends one message after another.
type sender struct {
	conn  net.Conn
	lines *bufio.Reader
}

func dialSender(b testing.TB, addr string) *sender {
	conn, err := net.Dial("tcp", addr)
	must(b, err)
	b.Cleanup(func() { _ = conn.Close() }) // the messages are acknowledged or counted as errors
	s := &sender{conn, bufio.NewReader(conn)}
	must(b, s.expect("220"))
	must(b, s.command("HELO mail.test\r\n", "250"))
	return s
}

// send sends a message, its commands pipelined (RFC 2920), and returns when it is acknowledged.
func (s *sender) send(to, message string) error {
	if err := s.command("MAIL FROM:<a@acme.example>\r\nRCPT TO:<"+to+">\r\nDATA\r\n", "250", "250", "354"); err != nil {
		return err
	}
	return s.command(message+".\r\n", "250")
}

func (s *sender) command(text string, answers ...string) error {
	if _, err := io.WriteString(s.conn, text); err != nil {
		return err
	}
	return s.expect(answers...)
}

func (s *sender) expect(answers ...string) error {
	for _, want := range answers {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(line, want) {
			return fmt.Errorf("the answer is %q, want %s", line, want)
		}
	}
	return nil
}
