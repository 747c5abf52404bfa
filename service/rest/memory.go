package rest

import (
	"context"
	"errors"
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

// reserve waits until a large answer may use n bytes of the memory that all of them share. The
// caller releases it. A slow reader of a large answer thus delays nothing but other large answers,
// for as long as a write may take.
func (s *Server) reserve(ctx context.Context, n int64) (release func(), err error) {
	if n <= smallAnswer {
		return func() {}, nil
	}
	n = min(n, s.options.LargeBytes)
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	if err := s.large.Acquire(ctx, n); err != nil {
		return nil, &service.Error{Code: service.Unavailable, Message: "Too many large messages are being read", Err: errors.New("no memory left for large answers")}
	}
	return func() { s.large.Release(n) }, nil
}
