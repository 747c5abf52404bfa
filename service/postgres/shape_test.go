package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// recorder records the transactions of a store, without what they COPY.
type recorder struct {
	mu   sync.Mutex
	open map[*pgx.Conn]*transaction
	done []*transaction
}

type transaction struct {
	statements []statement
	explicit   bool // from BEGIN to COMMIT or ROLLBACK
}

type statement struct {
	sql  string
	args []any
}

func newRecorder() *recorder { return &recorder{open: map[*pgx.Conn]*transaction{}} }

func (r *recorder) begin(conn *pgx.Conn) {
	if r.open[conn] == nil {
		r.open[conn] = &transaction{}
	}
}

func (r *recorder) end(conn *pgx.Conn) {
	if t := r.open[conn]; t != nil && !t.explicit {
		r.done = append(r.done, t)
		delete(r.open, conn)
	}
}

func (r *recorder) add(conn *pgx.Conn, sql string, args []any) {
	t := r.open[conn]
	switch first, _, _ := strings.Cut(strings.ToUpper(sql), " "); first {
	case "BEGIN":
		t.explicit = true
	case "COMMIT", "ROLLBACK":
		t.explicit = false
	default:
		t.statements = append(t.statements, statement{sql, args})
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (r *recorder) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(conn)
	r.add(conn, q.SQL, q.Args)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (r *recorder) TraceQueryEnd(_ context.Context, conn *pgx.Conn, _ pgx.TraceQueryEndData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(conn)
}

// TraceBatchStart implements pgx.BatchTracer.
func (r *recorder) TraceBatchStart(ctx context.Context, conn *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(conn)
	for _, q := range b.Batch.QueuedQueries {
		r.add(conn, q.SQL, q.Arguments)
	}
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (r *recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements pgx.BatchTracer.
func (r *recorder) TraceBatchEnd(_ context.Context, conn *pgx.Conn, _ pgx.TraceBatchEndData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(conn)
}

// take returns the transactions since the last call.
func (r *recorder) take() []*transaction {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.done
	r.done = nil
	return list
}

var (
	ofKeys      = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+(owners|inboxes|counts|messages(_[hd][0-9_]+)?|deleted|requests)\b`)
	ofAddresses = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|INTO|UPDATE)\s+addresses\b`)
	changes     = regexp.MustCompile(`(?i)^\s*(INSERT|UPDATE|DELETE)\b`)
	severalRows = regexp.MustCompile(`(?i)\b(ANY\(|JOIN|USING|SELECT|unnest\()`)
	severalKeys = regexp.MustCompile(`(?i)\b(key_id = ANY\(|USING|unnest\(\$1|FOR (NO KEY )?UPDATE)`)
	ofOneKeyRow = regexp.MustCompile(`\bWHERE key_id = \$1|INTO \w+( AS \w+)? \(key_id\b[^)]*\) VALUES \(\$1`)

	// What is distributed by key_id names it in a parameter, or by what it is joined with, or among
	// the columns that it inserts.
	givesKey    = regexp.MustCompile(`\bkey_id = (ANY\()?\$\d`)
	joinsKey    = regexp.MustCompile(`\bkey_id = \w+\.\w+|\w+\.key_id = \w+\.`)
	insertsKey  = regexp.MustCompile(`INTO \w+( AS \w+)? \([^)]*\bkey_id\b`)
	givesValues = regexp.MustCompile(`\) (VALUES \(|SELECT )\$\d`)
	givesAddr   = regexp.MustCompile(`\baddress = (ANY\()?\$\d|INTO addresses( AS \w+)? \(address\b`)
)

// Keys and addresses of the tests that look at statements: those of shard one end in 1.
func testShard(name string) int64 {
	name, _, _ = strings.Cut(name, "@")
	return int64(name[len(name)-1] - '0')
}

func isTestKey(name string) bool { return strings.HasPrefix(name, "key_shard_") }

func isTestAddress(name string) bool { return strings.HasSuffix(name, "@shard.test") }

// shards returns the shards of a statement's arguments that are such names.
func (q statement) shards(is func(string) bool) []int64 {
	var list []int64
	for _, arg := range q.args {
		names, _ := arg.([]string)
		if name, ok := arg.(string); ok {
			names = []string{name}
		}
		for _, name := range names {
			if is(name) {
				list = append(list, testShard(name))
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// fault says what keeps a statement from being one server's, or returns "".
func (q statement) fault() string {
	times := func(r *regexp.Regexp) int { return len(r.FindAllString(q.sql, -1)) }
	keyed, given := times(ofKeys), givesKey.MatchString(q.sql) || insertsKey.MatchString(q.sql) && givesValues.MatchString(q.sql)
	switch named := times(givesKey) + times(joinsKey) + times(insertsKey); {
	case strings.Contains(q.sql, " requests ") && (!changes.MatchString(q.sql) || severalRows.MatchString(q.sql)):
		return "it is not a change of one row, which is safe while its shard is moved"
	case keyed > 0 && (!given || named < keyed):
		return fmt.Sprintf("it reads or changes %d tables that are distributed by key_id, and names the key_id of %d", keyed, named)
	case keyed > 0 && len(q.shards(isTestKey)) != 1:
		return fmt.Sprintf("it has keys of the shards %v", q.shards(isTestKey))
	case times(ofAddresses) > 0 && keyed > 0:
		return "it joins addresses, which are distributed by address, with a table that is by key_id"
	case times(ofAddresses) > 0 && (!givesAddr.MatchString(q.sql) || len(q.shards(isTestAddress)) == 0):
		return "it names no address"
	}
	return ""
}

// place returns of which shards a statement reads or changes rows, or "".
func (q statement) place() string {
	switch {
	case ofKeys.MatchString(q.sql):
		return fmt.Sprint("key ", q.shards(isTestKey))
	case ofAddresses.MatchString(q.sql):
		return "address"
	}
	return ""
}

// places returns where a transaction has rows. One that changes something in more than one place is
// committed in two phases.
func (t *transaction) places() (places []string, writes bool) {
	for _, q := range t.statements {
		if p := q.place(); p != "" {
			places = append(places, p)
			writes = writes || changes.MatchString(q.sql)
		}
	}
	slices.Sort(places)
	return slices.Compact(places), writes
}

// fault says why a transaction could lose mail while a shard is moved, or returns "". A change waits
// until its shard has moved, or fails. What was read or locked before it may be of the old shard.
func (t *transaction) fault() string {
	var ofKey []statement
	changing := false
	for _, q := range t.statements {
		if ofKeys.MatchString(q.sql) {
			ofKey = append(ofKey, q)
			changing = changing || changes.MatchString(q.sql)
		}
	}
	switch {
	case !changing:
		return ""
	case !changes.MatchString(ofKey[0].sql) || !ofOneKeyRow.MatchString(ofKey[0].sql):
		return "it does not begin with a change of the rows of one key"
	case slices.ContainsFunc(ofKey, func(q statement) bool { return severalKeys.MatchString(q.sql) }):
		return "it reads or changes the rows of several keys at once, or locks rows that it only reads"
	}
	return ""
}

func (t *transaction) String() string {
	var b strings.Builder
	for _, q := range t.statements {
		fmt.Fprintf(&b, "\n  %s %v", strings.Join(strings.Fields(q.sql), " "), q.args)
	}
	return b.String()
}

// check fails the test unless each transaction that was recorded is one server's.
func (r *recorder) check(t *testing.T, what string) {
	t.Helper()
	list := r.take()
	seen := false
	for _, tx := range list {
		for _, q := range tx.statements {
			if fault := q.fault(); fault != "" {
				t.Errorf("%s: %s:\n  %s %v", what, fault, strings.Join(strings.Fields(q.sql), " "), q.args)
			}
			seen = seen || q.place() != ""
		}
		if fault := tx.fault(); fault != "" {
			t.Errorf("%s: %s:%s", what, fault, tx)
		}
		if places, writes := tx.places(); writes && len(places) > 1 {
			t.Errorf("%s: a transaction changes rows in %q:%s", what, places, tx)
		}
	}
	if !seen {
		t.Errorf("%s: no statement on a table that is distributed was seen", what)
	}
}

// exercise makes deliveries and requests of all kinds, for keys on two shards, and calls done after
// each kind.
func exercise(t *testing.T, s *Store, done func(what string)) {
	t.Helper()
	ctx := t.Context()
	var inboxes []service.Inbox
	for n := range 6 {
		name := fmt.Sprint(rand.Text(), n%2)
		inboxes = append(inboxes, service.Inbox{
			ID: "inbox_" + name, KeyID: "key_shard_" + name, Address: name + "@shard.test", CreatedAt: day, ExpiresAt: day.Add(time.Hour),
		})
	}
	one := func(do func(in service.Inbox) error) func() error { return func() error { return do(inboxes[0]) } }
	each := func(do func(in service.Inbox) error) func() error { // many times at once
		return func() error {
			var calls errgroup.Group
			for n := range 10 * len(inboxes) {
				calls.Go(func() error { return do(inboxes[n%len(inboxes)]) })
			}
			return calls.Wait()
		}
	}
	for _, kind := range []struct {
		name string
		do   func() error
	}{
		{"creating inboxes", func() error {
			for _, in := range inboxes {
				if err := s.CreateInbox(ctx, in, math.MaxInt); err != nil {
					return err
				}
			}
			return nil
		}},
		{"a delivery", one(func(in service.Inbox) error { return deliver(ctx, s, in, "x") })},
		{"deliveries that wait together", func() error {
			for _, in := range inboxes { // a delivery is answered before its key is free
				v, err := s.serverOf(ctx, in.KeyID)
				if err != nil {
					return err
				}
				await(t, "its key is free", func() bool {
					v.deliveries.mu.Lock()
					defer v.deliveries.mu.Unlock()
					return !v.deliveries.storing[in.KeyID]
				})
			}
			stuck := make(map[*server]*delivery) // for all keys of a server
			for _, in := range inboxes {
				v, err := s.serverOf(ctx, in.KeyID)
				if err != nil {
					return err
				}
				if stuck[v] == nil {
					stuck[v] = &delivery{}
				}
				stuck[v].Messages = append(stuck[v].Messages, service.NewMessage{KeyID: in.KeyID})
				v.deliveries.mu.Lock()
				v.deliveries.storing[in.KeyID] = true
				v.deliveries.mu.Unlock()
			}
			done := make(chan error, 1)
			go func() { done <- each(func(in service.Inbox) error { return deliver(ctx, s, in, "x") })() }()
			await(t, "they wait", func() bool {
				n := 0
				for v := range stuck {
					n += v.deliveries.length()
				}
				return n == 10*len(inboxes)
			})
			for v, d := range stuck {
				v.deliveries.stored([]*delivery{d})
			}
			return <-done
		}},
		{"looking up addresses", each(func(in service.Inbox) error {
			_, err := s.InboxByAddress(ctx, in.Address)
			return err
		})},
		{"reading inboxes", each(func(in service.Inbox) error {
			_, err := s.Inbox(ctx, in.KeyID, in.ID)
			return err
		})},
		{"listing inboxes", each(func(in service.Inbox) error {
			_, _, err := s.Inboxes(ctx, service.PageOfInboxes{KeyID: in.KeyID, CreatedAt: in.ExpiresAt, Limit: 9})
			return err
		})},
		{"reading the day's count", each(func(in service.Inbox) error {
			_, err := s.EmailsToday(ctx, in.KeyID, service.DayOf(day)+1)
			return err
		})},
		{"listing messages", one(func(in service.Inbox) error {
			_, err := s.Messages(ctx, in, 100, 10)
			return err
		})},
		{"reading a summary", one(func(in service.Inbox) error {
			_, err := s.Summary(ctx, in, 1)
			return err
		})},
		{"reading a message", one(func(in service.Inbox) error {
			_, err := s.Message(ctx, in, 1)
			return err
		})},
		{"counting requests", each(func(in service.Inbox) error {
			_, _, err := s.Take(ctx, in.KeyID, 1000)
			return err
		})},
		{"deleting a message", one(func(in service.Inbox) error {
			return s.DeleteMessages(ctx, in, messages(t, s, in)[0].ID)
		})},
		{"emptying an inbox", one(func(in service.Inbox) error { return s.DeleteMessages(ctx, in, "") })},
		{"extending an inbox", one(func(in service.Inbox) error {
			return failure(s.ExtendInbox(ctx, in.KeyID, in.ID, day, day.Add(2*time.Hour)))
		})},
		{"deleting an inbox", one(func(in service.Inbox) error { return s.DeleteInbox(ctx, in.KeyID, in.ID) })},
	} {
		if err := kind.do(); err != nil {
			t.Errorf("%s: %v", kind.name, err)
		}
		done(kind.name)
	}
}

// On a cluster, a delivery or a request takes part of one server only, since its statements name the
// key that they are for, or an address. This shows it with a single server.
func TestEachTransactionIsOfOneShard(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	s := open(t, pgtest.Database(t), Options{tracer: r})
	s.citus, s.rowsPerStatement = true, 1
	for n := range 2 {
		s.opened[node{"shard", int32(n)}] = s.newServer(s.pool)
	}
	s.placements.query = func(_ context.Context, _ *pgxpool.Pool, names []string) (list []placement, _ error) {
		for _, name := range names {
			list = append(list, placement{name, node{"shard", int32(testShard(name))}})
		}
		return list, nil
	}
	r.take()
	exercise(t, s, func(what string) { r.check(t, what) })
}

// Citus plans each statement of a delivery or of a request as one task on one shard.
func TestEachStatementIsOneTask(t *testing.T) {
	t.Parallel()
	for _, url := range pgtest.CitusDatabase(t) {
		r := newRecorder()
		s := open(t, url, Options{tracer: r})
		r.take()
		exercise(t, s, func(what string) {
			planned := map[string]bool{}
			for _, tx := range r.take() {
				for _, q := range tx.statements {
					if q.place() == "" || planned[q.sql] {
						continue
					}
					planned[q.sql] = true
					plan, err := query(t.Context(), s.pool, pgx.RowTo[string], "EXPLAIN (COSTS OFF) "+q.sql, q.args...)
					if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "Task Count: 1\n") || strings.Contains(text, "Subplan") {
						t.Errorf("%s: %s\n%s\n%v", what, q.sql, text, err)
					}
				}
			}
			r.take() // of this function
		})
	}
}
