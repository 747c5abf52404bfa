package rest

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

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
	// keyShares is how many keys can use their whole share of the memory at once.
	keyShares = 4
)

// largeAnswers bounds the memory for large answers, for each key and in all. A key with slow readers
// thus delays only its own answers.
type largeAnswers struct {
	all *semaphore.Weighted
	own int64 // bytes of a key

	mu    sync.Mutex
	byKey map[string]*keyAnswers // of keys with requests
}

type keyAnswers struct {
	memory   *semaphore.Weighted
	requests int
}

func newLargeAnswers(limit int64) *largeAnswers {
	return &largeAnswers{all: semaphore.NewWeighted(limit), own: max(1, limit/keyShares), byKey: map[string]*keyAnswers{}}
}

// acquire waits until an answer for the key may use n bytes, and returns what frees them.
func (l *largeAnswers) acquire(ctx context.Context, keyID string, n int64) (release func(), err error) {
	n = min(n, l.own)
	own := l.enter(keyID)
	if err := own.memory.Acquire(ctx, n); err != nil {
		l.leave(keyID)
		return nil, err
	}
	if err := l.all.Acquire(ctx, n); err != nil {
		own.memory.Release(n)
		l.leave(keyID)
		return nil, err
	}
	return func() {
		l.all.Release(n)
		own.memory.Release(n)
		l.leave(keyID)
	}, nil
}

func (l *largeAnswers) enter(keyID string) *keyAnswers {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byKey[keyID]
	if own == nil {
		own = &keyAnswers{memory: semaphore.NewWeighted(l.own)}
		l.byKey[keyID] = own
	}
	own.requests++
	return own
}

func (l *largeAnswers) leave(keyID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.byKey[keyID]
	if own.requests--; own.requests == 0 {
		delete(l.byKey, keyID)
	}
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
