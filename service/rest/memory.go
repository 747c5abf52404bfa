package rest

import (
	"context"
	"errors"
	"sync"
	"time"

	"mayfly/service"
)

const (
	// smallAnswer is the number of bytes up to which an answer is not counted. Most of it goes
	// straight into the socket's buffer, so that a slow reader ties up little memory here.
	smallAnswer = 1 << 20
	// parseCost is how much memory a message takes on its way from the store to the answer, in
	// multiples of its size: raw, decoded, and converted to UTF-8.
	parseCost = 3
	// reserveTimeout is how long a request waits for memory.
	reserveTimeout = 10 * time.Second
)

// largeAnswers bounds the memory for large answers. No key gets more than it leaves free. So a key
// with slow readers delays only its own answers, and several of them only the largest of others.
type largeAnswers struct {
	limit int64 // bytes in all

	mu    sync.Mutex
	used  int64
	byKey map[string]int64 // bytes that keys use
	freed chan struct{}    // closed when some are freed
}

func newLargeAnswers(limit int64) *largeAnswers {
	return &largeAnswers{limit: limit, byKey: make(map[string]int64), freed: make(chan struct{})}
}

// acquire waits until an answer for the key may use n bytes, and returns what frees them.
func (l *largeAnswers) acquire(ctx context.Context, keyID string, n int64) (release func(), err error) {
	n = min(n, l.limit/2)
	for {
		freed := l.take(keyID, n)
		if freed == nil {
			return func() { l.free(keyID, n) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns nil if the key now uses n bytes more, or else a channel to wait for.
func (l *largeAnswers) take(keyID string, n int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey[keyID]+n > l.limit-l.used-n {
		return l.freed
	}
	l.used += n
	l.byKey[keyID] += n
	return nil
}

func (l *largeAnswers) free(keyID string, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= n
	if l.byKey[keyID] -= n; l.byKey[keyID] == 0 {
		delete(l.byKey, keyID)
	}
	close(l.freed)
	l.freed = make(chan struct{})
}

// reserve waits until an answer of n bytes for the key may be made. The caller releases it.
func (s *Server) reserve(ctx context.Context, keyID string, n int64) (release func(), err error) {
	if n <= smallAnswer {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	if release, err = s.large.acquire(ctx, keyID, n); err != nil {
		return nil, &service.Error{Code: service.Unavailable, Message: "Too many large messages are being read", Err: errors.New("no memory left for large answers")}
	}
	return release, nil
}
