package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// Mail that shares a transaction is judged by when each arrived: an inbox that expires in between has
// what came before.
func TestMailBeforeTheEndOfItsInbox(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	ending, other := create(t, s, 1, time.Hour), create(t, s, 2, 2*time.Hour)
	var group []*delivery
	for _, in := range []service.Inbox{ending, other} {
		for _, received := range []time.Time{ending.ExpiresAt.Add(-time.Microsecond), ending.ExpiresAt} {
			group = append(group, waiting(received, in))
		}
	}
	group = append(group, waiting(ending.ExpiresAt, ending, other))
	s.commit(s.anyServer, group)
	for i, d := range group {
		if err := <-d.done; (service.ErrorCode(err) == service.NotFound) != (i == 1) {
			t.Errorf("delivery %d ends with %v", i, err)
		}
	}
	for in, want := range map[service.Inbox]int{ending: 1, other: 3} {
		wantMessages(t, s, in, want)
	}
	if n := count(t, s, "SELECT emails FROM owners"); n != 4 {
		t.Errorf("the key has %d messages", n)
	}
}

// waiting returns a delivery as the queue has it.
func waiting(received time.Time, to ...service.Inbox) *delivery {
	d := &delivery{Append: service.Append{Received: received}, size: 1, packed: pack([]byte("x")), done: make(chan error, 1)}
	for _, in := range to {
		d.Messages = append(d.Messages, service.NewMessage{KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 10, To: in.Address})
	}
	return d
}

// Transactions lock the rows of keys in the same order, so that they cannot deadlock.
func TestKeysAreLockedInOrder(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{Timeout: time.Minute})
	group := make(map[string]*delivery)
	for _, name := range []string{"B", "_", "a", "1"} { // neither order has that of the table
		in := service.Inbox{ID: "inbox_" + name, KeyID: "key_" + name, Address: name + "@x.test", CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
		check(t, s.CreateInbox(t.Context(), in, math.MaxInt))
		group[in.KeyID] = waiting(day, in)
	}
	keys, err := query(t.Context(), s.pool, pgx.RowTo[string], "SELECT key_id FROM owners ORDER BY key_id")
	check(t, err)
	const free = "SELECT key_id FROM owners ORDER BY key_id FOR NO KEY UPDATE SKIP LOCKED"
	for n, held := range keys {
		tx, err := s.pool.Begin(t.Context())
		check(t, err)
		execute(t, tx, "SELECT FROM owners WHERE key_id = $1 FOR NO KEY UPDATE", held)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.commit(s.anyServer, slices.Collect(maps.Values(group)))
		}()
		awaitLock(t, s, "the group waits")
		if got, err := query(t.Context(), s.pool, pgx.RowTo[string], free); err != nil || !slices.Equal(got, keys[n+1:]) {
			t.Errorf("while it waits for %s, %q are free (%v), want %q", held, got, err, keys[n+1:])
		}
		check(t, tx.Rollback(t.Context()))
		<-done
		for _, d := range group {
			if err := <-d.done; err != nil {
				t.Error(err)
			}
		}
	}
}

// While another session has a row locked, only mail that needs the row is refused, and none of the
// rest of its group.
func TestLockedRowRefusesOnlyItsKey(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]string{
		"owner": "SELECT FROM owners WHERE key_id = 'key_0' FOR UPDATE",
		"inbox": "SELECT FROM counts WHERE inbox_id = 'inbox_0' FOR UPDATE",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A third of the timeout bounds the wait for a lock.
			s := open(t, pgtest.Database(t), Options{Timeout: 3 * time.Second})
			var inboxes []service.Inbox
			for n := range 2 * committers {
				in := service.Inbox{ID: fmt.Sprint("inbox_", n), KeyID: fmt.Sprint("key_", n), Address: fmt.Sprint(n, "@x.test"), CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
				check(t, s.CreateInbox(t.Context(), in, math.MaxInt))
				inboxes = append(inboxes, in)
			}
			tx, err := s.pool.Begin(t.Context())
			check(t, err)
			defer tx.Rollback(context.WithoutCancel(t.Context()))
			execute(t, tx, "SET LOCAL idle_in_transaction_session_timeout = 0; "+held)
			// Mail for this key takes longer than a transaction for several keys waits.
			execute(t, s.pool, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(.2); RETURN NEW; END'`)
			execute(t, s.pool, "CREATE TRIGGER slow BEFORE UPDATE ON counts FOR EACH ROW WHEN (NEW.key_id = 'key_1') EXECUTE FUNCTION slow()")
			var group []*delivery
			last := len(inboxes) - 1
			for _, in := range inboxes[:last] {
				group = append(group, waiting(day, in))
			}
			group = append(group, waiting(day, inboxes[1], inboxes[2]), waiting(day, inboxes[last], inboxes[0]))
			s.commit(s.anyServer, group)
			for i, d := range group {
				refused := i == 0 || i == len(group)-1
				if err := <-d.done; (err != nil) != refused || refused && service.ErrorCode(err) != service.Unavailable {
					t.Errorf("delivery %d ends with %v", i, err)
				}
			}
			for i, in := range inboxes {
				want := 1
				switch i {
				case 0, last:
					want = 0
				case 1, 2:
					want = 2
				}
				wantMessages(t, s, in, want)
			}
		})
	}
}

// A table that somebody dropped is made again, and mail stored.
func TestDroppedSlotIsMadeAgain(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		dropped, kept := create(t, s, 1, time.Hour), create(t, s, 2, 2*time.Hour)
		for _, sql := range []string{"DROP TABLE " + slotOf(dropped).table(), "DELETE FROM slots", "DROP TABLE " + slotOf(dropped).table()} {
			execute(t, s.coordinator, sql)
			if strings.HasPrefix(sql, "DELETE") {
				continue
			}
			var group []*delivery
			for range 10 {
				for _, in := range []service.Inbox{dropped, kept} {
					d := waiting(day, in)
					d.Messages[0].EmailsPerDay = 100
					group = append(group, d)
				}
			}
			v, err := s.serverOf(t.Context(), dropped.KeyID)
			check(t, err)
			s.commit(v, group)
			for i, d := range group {
				if err := <-d.done; err != nil {
					t.Fatalf("delivery %d after %s ends with %v", i, sql, err)
				}
			}
			wantMessages(t, s, dropped, 10)
		}
		wantMessages(t, s, kept, 20)
	})
}

// A quota also bounds a delivery of a day that is no longer counted.
func TestQuotaOfAnOldDay(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	in := create(t, s, 1, time.Hour)
	check(t, deliver(t.Context(), s, in, "x"))
	for n, want := range map[int]service.Code{10: "", 11: service.OverQuota} {
		d := waiting(day.Add(-48*time.Hour), slices.Repeat([]service.Inbox{in}, n)...)
		s.commit(s.anyServer, []*delivery{d})
		if err := <-d.done; service.ErrorCode(err) != want {
			t.Errorf("%d messages end with %v, want %q", n, err, want)
		}
	}
}

// Mail for two keys does not wait for ever, though each key always has some of its own.
func TestMailForTwoKeysIsNotOvertaken(t *testing.T) {
	t.Parallel()
	q := newQueue()
	put := func(keys ...int) *delivery {
		d := &delivery{}
		for _, n := range keys {
			d.Messages = append(d.Messages, service.NewMessage{KeyID: fmt.Sprint(n)})
		}
		q.put(d)
		return d
	}
	put(1)
	one := q.take()
	put(2)
	other := q.take()
	both := put(1, 2)
	put(1)
	put(2)
	for _, group := range [][]*delivery{one, other} {
		if overtaking := q.take(); overtaking != nil {
			t.Fatalf("%+v overtakes", overtaking[0].Messages)
		}
		q.stored(group)
	}
	if group := q.take(); len(group) != 3 || group[0] != both {
		t.Errorf("%d deliveries are taken together", len(group))
	}
}

// While somebody else has rows of a key locked, what is for the key waits, whatever it is and however
// much, and all that is for others goes on. Deliveries and requests wait in the database together with others.
func TestLockedKeyDelaysNoOthers(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{Timeout: time.Minute})
		ctx := t.Context()
		count := func(in service.Inbox) error {
			_, _, err := s.Take(ctx, in.KeyID, 1000)
			return err
		}
		var inboxes []service.Inbox
		for n := range 8 {
			in := service.Inbox{ID: fmt.Sprint("inbox_", n), KeyID: fmt.Sprint("key_", n), Address: fmt.Sprint(n, "@x.test"), CreatedAt: day, ExpiresAt: day.Add(time.Hour)}
			check(t, s.CreateInbox(ctx, in, math.MaxInt))
			check(t, count(in))
			inboxes = append(inboxes, in)
		}
		do := func(n, i int) error {
			in := inboxes[n]
			switch i % 4 {
			case 0:
				return count(in)
			case 1:
				return fortest.Failure(s.ExtendInbox(ctx, in.KeyID, in.ID, day, day.Add(time.Hour)))
			case 2:
				return s.DeleteMessages(ctx, in, "")
			}
			return deliver(ctx, s, in, "x")
		}
		v, err := s.serverOf(ctx, inboxes[0].KeyID)
		check(t, err)
		tx, err := v.pool.Begin(ctx)
		check(t, err)
		defer tx.Rollback(context.WithoutCancel(ctx))
		execute(t, tx, "SET LOCAL idle_in_transaction_session_timeout = 0")
		execute(t, tx, "UPDATE owners SET day = day WHERE key_id = $1", inboxes[0].KeyID)
		execute(t, tx, "UPDATE requests SET total = total WHERE key_id = $1", inboxes[0].KeyID)
		var locked, others errgroup.Group
		leaving, leave := context.WithCancel(ctx)
		locked.Go(func() error {
			if err := deliver(leaving, s, inboxes[0], "left"); err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		var ended atomic.Int64
		for i := range 4 * defaultConnections {
			locked.Go(func() error {
				defer ended.Add(1)
				return do(0, i)
			})
			for n := range inboxes[1:] {
				others.Go(func() error { return do(1+n, i) })
			}
		}
		check(t, others.Wait())
		leave() // a caller, whose delivery may be about to be stored
		if n := ended.Load(); n > 0 {
			t.Errorf("%d calls for the locked key have ended before the others", n)
		}
		check(t, tx.Rollback(ctx))
		check(t, locked.Wait())
	})
}
