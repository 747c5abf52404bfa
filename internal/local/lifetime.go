package local

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// controlPath is where the admin socket serves what the handler of [lifetime] does.
const controlPath = "/control/"

// lifetime decides when the service ends: some time after its last client has left, unless it is
// kept, or when it is asked to.
type lifetime struct {
	linger time.Duration
	ended  chan struct{} // closed when the service has to end

	mu     sync.Mutex
	state  State
	left   time.Time // when the last client left, or when the service started
	timer  *time.Timer
	reason string // why it ended, for the log
}

func newLifetime(linger time.Duration, s State) *lifetime {
	l := &lifetime{linger: linger, state: s, ended: make(chan struct{}), left: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The process that started it has more time to attach, since the machine may be busy.
	l.timer = time.AfterFunc(max(linger, DefaultLinger), l.expire)
	return l
}

// handler answers clients with the state.
func (l *lifetime) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+controlPath+"attach", l.serve)
	mux.HandleFunc("POST "+controlPath+"state", func(w http.ResponseWriter, _ *http.Request) { l.answer(w) })
	mux.HandleFunc("POST "+controlPath+"stop", func(w http.ResponseWriter, _ *http.Request) {
		l.stop()
		l.answer(w)
	})
	return mux
}

// serve serves a client until it leaves or the service ends. It answers with the state, and again
// when the service ends.
func (l *lifetime) serve(w http.ResponseWriter, r *http.Request) {
	if !l.attach(r.FormValue("keep") == "true") {
		w.WriteHeader(http.StatusConflict)
		return
	}
	defer l.detach()
	l.answer(w)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-l.ended:
		l.answer(w)
	case <-r.Context().Done():
	}
}

func (l *lifetime) answer(w http.ResponseWriter) {
	l.mu.Lock()
	s := l.state
	l.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s) // it fails when the client has left
}

// attach counts a client, unless the service is about to end. With keep, the service runs until it
// is asked to end.
func (l *lifetime) attach(keep bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason != "" {
		return false
	}
	l.state.Clients++
	l.state.Kept = l.state.Kept || keep
	return true
}

func (l *lifetime) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Clients--; l.state.Clients == 0 {
		l.left = time.Now()
		l.timer.Reset(l.linger)
	}
}

// expire ends the service if it has had no client for long enough.
func (l *lifetime) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Clients == 0 && !l.state.Kept && time.Since(l.left) >= l.linger {
		l.end("no client is left")
	}
}

// interrupt ends the service of a process that has to end.
func (l *lifetime) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end("its process was interrupted")
}

// stop ends the service, even if it has clients.
func (l *lifetime) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Stopped = true
	l.end("it was asked to")
}

func (l *lifetime) end(reason string) {
	if l.reason == "" {
		l.reason = reason
		l.timer.Stop()
		close(l.ended)
	}
}
