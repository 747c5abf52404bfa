// Package webhook tells a URL of each message that arrives, by a signed POST request as the Standard
// Webhooks specification 1.0.0 has it. It tries again until it gets an answer with a status of 2xx.
//
// There is one URL, so there is one queue and one pause: after a failure no request is made for a
// while, which gets longer with each failure in a row, and a message whose turn failed comes again
// after a delay of its own, so that one that the receiver cannot take does not stop the others. The
// order of messages is not kept.
//
// The queue is in memory. To survive a crash, it would have to be written with the mail and, for each
// answer, again, which would cost as much as the mail; a receiver that misses something can list the
// messages of an inbox.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mayfly/api"
	"mayfly/service"
)

const (
	maxRequests    = 8        // at a time
	maxQueued      = 10_000   // messages
	maxQueuedBytes = 16 << 20 // of their payloads
	maxAnswerBytes = 64 << 10 // of the header, and of the body, which nobody needs

	requestTimeout = 15 * time.Second // with the answer
	drainTimeout   = 5 * time.Second  // for the queue at the end
	maxPause       = time.Minute
	maxRetryAfter  = time.Hour
	forever        = math.MaxInt64 // 292 years
)

// delays are those after the failed attempts for one message. The next failure is the last.
var delays = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	2 * time.Hour, 6 * time.Hour, 12 * time.Hour}

// Stats are counts since the sender was created, and its present state.
type Stats struct {
	Sent    int64 // messages
	Failed  int64 // requests
	Dropped int64 // messages for which there was no room, or no attempt left
	Queued  int   // messages to be sent, or to be sent again
}

// Sender sends webhooks. It is safe for concurrent use.
type Sender struct {
	url       string
	secrets   [][]byte
	transport http.RoundTripper // it follows no redirect
	log       *slog.Logger
	seldom    rate.Sometimes // for the log

	queue   chan *event // to be sent now; it has room for all that are queued
	closing chan struct{}
	done    chan struct{} // closed when all is sent that will be
	ctx     context.Context
	cancel  context.CancelFunc // cuts the requests

	mu       sync.Mutex
	stats    Stats
	retries  map[*event]*time.Timer // of those that failed
	bytes    int                    // of what is queued
	failures int                    // in a row
	resume   time.Time              // until then there is a pause
}

// event is what the receiver is told of one message.
type event struct {
	id       string // of the message
	body     []byte
	failures int
}

// New returns a sender to a URL which [CheckURL] accepts. It signs with each of the secrets, from
// [ParseSecrets].
func New(url string, secrets [][]byte, log *slog.Logger) *Sender {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxRequests
	transport.MaxResponseHeaderBytes = maxAnswerBytes
	s := &Sender{
		url: url, secrets: secrets, transport: transport, log: log, seldom: rate.Sometimes{Interval: time.Minute},
		queue: make(chan *event, maxQueued), closing: make(chan struct{}), done: make(chan struct{}),
		retries: map[*event]*time.Timer{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// payload is the body of a request.
type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		KeyID   string      `json:"key_id"`
		InboxID string      `json:"inbox_id"`
		To      string      `json:"to"`
		Message api.Summary `json:"message"`
	} `json:"data"`
}

// Add puts a message into the queue or, if that is full, drops it. It never waits.
func (s *Sender) Add(a service.Arrival) {
	p := payload{Type: "message.received", Timestamp: a.ReceivedAt.UTC().Format(api.TimeFormat)}
	p.Data.KeyID, p.Data.InboxID, p.Data.To = a.KeyID, a.InboxID, a.To
	p.Data.Message = api.Summary{ID: a.ID, From: a.From, FromName: a.FromName, Subject: a.Subject, ReceivedAt: a.ReceivedAt, Size: a.Size}
	body, err := json.Marshal(p)
	s.mu.Lock()
	if err == nil && (s.stats.Queued == maxQueued || s.bytes+len(body) > maxQueuedBytes) {
		err = errors.New("the queue is full")
	}
	if err != nil {
		s.stats.Dropped++
	} else {
		s.stats.Queued++
		s.bytes += len(body)
	}
	s.mu.Unlock()
	if err != nil {
		s.warn(err)
		return
	}
	s.queue <- &event{id: a.ID, body: body}
}

// Stats returns the present statistics.
func (s *Sender) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// warn logs a failure, at most once a minute.
func (s *Sender) warn(err error) {
	s.seldom.Do(func() {
		st := s.Stats()
		s.log.Warn("webhooks cannot be sent", "error", err, "queued", st.Queued, "dropped", st.Dropped)
	})
}

// Run sends what is in the queue until Shutdown. It returns nil.
func (s *Sender) Run() error {
	var workers sync.WaitGroup
	for range maxRequests {
		workers.Go(s.work)
	}
	workers.Wait()
	close(s.done)
	return nil
}

// Shutdown sends what can be sent without a further pause, for five seconds at most and until ctx
// ends, and ends Run, which must have been called. Nothing must be added any more.
func (s *Sender) Shutdown(ctx context.Context) {
	close(s.closing)
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.cancel()
	<-s.done
	(&http.Client{Transport: s.transport}).CloseIdleConnections()
	s.mu.Lock()
	n := s.stats.Queued
	for _, timer := range s.retries {
		timer.Stop()
	}
	s.mu.Unlock()
	if n > 0 {
		s.log.Warn("webhooks are lost, since the service stops", "count", n)
	}
}

func (s *Sender) work() {
	for {
		var e *event
		select {
		case e = <-s.queue:
		case <-s.closing:
			select {
			case e = <-s.queue:
			default:
				return
			}
		}
		if s.waitForTurn() {
			retryAfter, err := s.post(e)
			s.record(e, retryAfter, err)
		}
	}
}

// waitForTurn waits while there is a pause. It returns false when the sender is closing by then.
func (s *Sender) waitForTurn() bool {
	for {
		s.mu.Lock()
		pause := time.Until(s.resume)
		s.mu.Unlock()
		if pause <= 0 {
			return true
		}
		select {
		case <-time.After(pause):
		case <-s.closing:
			return false
		}
	}
}

// post makes a request. If it fails, retryAfter is how long the receiver wants to be left alone.
func (s *Sender) post(e *event) (retryAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(e.body))
	if err != nil {
		return 0, err
	}
	now := time.Now()
	timestamp := strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "mayfly")
	r.Header["Idempotency-Key"] = nil // not sent: it says that the transport may use another connection
	r.Header.Set("webhook-id", e.id)
	r.Header.Set("webhook-timestamp", timestamp)
	r.Header.Set("webhook-signature", sign(s.secrets, e.id, timestamp, e.body))
	answer, err := s.transport.RoundTrip(r)
	if err != nil {
		return 0, err // without the URL, which may have a secret in it
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswerBytes) // so that the connection can be used again
	switch {
	case answer.StatusCode/100 == 2:
		return 0, nil
	case answer.StatusCode == http.StatusGone:
		return forever, errors.New("the receiver answers 410 Gone: it gets nothing more until the service is started again")
	}
	return min(api.RetryAfter(answer.Header, now), maxRetryAfter), fmt.Errorf("the receiver answers %d", answer.StatusCode)
}

// record notes how a request ended: the event leaves the queue, or comes again after a delay and a pause
// for all.
func (s *Sender) record(e *event, retryAfter time.Duration, err error) {
	s.mu.Lock()
	remove := err == nil
	if err == nil {
		s.stats.Sent++
		s.failures = 0
	} else {
		s.stats.Failed++
		if remove = e.failures == len(delays); remove {
			s.stats.Dropped++
		} else {
			s.retries[e] = time.AfterFunc(jitter(delays[e.failures]), func() { s.retry(e) })
			e.failures++
		}
		s.pause(retryAfter)
	}
	if remove {
		s.stats.Queued--
		s.bytes -= len(e.body)
	}
	s.mu.Unlock()
	if err != nil {
		s.warn(err)
	}
}

func (s *Sender) retry(e *event) {
	s.mu.Lock()
	delete(s.retries, e)
	s.mu.Unlock()
	s.queue <- e
}

// pause makes a pause of a second, twice as long after each failure in a row, or of retryAfter if that
// is longer. The caller has locked s.mu.
func (s *Sender) pause(retryAfter time.Duration) {
	now := time.Now()
	if !now.Before(s.resume) { // else it is one of several requests that failed together
		s.resume = now.Add(jitter(min(time.Second<<min(s.failures, 10), maxPause)))
		s.failures++
	}
	if until := now.Add(retryAfter); until.After(s.resume) {
		s.resume = until
	}
}

// jitter lengthens a duration by up to a fifth, so that processes that failed together do not come
// back together.
func jitter(d time.Duration) time.Duration { return d + rand.N(d/5) }

const (
	secretPrefix         = "whsec_"
	minSecret, maxSecret = 24, 64 // bytes
)

// NewSecret returns a random secret: whsec_ and the base64 of 32 bytes.
func NewSecret() string {
	b := make([]byte, 32)
	cryptorand.Read(b)
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// ParseSecrets reads one or more secrets with white space between them: while a receiver changes from
// one to another, requests are signed with both. Errors do not contain a secret.
func ParseSecrets(text string) ([][]byte, error) {
	var secrets [][]byte
	for word := range strings.FieldsSeq(text) {
		encoded, ok := strings.CutPrefix(word, secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(secret) < minSecret || len(secret) > maxSecret {
			return nil, errors.New("a webhook secret is whsec_ and the base64 of 24 to 64 random bytes, one on each line")
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// sign returns the field webhook-signature, with a signature for each secret.
func sign(secrets [][]byte, id, timestamp string, body []byte) string {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// CheckURL returns what is wrong with a URL for webhooks. The error does not contain the URL, which may
// have a secret in it.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("the URL for webhooks is not one: want https://host/path, or http:// within a network that you trust")
	case u.User != nil:
		return errors.New("the URL for webhooks has a user in it: remove that, since the signature proves who sends the request")
	}
	return nil
}
