//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is mail that several senders send to several processes. Like any sender, one who is refused for now, or whose
// connection breaks, sends the message again, to the next process.
type load struct {
	t     *testing.T
	addrs []string // of the processes
	to    []string // addresses of inboxes
	stop  context.CancelFunc
	ctx   context.Context
	wait  sync.WaitGroup

	mu           sync.Mutex
	acknowledged map[string]map[string]bool // subjects of messages for which a 250 came, by address
	count        int
	last         time.Time      // of those 250s
	pause        time.Duration  // the longest time without any, since it was asked for last
	refusals     map[string]int // answers that refuse for now, such as "452 4.3.2"
	slowest      time.Duration  // that an answer took
}

const (
	senders   = 8
	pace      = 10 * time.Millisecond // of each sender, so that there is room for what else goes on
	smtpLimit = 40 * time.Second      // of a command: after it the test fails, and does not hang
)

func startLoad(t *testing.T, to []string, addrs ...string) *load {
	l := &load{t: t, addrs: addrs, to: to, acknowledged: map[string]map[string]bool{}, refusals: map[string]int{}}
	for _, address := range to {
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
	again := time.NewTicker(pace)
	defer again.Stop()
	at := n
	var session *session
	defer func() { session.close() }()
	for i := 0; ; i++ {
		to, subject := l.to[i%len(l.to)], fmt.Sprintf("message %d-%d", n, i)
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
	conn, err := net.DialTimeout("tcp", addr, smtpLimit)
	if err != nil {
		return nil // nobody listens there any more
	}
	if err := conn.SetDeadline(time.Now().Add(smtpLimit)); err != nil {
		l.t.Error(err)
	}
	client, err := smtp.NewClient(conn, "mail.test")
	if err != nil {
		_ = conn.Close()
		return nil
	}
	return &session{conn, client}
}

// deliver sends a message, and returns false if it was not acknowledged.
func (l *load) deliver(s *session, to, subject string) bool {
	if err := s.conn.SetDeadline(time.Now().Add(smtpLimit)); err != nil {
		return false
	}
	var started time.Time
	steps := []func() error{
		func() error { return s.client.Mail("a@acme.example") },
		func() error { return s.client.Rcpt(to) },
		func() error {
			data, err := s.client.Data()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(data, "Subject: %s\r\n\r\n%s\r\n", subject, strings.Repeat("x", 1000)); err != nil {
				return err
			}
			return data.Close() // nil is the 250
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
	l.acknowledged[to][subject] = true
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

// refusal returns the codes of an answer of SMTP that is an error, such as "452 4.3.2"; empty if err is none.
func refusal(err error) string {
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		return ""
	}
	enhanced, _, _ := strings.Cut(answer.Msg, " ")
	return fmt.Sprintf("%d %s", answer.Code, enhanced)
}

// arrives waits until n more messages were acknowledged.
func (l *load) arrives(n int) {
	l.t.Helper()
	before := l.total()
	eventually(l.t, fmt.Sprintf("%d more messages are acknowledged", n), func() bool { return l.total() >= before+n })
}

func (l *load) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// refusedWith waits until one more message was refused with the answer.
func (l *load) refusedWith(answer string) {
	l.t.Helper()
	before := l.refusedSoFar(answer)
	eventually(l.t, "a sender gets "+answer, func() bool { return l.refusedSoFar(answer) > before })
}

func (l *load) refusedSoFar(answer string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusals[answer]
}

// longestPause is the longest time without a 250 since it was asked for last.
func (l *load) longestPause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pause
	l.pause = 0
	return p
}

// nothingIsLost ends the load and looks for all that was acknowledged.
func (l *load) nothingIsLost(u *user) {
	l.t.Helper()
	l.end()
	found, lost := 0, 0
	for address, subjects := range l.acknowledged {
		var list struct{ Messages []struct{ Subject string } }
		u.gets("/v1/inboxes/"+u.inboxes[address]+"/messages", &list)
		found += len(list.Messages)
		there := map[string]bool{}
		for _, m := range list.Messages {
			there[m.Subject] = true
		}
		for subject := range subjects {
			if !there[subject] {
				lost++
			}
		}
	}
	l.t.Logf("%d messages acknowledged, %d stored, refused: %v, slowest answer %v", l.count, found, l.refusals, l.slowest.Round(time.Millisecond))
	if lost > 0 {
		l.t.Errorf("%d messages were acknowledged and are lost", lost)
	}
	for answer := range l.refusals {
		if answer[0] != '4' {
			l.t.Errorf("a sender got %q", answer)
		}
	}
}

// answersWithin fails if an answer of SMTP took longer.
func (l *load) answersWithin(limit time.Duration) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slowest > limit {
		l.t.Errorf("an answer by SMTP took %v, more than %v", l.slowest, limit)
	}
}

// user is somebody with an API key, who asks a process with nothing of Mayfly's client between.
type user struct {
	t       *testing.T
	base    string
	key     string
	inboxes map[string]string // IDs by address
}

// at is the same user, who asks another process.
func (u *user) at(base string) *user { return &user{u.t, base, u.key, u.inboxes} }

// answer is what a process says to a request; status 0: nothing.
type answer struct {
	status     int
	retryAfter string
	body       string
	took       time.Duration
}

// patient waits as long for an answer as no process may take.
var patient = &http.Client{Timeout: smtpLimit}

func (u *user) ask(method, path, body string) answer {
	request, err := http.NewRequestWithContext(u.t.Context(), method, u.base+path, strings.NewReader(body))
	if err != nil {
		u.t.Error(err)
		return answer{}
	}
	request.Header.Set("X-API-Key", u.key)
	started := time.Now()
	response, err := patient.Do(request)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(started)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(started)}
	}
	return answer{response.StatusCode, response.Header.Get("Retry-After"), string(text), time.Since(started)}
}

// gets gets what is there.
func (u *user) gets(path string, v any) {
	u.t.Helper()
	a := u.ask(http.MethodGet, path, "")
	if a.status != http.StatusOK {
		u.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		u.t.Fatal(err)
	}
}

// makes makes an inbox and returns its address.
func (u *user) makes(username string) string {
	u.t.Helper()
	a := u.ask(http.MethodPost, "/v1/inboxes", `{"username":"`+username+`"}`)
	var in struct{ ID, Email string }
	if err := json.Unmarshal([]byte(a.body), &in); a.status != http.StatusCreated || err != nil {
		u.t.Fatalf("making %s: %d %s, %v", username, a.status, a.body, err)
	}
	u.inboxes[in.Email] = in.ID
	return in.Email
}

// isAway waits until the user is told that the service is away: what serves him may notice a little later than others. Each
// answer until then comes within bounds.
func (u *user) isAway() {
	u.t.Helper()
	eventually(u.t, "GET /v1/inboxes answers 503", func() bool {
		a := u.ask(http.MethodGet, "/v1/inboxes", "")
		if a.took > bound {
			u.t.Errorf("%d after %v, %s", a.status, a.took, a.body)
		}
		if a.status == http.StatusServiceUnavailable && a.retryAfter == "" {
			u.t.Errorf("503 without Retry-After: %s", a.body)
		}
		return a.status == http.StatusServiceUnavailable
	})
}

// eventually waits for what must come to be.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	const within = time.Minute
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("after %v it is still not so that %s", within, what)
		}
	}
}
