package limits

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mayfly/service"
)

const (
	maxGuessers = 64 << 10 // addresses that are remembered
	maxRight    = 64       // right secrets of an address that are remembered
)

// Guesses counts the wrong guesses of each address. The zero value is not usable, a nil pointer sets
// no bound. It is safe for concurrent use.
type Guesses struct {
	perMinute int
	log       *slog.Logger
	what      string // is guessed
	logged    rate.Sometimes
	mu        sync.Mutex
	guessers  map[netip.Prefix]*guesser // that have guessed wrong in the last minutes
}

// guesser is an address that has guessed wrong.
type guesser struct {
	left  *rate.Limiter // a token for each wrong guess that it may make now
	right map[[sha256.Size]byte]bool
}

// NewGuesses returns a counter that allows each address so many wrong guesses a minute, or nil for 0.
// It logs when they are exceeded, at most once a minute, and what was guessed.
func NewGuesses(perMinute int, log *slog.Logger, what string) *Guesses {
	if perMinute <= 0 {
		return nil
	}
	return &Guesses{
		perMinute: perMinute, guessers: make(map[netip.Prefix]*guesser),
		log: log, what: what, logged: rate.Sometimes{Interval: time.Minute},
	}
}

// Exceeded reports whether an address has made too many wrong guesses to be told whether another one
// is right. A secret that was right from this address, after a wrong one, is not a guess.
func (g *Guesses) Exceeded(p netip.Prefix, secret string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.guessers[p]
	if who == nil {
		return false
	}
	if who.left.Tokens() >= 1 || who.right[sha256.Sum256([]byte(secret))] {
		return false
	}
	g.logged.Do(func() {
		g.log.Warn("too many wrong guesses from an address, others are refused too: if it is a load balancer or many users, see --balancers and --max-guesses",
			"of", g.what, "address", p.Addr())
	})
	return true
}

// ErrGuesses is what an address gets for any key after too many wrong ones.
var ErrGuesses error = &service.Error{Code: service.RateLimited, Message: "Too many wrong keys from your address", RetryAfter: time.Second}

// Authenticate returns the API key with a secret that an address has sent, as service.Authenticate
// does, or ErrGuesses if its guesses are exceeded.
func (g *Guesses) Authenticate(ctx context.Context, svc interface {
	Authenticate(ctx context.Context, secret string) (service.Key, error)
}, p netip.Prefix, secret string) (service.Key, error) {
	if g.Exceeded(p, secret) {
		return service.Key{}, ErrGuesses
	}
	key, err := svc.Authenticate(ctx, secret)
	switch service.ErrorCode(err) {
	case "":
		g.RecordSuccess(p, secret)
	case service.Unauthorized:
		g.RecordFailure(p)
	}
	return key, err
}

// RecordFailure counts a wrong guess of an address.
func (g *Guesses) RecordFailure(p netip.Prefix) {
	if g == nil || !p.IsValid() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.guessers[p]
	if who == nil {
		if len(g.guessers) >= maxGuessers {
			g.forget()
		}
		who = &guesser{rate.NewLimiter(rate.Limit(g.perMinute)/60, g.perMinute), make(map[[sha256.Size]byte]bool)}
		g.guessers[p] = who
	}
	who.left.Allow()
}

// RecordSuccess remembers a secret of an address that has guessed wrong before.
func (g *Guesses) RecordSuccess(p netip.Prefix, secret string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.guessers[p]
	if who == nil {
		return
	}
	if len(who.right) >= maxRight {
		for other := range who.right {
			delete(who.right, other)
			break
		}
	}
	who.right[sha256.Sum256([]byte(secret))] = true
}

// forget drops the addresses that have not guessed for a while or, if there are none, all of them.
func (g *Guesses) forget() {
	for p, who := range g.guessers {
		if who.left.Tokens() >= float64(g.perMinute) {
			delete(g.guessers, p)
		}
	}
	if len(g.guessers) >= maxGuessers {
		clear(g.guessers)
	}
}
