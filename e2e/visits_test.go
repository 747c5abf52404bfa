//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/smtp"
	"strings"
	"sync"
	"testing"
	"time"
)

// visits are what users do, one thing after another: each makes an inbox, sends a mail to it, reads
// it and deletes the inbox, or leaves it to expire. What is refused for the moment is tried again.
type visits struct {
	t    *testing.T
	ctx  context.Context
	stop context.CancelFunc
	wait sync.WaitGroup

	mu      sync.Mutex
	count   int // of those that are complete
	expired int // how many inboxes were seen to be gone
	refused map[string]int
	slowest map[string]time.Duration // the longest time that an answer took
}

const (
	visitPace = 100 * time.Millisecond // between the requests of a user, whose plan allows a thousand a minute
	visitTTL  = time.Minute            // of inboxes, the shortest
)

// startVisits has each user visit one process after the other.
func startVisits(t *testing.T, servers []*server, users ...*client) *visits {
	v := &visits{t: t, refused: map[string]int{}, slowest: map[string]time.Duration{}}
	v.ctx, v.stop = context.WithCancel(t.Context())
	for _, u := range users {
		v.wait.Go(func() {
			left := map[string]time.Time{} // when inboxes expire, by path
			for n := 0; v.ctx.Err() == nil; n++ {
				v.visit(servers[n%len(servers)], u, n%4 == 0, left)
			}
		})
	}
	t.Cleanup(func() {
		v.end()
		if t.Failed() {
			t.Logf("%d visits, refused %v, slowest answers %v", v.count, v.refused, v.slowest)
		}
	})
	return v
}

func (v *visits) end() {
	v.stop()
	v.wait.Wait()
}

func (v *visits) visit(s *server, u *client, leave bool, left map[string]time.Time) {
	u = u.at(s.rest)
	made := v.until(u, http.MethodPost, "/v1/inboxes", fmt.Sprintf(`{"ttl":%d}`, int(visitTTL.Seconds())), http.StatusCreated)
	var in struct{ ID, Email string }
	if err := json.Unmarshal([]byte(made), &in); err != nil {
		return // the visits end
	}
	path := "/v1/inboxes/" + in.ID
	expires := time.Now().Add(visitTTL)
	sent := v.mail(s, in.Email, "")
	list := v.until(u, http.MethodGet, path+"/messages", "", http.StatusOK)
	if times := strings.Count(list, `"A visit"`); v.ctx.Err() == nil && (times < 1 || times > sent) {
		v.t.Errorf("a mail was sent %d times and is there %d times", sent, times)
	}
	if leave {
		left[path] = expires
	} else {
		v.until(u, http.MethodDelete, path, "", http.StatusOK)
		v.until(u, http.MethodGet, path+"/messages", "", http.StatusNotFound)
		v.mail(s, in.Email, "550 5.1.1")
	}
	for path, expires := range left {
		if time.Now().After(expires) {
			v.until(u, http.MethodGet, path+"/messages", "", http.StatusNotFound)
			delete(left, path)
			v.note(func() { v.expired++ })
		}
	}
	if v.ctx.Err() == nil {
		v.note(func() { v.count++ })
	}
}

func (v *visits) note(what func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	what()
}

// until makes a request until it is not refused for the moment. It returns the body of the answer,
// whose status has to be the given one, and "" when the visits end.
func (v *visits) until(u *client, method, path, body string, status int) string {
	for again := false; v.pause(); again = true {
		a := u.request(method, path, body)
		if v.ctx.Err() != nil {
			break
		}
		v.answered(method, a.took)
		switch {
		case a.status == http.StatusServiceUnavailable && a.retryAfter != "":
			v.note(func() { v.refused[method]++ })
			continue
		case a.status == status, again && method == http.MethodDelete && a.status == http.StatusNotFound:
		default:
			v.t.Errorf("%s %s: %d, want %d, Retry-After %q: %s", method, path, a.status, status, a.retryAfter, a.body)
		}
		return a.body
	}
	return ""
}

// mail sends a mail until it is not refused for the moment, and returns how often. It has to get the
// given answer, or "" if it is accepted.
func (v *visits) mail(s *server, address, answer string) (sent int) {
	for v.pause() {
		started := time.Now()
		err := smtp.SendMail(s.smtp, nil, "a@acme.example", []string{address}, []byte("Subject: A visit\r\n\r\nx\r\n"))
		v.answered("mail", time.Since(started))
		sent++
		got := refusal(err)
		if got == "452 4.3.2" {
			v.note(func() { v.refused["mail"]++ })
			continue
		}
		if got != answer || got == "" && err != nil {
			v.t.Errorf("mail to %s: %v, want %q", address, err, answer)
		}
		break
	}
	return sent
}

// pause waits for a moment, and reports whether the visits go on.
func (v *visits) pause() bool {
	select {
	case <-time.After(visitPace):
		return true
	case <-v.ctx.Done():
		return false
	}
}

func (v *visits) answered(what string, took time.Duration) {
	v.note(func() { v.slowest[what] = max(v.slowest[what], took) })
	if took > answerBound {
		v.t.Errorf("%s took %v", what, took)
	}
}

// since waits until n more visits are complete, and returns what was refused since the last call and
// the longest time of an answer.
func (v *visits) since(n int) (refused map[string]int, slowest map[string]time.Duration) {
	v.t.Helper()
	total := func() (n int) {
		v.note(func() { n = v.count })
		return n
	}
	before := total()
	eventually(v.t, fmt.Sprintf("%d more visits are complete", n), func() bool { return total() >= before+n })
	v.note(func() {
		refused, slowest = maps.Clone(v.refused), maps.Clone(v.slowest)
		clear(v.refused)
		clear(v.slowest)
	})
	for what, took := range slowest {
		slowest[what] = took.Round(time.Millisecond)
	}
	return refused, slowest
}
