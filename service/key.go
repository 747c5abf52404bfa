package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Key is an API key without its secret.
type Key struct {
	ID        string    `json:"id"`   // "key_…", which rotating the secret does not change
	Name      string    `json:"name"` // the operator's, may be empty
	Plan      Plan      `json:"plan"`
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"` // zero while the key is valid
	UsedAt    time.Time `json:"used_at,omitzero"`    // about when it was last used, zero if never; only [Service.Keys] has it
}

const secretPrefix = "mf_"

// minSecret and maxSecret bound the length of a secret that an operator chooses, in characters.
const minSecret, maxSecret = 32, 256

// newSecret returns a secret with 192 random bits.
func newSecret() string {
	var b [24]byte
	rand.Read(b[:])
	return secretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// errKey does not say what is wrong with a key. Its text is the contract's.
func errKey() error { return Errorf(Unauthorized, "Invalid API key") }

// Authenticate returns the key with the secret, or an error of code Unauthorized if there is none
// or it is revoked. It compares hashes of high-entropy secrets, so that the time it takes reveals
// nothing about a secret.
func (s *Service) Authenticate(ctx context.Context, secret string) (Key, error) {
	k, err := s.KeyOf(ctx, secret)
	if ErrorCode(err) == NotFound || err == nil && !k.RevokedAt.IsZero() {
		return Key{}, errKey()
	}
	if err == nil && s.shared == nil { // processes that share a store see it in the requests they count
		s.used.Store(k.ID, s.now())
	}
	return k, err
}

// saveUsed saves when keys were used since the last time.
func (s *Service) saveUsed(ctx context.Context) {
	s.used.Range(func(id, at any) bool {
		if _, err := s.store.UpdateKey(ctx, id.(string), func(k *StoredKey) { k.UsedAt = at.(time.Time) }); err != nil {
			s.log.Warn("the last use of a key could not be saved", "error", err)
			return false
		}
		s.used.CompareAndDelete(id, at)
		return true
	})
}

// KeyOf returns the key with the secret, which may be revoked, or NotFound.
func (s *Service) KeyOf(ctx context.Context, secret string) (Key, error) {
	notFound := Errorf(NotFound, "no API key has this secret")
	if secret == "" || len(secret) > maxSecret {
		return Key{}, notFound
	}
	hash := sha256.Sum256([]byte(secret))
	k, err := s.store.KeyByHash(ctx, hash)
	if ErrorCode(err) == NotFound || err == nil && subtle.ConstantTimeCompare(k.Hash[:], hash[:]) != 1 && !s.now().Before(k.OldUntil) {
		return Key{}, notFound
	}
	k.UsedAt = time.Time{}
	return k.Key, err
}

// Allow counts a request of the key and returns the quota that is left, also with RateLimited. An
// unlimited key has none. Forbidden: the plan has no access. RateLimited: the request was not counted,
// and can be made again after RetryAfter.
func (s *Service) Allow(ctx context.Context, k Key) (Quota, error) {
	if k.ID == s.options.Unlimited {
		return Quota{}, nil
	}
	limit := k.Plan.Limits().RequestsPerMinute
	if limit == 0 {
		return Quota{}, Errorf(Forbidden, "The plan %q has no API access", k.Plan)
	}
	q, ok, err := s.limiter.Take(ctx, k.ID, limit)
	if err != nil {
		return Quota{}, err
	}
	if !ok {
		return q, &Error{Code: RateLimited, Message: "Rate limit exceeded", RetryAfter: q.Reset}
	}
	return q, nil
}

// CreateKey creates a key and returns its secret, of which only a hash is stored.
func (s *Service) CreateKey(ctx context.Context, name string, plan Plan) (secret string, k Key, err error) {
	secret = newSecret()
	if k, err = s.EnsureKey(ctx, secret, name, plan); err != nil {
		return "", Key{}, err
	}
	return secret, k, nil
}

// EnsureKey returns the key with the secret, and creates it if there is none. One that exists keeps
// its name. Invalid: the secret does not pass [CheckSecret]. Taken: the key has another plan or is
// revoked.
func (s *Service) EnsureKey(ctx context.Context, secret, name string, plan Plan) (Key, error) {
	if _, err := ParsePlan(string(plan)); err != nil {
		return Key{}, err
	}
	name, err := keyName(name)
	if err != nil {
		return Key{}, err
	}
	if err := CheckSecret(secret); err != nil {
		return Key{}, err
	}
	k := Key{ID: newKeyID(), Name: name, Plan: plan, CreatedAt: s.now()}
	err = s.store.CreateKey(ctx, StoredKey{Key: k, Hash: sha256.Sum256([]byte(secret))})
	if ErrorCode(err) != Taken {
		return k, err
	}
	k, err = s.KeyOf(ctx, secret)
	switch {
	case ErrorCode(err) == NotFound:
		return Key{}, Errorf(Taken, "a key had this secret before: choose another secret")
	case err != nil:
		return Key{}, err
	case !k.RevokedAt.IsZero():
		return Key{}, Errorf(Taken, "the key with this secret, %s, was revoked: choose another secret", k.ID)
	case k.Plan != plan:
		return Key{}, Errorf(Taken, "the key with this secret, %s, has the plan %s: `mayfly admin key plan %s %s` changes it", k.ID, k.Plan, k.ID, plan)
	}
	return k, nil
}

// CheckSecret returns an error of code Invalid, which does not contain the secret, unless it has 32
// to 256 characters of printable ASCII, none of them a space.
func CheckSecret(secret string) error {
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Errorf(Invalid, "a key's secret is one word of ASCII characters, without spaces or line breaks")
	}
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Errorf(Invalid, "a key's secret has %d to %d characters, but this one has %d", minSecret, maxSecret, len(secret))
	}
	return nil
}

func keyName(name string) (string, error) {
	name = strings.ToValidUTF8(strings.TrimSpace(name), "\ufffd")
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", Errorf(Invalid, "a key's name has at most 100 bytes and no control characters")
	}
	return name, nil
}

// Keys returns all keys, oldest first, including revoked ones.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	stored, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(stored))
	for i, k := range stored {
		keys[i] = k.Key
		if at, ok := s.used.Load(k.ID); ok {
			keys[i].UsedAt = at.(time.Time)
		}
	}
	return keys, nil
}

// Usage is how much of its plan a key uses.
type Usage struct {
	Key
	Inboxes, EmailsToday int
}

// Usage returns what each key uses, except for those that were revoked.
func (s *Service) Usage(ctx context.Context) (all []Usage, err error) {
	keys, err := s.store.Keys(ctx)
	now := s.now()
	for _, k := range keys {
		if !k.RevokedAt.IsZero() {
			continue
		}
		u := Usage{Key: k.Key}
		if _, u.Inboxes, err = s.store.Inboxes(ctx, PageOfInboxes{KeyID: k.ID, CreatedAt: now.AddDate(1, 0, 0), Limit: 1}); err != nil {
			return nil, err
		}
		if u.EmailsToday, err = s.store.EmailsToday(ctx, k.ID, DayOf(now)); err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, err
}

// Key returns a key by its ID, or NotFound.
func (s *Service) Key(ctx context.Context, id string) (Key, error) {
	k, err := s.store.Key(ctx, id)
	return k.Key, err
}

// RevokeKey revokes a key for good: its secret is refused, as is mail to its inboxes.
func (s *Service) RevokeKey(ctx context.Context, id string) (Key, error) {
	now := s.now()
	k, err := s.store.UpdateKey(ctx, id, func(k *StoredKey) {
		if k.RevokedAt.IsZero() {
			k.RevokedAt = now
		}
	})
	return k.Key, err
}

// RotateKey replaces a key's secret and returns the new one, of which only a hash is stored. The
// old one works for as long as keepOld says, and one before that no more. The key keeps its inboxes.
func (s *Service) RotateKey(ctx context.Context, id string, keepOld time.Duration) (secret string, k Key, err error) {
	secret = newSecret()
	hash, now := sha256.Sum256([]byte(secret)), s.now()
	stored, err := s.store.UpdateKey(ctx, id, func(k *StoredKey) {
		if !k.RevokedAt.IsZero() {
			return
		}
		old := k.Hash
		k.Hash, k.OldHash, k.OldUntil = hash, [32]byte{}, time.Time{}
		if keepOld > 0 {
			k.OldHash, k.OldUntil = old, now.Add(keepOld)
		}
	})
	if err == nil && !stored.RevokedAt.IsZero() {
		err = Errorf(Invalid, "the key %s is revoked", id)
	}
	if err != nil {
		return "", Key{}, err
	}
	return secret, stored.Key, nil
}

// SetPlan changes a key's plan, with effect from the next request and the next message.
func (s *Service) SetPlan(ctx context.Context, id string, plan Plan) (Key, error) {
	if _, err := ParsePlan(string(plan)); err != nil {
		return Key{}, err
	}
	k, err := s.store.UpdateKey(ctx, id, func(k *StoredKey) { k.Plan = plan })
	return k.Key, err
}

// Plan is the set of limits that a key has.
type Plan string

const (
	Free       Plan = "free" // no access
	Dev        Plan = "dev"
	Startup    Plan = "startup"
	Enterprise Plan = "enterprise"
)

// Plans returns all plans, smallest first.
func Plans() []Plan { return []Plan{Free, Dev, Startup, Enterprise} }

// Limits are the limits of a plan. They are zero for Free and for an unknown plan.
type Limits struct {
	RequestsPerMinute int           // in any 60 seconds
	EmailsPerDay      int           // messages accepted in a UTC day
	MaxTTL            time.Duration // of an inbox
}

// Limits returns the limits of the plan.
func (p Plan) Limits() Limits {
	switch p {
	case Dev:
		return Limits{60, 1_000, 24 * time.Hour}
	case Startup:
		return Limits{300, 10_000, 7 * 24 * time.Hour}
	case Enterprise:
		return Limits{1_000, 100_000, 30 * 24 * time.Hour}
	}
	return Limits{}
}

// ParsePlan returns the plan with the name, or an error of code Invalid.
func ParsePlan(name string) (Plan, error) {
	if slices.Contains(Plans(), Plan(name)) {
		return Plan(name), nil
	}
	return "", Errorf(Invalid, "unknown plan %q: want free, dev, startup or enterprise", name)
}

// Quota is what is left of a key's rate limit.
type Quota struct {
	Limit     int           // requests allowed in any 60 seconds
	Remaining int           // requests allowed now
	Reset     time.Duration // until one more is allowed; 0 if none was made
}

// limitWindow is the period of the rate limit: no period of this length sees more requests.
const limitWindow = time.Minute

// Limiter is a rate limiter for each key.
type Limiter interface {
	// Take counts a request of the key, or returns false if it made limit requests in the last
	// minute. With an error it is unknown whether it is counted.
	Take(ctx context.Context, keyID string, limit int) (Quota, bool, error)
}

// localLimiter is the limiter of a process that has the store to itself. It is a sliding-window
// log: it keeps the times of each key's requests of the last minute, 8 bytes each. Nothing cheaper
// can promise that no 60 seconds, whenever they start, see more than the limit; a token bucket
// would allow twice the limit in a minute that starts with a full bucket. It uses the elapsed time,
// so that setting the clock makes no difference.
type localLimiter struct {
	start     time.Time
	mu        sync.Mutex
	keys      map[string][]time.Duration // since start, ascending
	forgotten time.Duration              // when keys without requests were dropped
}

func newLocalLimiter() *localLimiter {
	return &localLimiter{start: time.Now(), keys: make(map[string][]time.Duration)}
}

// Take implements Limiter.
func (l *localLimiter) Take(_ context.Context, keyID string, limit int) (Quota, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start)
	if now-l.forgotten >= limitWindow {
		l.forgotten = now
		maps.DeleteFunc(l.keys, func(_ string, made []time.Duration) bool { return len(recent(made, now)) == 0 })
	}
	made := recent(l.keys[keyID], now)
	ok := len(made) < limit
	if ok {
		made = append(made, now)
	}
	l.keys[keyID] = made
	// One more is allowed when enough have left the window.
	next := made[max(0, len(made)-limit)]
	return Quota{Limit: limit, Remaining: max(0, limit-len(made)), Reset: next + limitWindow - now}, ok, nil
}

// recent drops what has left the window. The front of the array is freed when append copies the
// rest.
func recent(made []time.Duration, now time.Duration) []time.Duration {
	n := 0
	for n < len(made) && now-made[n] >= limitWindow {
		n++
	}
	return made[n:]
}
