package local

import (
	"sync"
	"time"
)

// lifetime decides when the service ends: some time after its last client has left, unless it is
// kept, or when it is asked to.
type lifetime struct {
	linger time.Duration
	ended  chan struct{} // closed when the service has to end

	mu      sync.Mutex
	clients int
	kept    bool
	left    time.Time // when the last client left, or when the service started
	timer   *time.Timer
	reason  string // why it ended, for the log
	stopped bool   // it was asked to by Stop
}

func newLifetime(linger time.Duration, kept bool) *lifetime {
	l := &lifetime{linger: linger, kept: kept, ended: make(chan struct{}), left: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	// Whoever started it has more time to attach, since the machine may be busy.
	l.timer = time.AfterFunc(max(linger, DefaultLinger), l.expire)
	return l
}

// attach counts a client, unless the service is about to end.
func (l *lifetime) attach() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason != "" {
		return false
	}
	l.clients++
	return true
}

func (l *lifetime) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients--; l.clients == 0 {
		l.left = time.Now()
		l.timer.Reset(l.linger)
	}
}

// keep makes the service run until it is asked to end.
func (l *lifetime) keep() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = true
	return l.reason == ""
}

// expire ends the service if it has had no client for long enough.
func (l *lifetime) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unneeded() && time.Since(l.left) >= l.linger {
		l.end("no client is left")
	}
}

// yield ends the service if nobody needs it.
func (l *lifetime) yield() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unneeded() {
		l.end("it makes room for a newer version")
	}
	return l.reason != ""
}

// interrupt ends the service of a process that has to end.
func (l *lifetime) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end("its process was interrupted")
}

// stop ends the service, whoever needs it.
func (l *lifetime) stop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.end("it was asked to")
	return true
}

func (l *lifetime) unneeded() bool { return l.clients == 0 && !l.kept }

func (l *lifetime) end(reason string) {
	if l.reason == "" {
		l.reason = reason
		l.timer.Stop()
		close(l.ended)
	}
}

// state fills in what is known here.
func (l *lifetime) state(s State) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Clients, s.Kept, s.Stopped = l.clients, l.kept, l.stopped
	return s
}
