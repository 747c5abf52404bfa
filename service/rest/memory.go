package rest

import (
	"context"
	"errors"
	"time"

	"mayfly/service"
)

const (
	// smallAnswer is what an answer may take without being counted: mostly it is in the socket's buffer at once, so
	// that a slow reader holds none of it here.
	smallAnswer = 1 << 20
	// parseCost is how much memory a message takes, in multiples of its size, from the store to the answer: raw,
	// decoded, and converted to UTF-8.
	parseCost = 3
	// patience is how long a request waits for memory.
	patience = 10 * time.Second
)

// reserve waits until so many bytes may be used, by large answers together, and gives them back by the function that
// it returns. A slow reader of large answers so delays other large answers, for as long as a write may take, and
// nothing else.
func (s *Server) reserve(ctx context.Context, n int64) (free func(), err error) {
	if n <= smallAnswer {
		return func() {}, nil
	}
	n = min(n, s.options.LargeBytes)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.large.Acquire(ctx, n); err != nil {
		return nil, &service.Error{Code: service.Unavailable, Message: "Too many large messages are being read", Err: errors.New("no memory left for large answers")}
	}
	return func() { s.large.Release(n) }, nil
}
