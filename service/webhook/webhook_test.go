package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"mayfly/api/apitest"
	"mayfly/assets"
	"mayfly/internal/fortest"
	"mayfly/service"
)

// receiver is what the URL leads to. It notes the requests for each message.
type receiver struct {
	sender  *Sender
	handler http.HandlerFunc // may change
	log     fortest.Log

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	times    map[string][]time.Time
}

// receive runs a test with a sender and a receiver, in a bubble.
func receive(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, r *receiver)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		secrets, err := ParseSecrets(NewSecret())
		must(t, err)
		r := &receiver{handler: handler, times: map[string][]time.Time{}}
		r.sender = New("http://receiver.test/hook", secrets, slog.New(slog.NewTextHandler(&r.log, nil)))
		r.sender.transport = apitest.Transport(r)
		go r.sender.Run()
		defer func() {
			if r.sender.ctx.Err() == nil {
				r.sender.Shutdown(t.Context())
			}
		}()
		test(t, r)
	})
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	id := request.Header.Get("webhook-id")
	r.times[id] = append(r.times[id], time.Now())
	r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
	handler := r.handler
	r.mu.Unlock()
	handler(w, request)
}

func (r *receiver) answer(handler http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = handler
}

func (r *receiver) at(id string) []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times[id]
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

func (r *receiver) add(ids ...string) {
	for _, id := range ids {
		r.sender.Add(service.Arrival{Summary: service.Summary{ID: id, ReceivedAt: time.Now()}})
	}
}

var must = fortest.Must

func ok(http.ResponseWriter, *http.Request) {}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func wantStats(t *testing.T, r *receiver, want Stats) {
	t.Helper()
	synctest.Wait()
	if got := r.sender.Stats(); got != want {
		t.Errorf("the statistics are %+v, want %+v", got, want)
	}
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAMessageIsTriedForADayAndThenDropped(t *testing.T) {
	receive(t, status(500), func(t *testing.T, r *receiver) {
		r.add("msg_1")
		pass(48 * time.Hour)
		wantStats(t, r, Stats{Failed: 9, Dropped: 1})
		times := r.at("msg_1")
		for i, delay := range delays {
			// A pause for all can come on top of it.
			if d := times[i+1].Sub(times[i]); d < delay || d > delay+delay/5+2*maxPause {
				t.Errorf("attempt %d comes after %v, want %v", i+2, d, delay)
			}
			if r.bodies[i+1] != r.bodies[0] || r.requests[i+1].Header.Get("webhook-timestamp") != strconv.FormatInt(times[i+1].Unix(), 10) {
				t.Errorf("attempt %d has the header %v and the body %s", i+2, r.requests[i+1].Header, r.bodies[i+1])
			}
		}
		if !strings.Contains(r.log.String(), `error="the receiver answers 500"`) || strings.Contains(r.log.String(), "receiver.test") {
			t.Errorf("the log is %s", r.log.String())
		}
		if n := strings.Count(r.log.String(), "\n"); n > len(times) {
			t.Errorf("%d lines are logged", n)
		}
	})
}

func TestAReceiverThatIsDownIsLeftAlone(t *testing.T) {
	receive(t, status(503), func(t *testing.T, r *receiver) {
		const messages = 1000
		var ids []string
		for i := range messages {
			ids = append(ids, fmt.Sprintf("msg_%d", i))
		}
		r.add(ids...)
		pass(time.Hour)
		if n := r.count(); n > 66*maxRequests {
			t.Errorf("it gets %d requests in an hour", n)
		}
		if n := strings.Count(r.log.String(), "\n"); n > 61 {
			t.Errorf("%d lines are logged in an hour", n)
		}
		r.answer(ok)
		pass(2 * maxPause)
		// Those that were tried before come after a delay of their own.
		if st := r.sender.Stats(); st.Sent < messages/2 {
			t.Errorf("soon after it is back: %+v", st)
		}
		pass(24 * time.Hour)
		if st := r.sender.Stats(); st.Sent != messages || st.Queued != 0 || st.Dropped != 0 {
			t.Errorf("a day after it is back: %+v", st)
		}
		if got := slices.Sorted(maps.Keys(r.times)); len(got) != messages {
			t.Errorf("it got %d messages", len(got))
		}
	})
}

func TestAMessageThatTheReceiverCannotTakeDoesNotStopTheOthers(t *testing.T) {
	bad := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("webhook-id"), "bad") {
			w.WriteHeader(400)
		}
	}
	receive(t, bad, func(t *testing.T, r *receiver) {
		r.add("bad_1", "bad_2")
		for i := range 100 {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Second)
			id := fmt.Sprintf("good_%d", i)
			began := time.Now()
			r.add(id)
			pass(4 * time.Minute)
			if got := r.at(id); len(got) != 1 || got[0].Sub(began) > maxPause+maxPause/5 {
				t.Errorf("%s, added at %v, came at %v", id, began, got)
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for name, test := range map[string]struct {
		value    string
		min, max time.Duration
	}{
		"seconds":       {"120", 2 * time.Minute, 2 * time.Minute},
		"a date":        {"date", 10 * time.Minute, 10 * time.Minute},
		"for ever":      {"1000000000", maxRetryAfter, maxRetryAfter},
		"the past":      {"-5", 5 * time.Second, 6 * time.Second},
		"not a time":    {"soon", 5 * time.Second, 6 * time.Second},
		"less than due": {"1", 5 * time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			handler := func(w http.ResponseWriter, _ *http.Request) {
				value := test.value
				if value == "date" {
					value = time.Now().Add(test.min).UTC().Format(http.TimeFormat)
				}
				w.Header().Set("Retry-After", value)
				w.WriteHeader(429)
			}
			receive(t, handler, func(t *testing.T, r *receiver) {
				r.add("msg_1")
				synctest.Wait()
				r.answer(ok)
				pass(2 * time.Hour)
				times := r.at("msg_1")
				if len(times) != 2 {
					t.Fatalf("requests at %v", times)
				}
				if d := times[1].Sub(times[0]); d < test.min || d > test.max {
					t.Errorf("the second request comes after %v", d)
				}
			})
		})
	}
}

func TestGoneIsTheEnd(t *testing.T) {
	receive(t, status(410), func(t *testing.T, r *receiver) {
		r.add("msg_1")
		pass(time.Hour)
		r.answer(ok)
		r.add("msg_2")
		pass(1000 * time.Hour)
		wantStats(t, r, Stats{Failed: 1, Queued: 2})
		if strings.Count(r.log.String(), "410 Gone") != 1 {
			t.Errorf("the log is %s", r.log.String())
		}
	})
}

// Whatever else an answer is, its status counts, and no answer takes longer than 15 seconds.
func TestAnswers(t *testing.T) {
	cut := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "some")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ".")
			w.(http.Flusher).Flush()
			time.Sleep(time.Second)
		}
	}
	flood := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 64<<10))
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		sent    int64
	}{
		"200":              {ok, 1},
		"204":              {status(204), 1},
		"cut":              {cut(200), 1},
		"drips":            {drip, 1},
		"endless":          {flood, 1},
		"cut without 2xx":  {cut(500), 0},
		"reset":            {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
		"hangs":            {hang, 0},
		"redirect":         {http.RedirectHandler("http://169.254.169.254/", http.StatusTemporaryRedirect).ServeHTTP, 0},
		"a wrong redirect": {http.RedirectHandler("http://[", http.StatusFound).ServeHTTP, 0},
	} {
		t.Run(name, func(t *testing.T) {
			receive(t, test.handler, func(t *testing.T, r *receiver) {
				r.add("msg_1")
				pass(requestTimeout + 3*time.Second)
				if st := r.sender.Stats(); st.Sent != test.sent || st.Sent == 0 && st.Failed == 0 {
					t.Errorf("the statistics are %+v", st)
				}
				for _, request := range r.requests {
					if request.Host+request.URL.Path != "receiver.test/hook" {
						t.Errorf("it requests %s of %s", request.URL, request.Host)
					}
				}
			})
		})
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	receive(t, hang, func(t *testing.T, r *receiver) {
		for i := range maxQueued + 7 {
			r.add(fmt.Sprint(i))
		}
		wantStats(t, r, Stats{Queued: maxQueued, Dropped: 7})
		if r.count() != maxRequests {
			t.Errorf("there are %d requests at a time", r.count())
		}
		if strings.Count(r.log.String(), "\n") != 1 || !strings.Contains(r.log.String(), "the queue is full") {
			t.Errorf("the log is %s", r.log.String())
		}
	})
	t.Run("bytes", func(t *testing.T) {
		receive(t, hang, func(t *testing.T, r *receiver) {
			subject := strings.Repeat("\x01", 1000) // takes six times as much in JSON
			for range maxQueued {
				r.sender.Add(service.Arrival{Summary: service.Summary{Subject: subject, FromName: strings.Repeat("\x02", 256)}})
			}
			st := r.sender.Stats()
			r.sender.mu.Lock()
			defer r.sender.mu.Unlock()
			if r.sender.bytes > maxQueuedBytes || st.Dropped == 0 || st.Queued < maxQueuedBytes/(6*1256+1000) {
				t.Errorf("%d bytes are queued, %+v", r.sender.bytes, st)
			}
		})
	})
}

func TestShutdownSendsWhatItCan(t *testing.T) {
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	slow := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		limit   time.Duration // of the context
		takes   time.Duration // at most
		sent    int64
	}{
		"all":                    {slow, time.Minute, 4 * time.Second, 500},
		"what there is time for": {slow, 1020 * time.Millisecond, 1020 * time.Millisecond, 160},
		"none if it hangs":       {hang, time.Minute, drainTimeout, 0},
		"none if it is down":     {status(500), time.Minute, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			receive(t, test.handler, func(t *testing.T, r *receiver) {
				r.add(ids...)
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				began := time.Now()
				r.sender.Shutdown(ctx)
				if took := time.Since(began); took > test.takes {
					t.Errorf("it takes %v", took)
				}
				st := r.sender.Stats()
				if st.Sent != test.sent || st.Queued != len(ids)-int(test.sent) {
					t.Errorf("the statistics are %+v", st)
				}
				if lost := fmt.Sprintf("count=%d\n", st.Queued); st.Queued > 0 != strings.Contains(r.log.String(), lost) {
					t.Errorf("the log is %s", r.log.String())
				}
			})
		})
	}
}

func TestNothingIsTriedAgainAfterShutdown(t *testing.T) {
	receive(t, status(500), func(t *testing.T, r *receiver) {
		r.add("msg_1")
		pass(time.Second)
		r.sender.Shutdown(t.Context())
		pass(24 * time.Hour)
		if n := len(r.sender.queue); n != 0 {
			t.Errorf("%d messages come back after the sender was shut down", n)
		}
	})
}

// What a mail says is in the payload as in the answers of the API.
func TestPayload(t *testing.T) {
	receive(t, ok, func(t *testing.T, r *receiver) {
		at := time.Date(2026, 3, 1, 10, 30, 0, 5e6, time.FixedZone("", 3600))
		r.sender.Add(service.Arrival{KeyID: "key_1", InboxID: "inbox_1", To: "ada@one.test", Summary: service.Summary{
			ID: "msg_1", From: "a@b.example", FromName: "A\x00\x1b[31m", Subject: "<b>\xff\u202e", ReceivedAt: at, Size: 12}})
		synctest.Wait()
		want := `{"type":"message.received","timestamp":"2026-03-01T09:30:00.005Z","data":{"key_id":"key_1","inbox_id":"inbox_1","to":"ada@one.test",` +
			`"message":{"id":"msg_1","from":"a@b.example","from_name":"A\u0000\u001b[31m","subject":"\u003cb\u003e\ufffd` + "\u202e" + `","received_at":"2026-03-01T09:30:00.005Z","size":12}}}`
		if got := r.bodies[0]; got != want {
			t.Errorf("the payload is %s", got)
		}
		doc, err := openapi3.NewLoader().LoadFromData(assets.OpenAPI)
		must(t, err)
		var payload map[string]any
		must(t, json.Unmarshal([]byte(r.bodies[0]), &payload))
		if err := doc.Components.Schemas["MessageReceived"].Value.VisitJSON(payload, openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("the payload is not as described: %v", err)
		}
		if h := r.requests[0].Header; r.requests[0].Method != "POST" || h.Get("Content-Type") != "application/json" || h.Get("webhook-id") != "msg_1" || len(h["Idempotency-Key"]) != 0 {
			t.Errorf("the request has %v", h)
		}
	})
}
