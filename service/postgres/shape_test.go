package postgres

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// recorder records the statements of a store, without what they COPY.
type recorder struct {
	mu   sync.Mutex
	done []statement
}

type statement struct {
	sql  string
	args []any
}

func (r *recorder) add(sql string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, statement{sql, args})
}

// take returns the statements since the last call.
func (r *recorder) take() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.done
	r.done = nil
	return list
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	r.add(q.SQL, q.Args)
	return ctx
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, b pgx.TraceBatchStartData) context.Context {
	for _, q := range b.Batch.QueuedQueries {
		r.add(q.SQL, q.Arguments)
	}
	return ctx
}

func (r *recorder) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// ofServer matches statements on tables that are distributed over the servers of a cluster.
var ofServer = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE) (owners|inboxes|counts|messages_[hd]\w+|deleted|requests|addresses)\b`)

// distinct returns the different statements since the last call that are on such tables.
func (r *recorder) distinct(t *testing.T) map[string]statement {
	t.Helper()
	found := make(map[string]statement)
	for _, q := range r.take() {
		if ofServer.MatchString(q.sql) {
			found[q.sql] = q
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d statements were seen", len(found))
	}
	return found
}

// exercise does all that is done for a key, for several keys at once, whose IDs have a part in common.
func exercise(t *testing.T, s *Store, part string) {
	t.Helper()
	ctx := t.Context()
	var calls errgroup.Group
	for n := range 6 {
		name := fmt.Sprint(part, n)
		in := service.Inbox{ID: "inbox_" + name, KeyID: "key_" + name, Address: name + "@x.test", CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
		other := in
		other.ID, other.Address = "other_"+in.ID, "other"+in.Address
		calls.Go(func() error {
			for _, do := range []func() error{
				func() error { return s.CreateInbox(ctx, in, math.MaxInt) },
				func() error { return s.CreateInbox(ctx, other, math.MaxInt) },
				func() error { return deliver(ctx, s, in, "x") },
				func() error { return deliverTo(ctx, s, string(noise(2*minShared)), in, other) },
				func() error { return fortest.Failure(s.InboxByAddress(ctx, in.Address)) },
				func() error { return fortest.Failure(s.Inbox(ctx, in.KeyID, in.ID)) },
				func() error {
					_, total, err := s.Inboxes(ctx, service.PageOfInboxes{KeyID: in.KeyID, CreatedAt: in.ExpiresAt, Limit: 9})
					if err == nil && total != 2 {
						err = fmt.Errorf("the key has %d inboxes", total)
					}
					return err
				},
				func() error { return fortest.Failure(s.EmailsToday(ctx, in.KeyID, service.DayOf(day)+1)) },
				func() error { return fortest.Failure(s.Messages(ctx, in, 100, 10)) },
				func() error { return fortest.Failure(s.Message(ctx, in, 2)) },
				func() error { return fortest.Failure(s.Delivery(ctx, in, 1)) },
				func() error { _, _, err := s.Take(ctx, in.KeyID, 1000); return err },
				func() error { return s.DeleteMessages(ctx, in, messages(t, s, in)[0].ID) },
				func() error { return s.DeleteMessages(ctx, in, "") },
				func() error { return fortest.Failure(s.ExtendInbox(ctx, in.KeyID, in.ID, day, day.Add(2*time.Hour))) },
				func() error { return s.DeleteInbox(ctx, in.KeyID, in.ID) },
			} {
				if err := do(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	check(t, calls.Wait())
}

// Citus plans each of them as one task on one shard.
func TestEachStatementIsOneTask(t *testing.T) {
	t.Parallel()
	for n, url := range pgtest.CitusDatabase(t) {
		r := &recorder{}
		s := open(t, url, Options{tracer: r})
		r.take()
		exercise(t, s, string('a'+byte(n)))
		for sql, q := range r.distinct(t) {
			plan, err := query(t.Context(), s.pool, pgx.RowTo[string], "EXPLAIN (COSTS OFF) "+sql, q.args...)
			if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "Task Count: 1\n") || strings.Contains(text, "Subplan") {
				t.Errorf("%s\n%s\n%v", sql, text, err)
			}
		}
	}
}
