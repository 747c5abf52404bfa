package postgres

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

const keyColumns = "id, hash, name, plan, created_at, revoked_at, old_hash, old_until"

// CreateKey implements service.Store.
func (s *Store) CreateKey(ctx context.Context, k service.StoredKey) error {
	if !isName(k.ID) {
		return service.Errorf(service.Invalid, "not a key's ID")
	}
	return s.changeKey(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, "SELECT count(*) FROM keys WHERE old_hash = $1", k.Hash[:]) // the rows have its error
		old, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		if err != nil {
			return err
		}
		done, err := tx.Exec(ctx, "INSERT INTO keys (id, hash, name, plan, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hash) DO NOTHING",
			k.ID, k.Hash[:], text(k.Name), string(k.Plan), k.CreatedAt, orNull(k.RevokedAt))
		if err == nil && (old > 0 || done.RowsAffected() == 0) {
			err = service.ErrHashTaken
		}
		return err
	})
}

// UpdateKey implements service.Store.
func (s *Store) UpdateKey(ctx context.Context, id string, change func(*service.StoredKey)) (service.StoredKey, error) {
	var k service.StoredKey
	if !isName(id) {
		return k, service.ErrNotFound
	}
	err := s.changeKey(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, "SELECT "+keyColumns+" FROM keys WHERE id = $1 FOR UPDATE", id) // the rows have its error
		var err error
		if k, err = pgx.CollectExactlyOneRow(rows, scanKey); err != nil {
			return err
		}
		change(&k)
		var oldHash []byte
		if k.OldHash != [32]byte{} {
			oldHash = k.OldHash[:]
		}
		_, err = tx.Exec(ctx, "UPDATE keys SET hash = $2, name = $3, plan = $4, revoked_at = $5, old_hash = $6, old_until = $7 WHERE id = $1",
			id, k.Hash[:], text(k.Name), string(k.Plan), orNull(k.RevokedAt), oldHash, orNull(k.OldUntil))
		return err
	})
	return k, err
}

// downServer finds the server that another one could not reach, in what that one says.
var downServer = regexp.MustCompile(`connection (?:to the remote node|marked as essential:) (?:\S*@)?(\S+:\d+)`)

// changeKey runs a transaction that creates or changes a key. On a cluster its error says which server is down.
func (s *Store) changeKey(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	end, err := s.turn(ctx, "keys") // so that callers wait here, and not in the database, where a lock's time is short
	if err != nil {
		return err
	}
	defer end()
	err = s.transact(ctx, s.pool, do)
	if cause, ok := errors.AsType[*pgconn.PgError](err); ok && s.citus {
		if down := downServer.FindStringSubmatch(cause.Message); down != nil {
			return &service.Error{Code: service.Unavailable, RetryAfter: retryAfter,
				Message: "The server " + down[1] + " of the cluster does not answer. API keys are on every server: none can be created or changed until it is back"}
		}
	}
	return err
}

// Key implements service.Store.
func (s *Store) Key(ctx context.Context, id string) (service.StoredKey, error) {
	if !isName(id) {
		return service.StoredKey{}, service.ErrNotFound
	}
	return s.keys.get(ctx, id)
}

// KeyByHash implements service.Store.
func (s *Store) KeyByHash(ctx context.Context, hash [32]byte) (service.StoredKey, error) {
	k, err := s.hashes.get(ctx, hash)
	return k.StoredKey, err
}

// Keys implements service.Store.
func (s *Store) Keys(ctx context.Context) ([]service.StoredKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	keys, err := query(ctx, s.pool, scanKey, "SELECT "+keyColumns+" FROM keys ORDER BY created_at, id")
	if err != nil {
		return nil, s.failure(ctx, s.pool, err)
	}
	// A cluster does not join what every server has with what each has a part of.
	rows, _ := s.pool.Query(ctx, "SELECT key_id, second FROM requests") // the rows have its error
	var id string
	var second int64
	used := make(map[string]time.Time)
	_, err = pgx.ForEachRow(rows, []any{&id, &second}, func() error {
		used[id] = time.Unix(second, 0).UTC()
		return nil
	})
	for i := range keys {
		keys[i].UsedAt = used[keys[i].ID]
	}
	if err = s.failure(ctx, s.pool, err); s.citus && service.ErrorCode(err) == service.Unavailable {
		return keys, nil // a server with keys does not answer: when they were used is not known now
	}
	return keys, err
}

func (s *Store) readKeys(ctx context.Context, pool *pgxpool.Pool, ids []string) ([]service.StoredKey, error) {
	return query(ctx, pool, scanKey, "SELECT "+keyColumns+" FROM keys WHERE id = ANY($1)", ids)
}

// hashedKey is a key by one of its hashes.
type hashedKey struct {
	hash [32]byte
	service.StoredKey
}

func (s *Store) readHashes(ctx context.Context, pool *pgxpool.Pool, hashes [][32]byte) ([]hashedKey, error) {
	list := make([][]byte, len(hashes))
	for i := range hashes {
		list[i] = hashes[i][:]
	}
	keys, err := query(ctx, pool, scanKey, "SELECT "+keyColumns+" FROM keys WHERE hash = ANY($1) OR old_hash = ANY($1)", list)
	var found []hashedKey
	for _, k := range keys {
		found = append(found, hashedKey{k.Hash, k}, hashedKey{k.OldHash, k})
	}
	return found, err
}

func scanKey(row pgx.CollectableRow) (service.StoredKey, error) {
	var k service.StoredKey
	var hash []byte
	var plan string
	var revoked, oldUntil *time.Time
	var oldHash []byte
	if err := row.Scan(&k.ID, &hash, &k.Name, &plan, &k.CreatedAt, &revoked, &oldHash, &oldUntil); err != nil {
		return k, err
	}
	if len(hash) != len(k.Hash) {
		return k, errors.New("the hash of a key has the wrong length")
	}
	k.Hash, k.Plan, k.CreatedAt = [32]byte(hash), service.Plan(plan), k.CreatedAt.UTC()
	if revoked != nil {
		k.RevokedAt = revoked.UTC()
	}
	if len(oldHash) == len(k.OldHash) && oldUntil != nil {
		k.OldHash, k.OldUntil = [32]byte(oldHash), oldUntil.UTC()
	}
	return k, nil
}

// orNull returns a time, or nil for the zero time.
func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// owner is what each delivery changes of a key.
type owner struct {
	keyID   string
	inboxes int
	service.Emails
}

const ownerColumns = "key_id, inboxes, day, emails, day_before, emails_before"

// owner returns a key's owner, which is zero for a key that never had an inbox.
func (s *Store) owner(ctx context.Context, keyID string) (owner, error) {
	if !isName(keyID) {
		return owner{}, nil
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return owner{}, err
	}
	o, err := v.owners.get(ctx, keyID)
	if service.ErrorCode(err) == service.NotFound {
		return owner{}, nil
	}
	return o, err
}

func (s *Store) readOwners(ctx context.Context, pool *pgxpool.Pool, keyIDs []string) ([]owner, error) {
	return each(ctx, pool, keyIDs, scanOwner, func(b *pgx.Batch, keyID string) *pgx.QueuedQuery {
		return b.Queue("SELECT "+ownerColumns+" FROM owners WHERE "+newestOwner, keyID)
	})
}

func scanOwner(row pgx.CollectableRow) (owner, error) {
	var o owner
	err := row.Scan(&o.keyID, &o.inboxes, (*int32)(&o.Day), &o.Count, (*int32)(&o.DayBefore), &o.Before)
	return o, err
}

// EmailsToday implements service.Store. It knows what other processes append only when this one appends again.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	if o, ok := s.counts.get(keyID); ok && o.Day >= day {
		return o.On(day), nil
	}
	o, err := s.owner(ctx, keyID)
	return o.On(day), err
}

// request is a request to be counted, and then the answer.
type request struct {
	keyID string
	quota service.Quota // of which the limit is given
	ok    bool
}

// refusal is what a key that is over its limit was told. Until then it is refused without asking.
type refusal struct {
	limit int
	until time.Time
}

// newCounter returns what counts requests, in transactions that begin with what begin queues.
func (s *Store) newCounter(pool *pgxpool.Pool, begin func(*pgx.Batch)) *loader[*request, *request] {
	count := func(ctx context.Context, pool *pgxpool.Pool, list []*request) ([]*request, error) {
		return list, s.countRequests(ctx, pool, list, begin)
	}
	return newLoader(s, pool, count, func(r *request) *request { return r })
}

// Take implements service.Limiter. Requests that arrive while a transaction counts others are
// counted together by the next. Those of a key whose row stays locked wait apart.
func (s *Store) Take(ctx context.Context, keyID string, limit int) (service.Quota, bool, error) {
	begun := time.Now()
	if r, _ := s.refusals.get(keyID); limit <= r.limit && begun.Before(r.until) {
		return service.Quota{Limit: limit, Reset: r.until.Sub(begun)}, false, nil
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return service.Quota{}, false, err
	}
	asked := &request{keyID: keyID, quota: service.Quota{Limit: limit}}
	counter := v.requests
	if alone, ok := v.locked.Load(keyID); ok {
		counter = alone.(*loader[*request, *request])
	}
	r, err := counter.get(ctx, asked)
	if counter == v.requests && sqlState(err) == stateLocked {
		alone, _ := v.locked.LoadOrStore(keyID, s.newCounter(v.pool, func(*pgx.Batch) {}))
		r, err = alone.(*loader[*request, *request]).get(ctx, asked)
	}
	if err != nil {
		return service.Quota{}, false, err
	}
	v.locked.Delete(keyID)
	if !r.ok {
		s.refusals.put(keyID, refusal{r.quota.Limit, begun.Add(r.quota.Reset)})
	}
	return r.quota, r.ok, nil
}

// The requests of a key are counted up to its limit. Its row has the total at the end of each of the
// last 61 seconds, so that a request counts for 60 to 61 seconds. If the clock is set back, the last
// second goes on until the clock has reached it again or, if that takes more than a minute, is the present one.
const addRequests = `INSERT INTO requests AS r (key_id, total, allowed) VALUES ($1, $2, $3) ON CONFLICT (key_id) DO UPDATE SET
			second = CASE WHEN EXCLUDED.second < r.second - 60 THEN EXCLUDED.second ELSE greatest(r.second, EXCLUDED.second) END,
			before = r.total,
			total = r.total + greatest(0, least(EXCLUDED.total,
				EXCLUDED.allowed - r.total + coalesce(r.totals[1 + greatest(0, EXCLUDED.second - r.second)], r.total))),
			totals = r.totals[1 + greatest(0, EXCLUDED.second - r.second):]
				|| array_fill(r.total, ARRAY[least(61, greatest(0, EXCLUDED.second - r.second))]),
			allowed = EXCLUDED.allowed
		RETURNING total - before, total - totals[1], width_bucket(totals[1], totals)`

// countRequests counts the requests that are allowed, in one transaction, which locks the rows of
// keys in the order of their IDs. It does not wait for the disk: losing the last requests in a crash
// does little harm.
func (s *Store) countRequests(ctx context.Context, pool *pgxpool.Pool, list []*request, begin func(*pgx.Batch)) error {
	byKey := make(map[string][]*request)
	for _, r := range list {
		byKey[r.keyID] = append(byKey[r.keyID], r)
	}
	return s.changeOn(ctx, pool, func(b *pgx.Batch) {
		b.Queue("SET LOCAL synchronous_commit = off")
		begin(b)
		for _, keyID := range slices.Sorted(maps.Keys(byKey)) {
			asking := byKey[keyID]
			limit := slices.MinFunc(asking, func(a, b *request) int { return a.quota.Limit - b.quota.Limit }).quota.Limit
			b.Queue(addRequests, keyID, min(len(asking), limit), limit).QueryRow(func(row pgx.Row) error {
				var taken, used, reset int // reset is after how many seconds the first of them counts no more
				err := row.Scan(&taken, &used, &reset)
				for i, r := range asking {
					r.ok = i < taken
					r.quota = service.Quota{Limit: limit, Remaining: max(0, limit-used+max(0, taken-1-i)), Reset: time.Duration(reset) * time.Second}
				}
				return err
			})
		}
	}, nil)
}
