//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is mail sent to several processes at once. As mail servers do, a sender that is refused
// temporarily or loses its connection sends the message again, to the next process.
type load struct {
	t     *testing.T
	name  string   // tells its subjects from those of other loads
	addrs []string // of the processes
	to    []string // addresses of inboxes; of several, with a space between them, for mail to all of them
	stop  context.CancelFunc
	ctx   context.Context
	wait  sync.WaitGroup
	pace  time.Duration

	mu           sync.Mutex
	acknowledged map[string]map[string]bool // subjects of the messages answered with 250, by address
	attempts     map[string]int             // how often a message was sent whole, by subject
	count        int                        // of those messages
	last         time.Time                  // when the last of them was
	pause        time.Duration              // the longest time without one since [load.longestPause]
	refusals     map[string]int             // how often an answer such as "452 4.3.2" came
	slowest      time.Duration              // the longest time an answer took
}

const (
	senders = 8
	pace    = 10 * time.Millisecond // between the messages of a sender, to leave room for the rest of the test
)

func startLoad(t *testing.T, to []string, addrs ...string) *load {
	return startPacedLoad(t, pace, to, addrs...)
}

func startPacedLoad(t *testing.T, pace time.Duration, to []string, addrs ...string) *load {
	l := &load{t: t, name: rand.Text(), addrs: addrs, to: to, pace: pace, acknowledged: map[string]map[string]bool{}, attempts: map[string]int{}, refusals: map[string]int{}}
	for _, address := range strings.Fields(strings.Join(to, " ")) {
		l.acknowledged[address] = map[string]bool{}
	}
	l.ctx, l.stop = context.WithCancel(t.Context())
	l.last = time.Now()
	for n := range senders {
		l.wait.Go(func() { l.send(n) })
	}
	t.Cleanup(l.end)
	return l
}

// end stops the senders and waits for them.
func (l *load) end() {
	l.stop()
	l.wait.Wait()
}

func (l *load) send(n int) {
	again := time.NewTicker(l.pace)
	defer again.Stop()
	at := n
	var session *session
	defer func() { session.close() }()
	for i := 0; ; i++ {
		to, subject := l.to[i%len(l.to)], fmt.Sprintf("message %s-%d-%d", l.name, n, i)
		for sent := false; !sent; {
			select {
			case <-again.C:
			case <-l.ctx.Done():
				return
			}
			if session == nil {
				session = l.dial(l.addrs[at%len(l.addrs)])
			}
			if sent = session != nil && l.deliver(session, to, subject); !sent {
				session.close()
				session = nil
				at++
			}
		}
	}
}

// session is a connection of a sender.
type session struct {
	conn   net.Conn
	client *smtp.Client
}

func (s *session) close() {
	if s != nil {
		_ = s.conn.Close() // it may be broken
	}
}

func (l *load) dial(addr string) *session {
	conn, err := net.DialTimeout("tcp", addr, answerTimeout)
	if err != nil {
		return nil // nothing listens there any more
	}
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		l.t.Error(err)
	}
	client, err := smtp.NewClient(conn, "mail.test")
	if err != nil {
		_ = conn.Close()
		return nil
	}
	return &session{conn, client}
}

// deliver sends a message, to one or several addresses, and reports whether it was acknowledged.
func (l *load) deliver(s *session, to, subject string) bool {
	if err := s.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return false
	}
	var started time.Time
	steps := []func() error{
		func() error { return s.client.Mail("a@acme.example") },
		func() error {
			for address := range strings.FieldsSeq(to) {
				if err := s.client.Rcpt(address); err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			data, err := s.client.Data()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(data, "Subject: %s\r\n\r\n%s\r\n", subject, strings.Repeat("x", 1000)); err != nil {
				return err
			}
			l.mu.Lock()
			l.attempts[subject]++
			l.mu.Unlock()
			return data.Close() // nil means 250
		},
	}
	for _, step := range steps {
		started = time.Now()
		if err := step(); err != nil {
			l.refused(err, time.Since(started))
			return false
		}
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for address := range strings.FieldsSeq(to) {
		l.acknowledged[address][subject] = true
	}
	l.count++
	l.pause = max(l.pause, now.Sub(l.last))
	l.last = now
	l.slowest = max(l.slowest, now.Sub(started))
	return true
}

func (l *load) refused(err error, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var timeout net.Error
	if answer := refusal(err); answer != "" {
		l.slowest = max(l.slowest, took)
		l.refusals[answer]++
	} else if errors.As(err, &timeout) && timeout.Timeout() {
		l.slowest = max(l.slowest, took)
	}
}

// refusal returns the codes of an SMTP error such as "452 4.3.2", and "" for any other error.
func refusal(err error) string {
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		return ""
	}
	enhanced, _, _ := strings.Cut(answer.Msg, " ")
	return fmt.Sprintf("%d %s", answer.Code, enhanced)
}

// waitForMails waits until n more messages are acknowledged.
func (l *load) waitForMails(n int) {
	l.t.Helper()
	before := l.total()
	eventually(l.t, fmt.Sprintf("%d more messages are acknowledged", n), func() bool { return l.total() >= before+n })
}

func (l *load) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// waitForRefusal waits until one more message is refused with the answer.
func (l *load) waitForRefusal(answer string) {
	l.t.Helper()
	before := l.refusedSoFar(answer)
	eventually(l.t, "a sender gets "+answer, func() bool { return l.refusedSoFar(answer) > before })
}

func (l *load) refusedSoFar(answer string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusals[answer]
}

// longestPause returns the longest time without a 250 since the last call.
func (l *load) longestPause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pause
	l.pause = 0
	return p
}

// checkNothingIsLost ends the load and checks that every acknowledged message is stored, for all of
// its recipients, and none more often than it was sent. Each address is one of the users'.
func (l *load) checkNothingIsLost(users ...*client) {
	l.t.Helper()
	l.end()
	found, lost := 0, 0
	stored := map[string]map[string]int{} // by address and subject
	for address, subjects := range l.acknowledged {
		stored[address] = l.stored(users, address)
		for subject, times := range stored[address] {
			if !strings.Contains(subject, l.name) {
				continue // another load's
			}
			found += times
			if times > l.attempts[subject] {
				l.t.Errorf("%q was sent %d times to %s and is there %d times", subject, l.attempts[subject], address, times)
			}
		}
		for subject := range subjects {
			if stored[address][subject] == 0 {
				lost++
			}
		}
	}
	l.t.Logf("%d messages acknowledged, %d stored, refused: %v, slowest answer %v", l.count, found, l.refusals, l.slowest.Round(time.Millisecond))
	if lost > 0 {
		l.t.Errorf("%d messages were acknowledged and lost", lost)
	}
	for _, to := range l.to {
		addresses := strings.Fields(to)
		for _, address := range addresses[1:] {
			if !maps.Equal(stored[address], stored[addresses[0]]) {
				l.t.Errorf("some messages to %s were stored for some of them only", to)
			}
		}
	}
	for answer := range l.refusals {
		if answer[0] != '4' {
			l.t.Errorf("a sender got %q", answer)
		}
	}
}

// stored returns how often each subject is in the inbox of an address.
func (l *load) stored(users []*client, address string) map[string]int {
	l.t.Helper()
	times := map[string]int{}
	for _, u := range users {
		if id, ok := u.inboxes[address]; ok {
			var list struct{ Messages []struct{ Subject string } }
			u.getJSON("/v1/inboxes/"+id+"/messages", &list)
			for _, m := range list.Messages {
				times[m.Subject]++
			}
		}
	}
	return times
}

// checkSlowestAnswer checks that no SMTP answer took longer than limit.
func (l *load) checkSlowestAnswer(limit time.Duration) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slowest > limit {
		l.t.Errorf("an SMTP answer took %v, more than %v", l.slowest, limit)
	}
}
