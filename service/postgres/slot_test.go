package postgres

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func TestSlotOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		life time.Duration
		name string
		ends time.Time
	}{
		{time.Minute, "messages_h20300517_12", day.Add(time.Hour)},
		{time.Hour - time.Millisecond, "messages_h20300517_12", day.Add(time.Hour)},
		{time.Hour, "messages_h20300517_13", day.Add(2 * time.Hour)},
		{24 * time.Hour, "messages_h20300518_12", day.Add(25 * time.Hour)},
		{24*time.Hour + time.Millisecond, "messages_d20300518", day.Add(36 * time.Hour)},
		{30 * 24 * time.Hour, "messages_d20300616", day.Add(30*24*time.Hour + 12*time.Hour)},
	} {
		s := slotOf(service.Inbox{CreatedAt: day, ExpiresAt: day.Add(test.life)})
		if s.table() != test.name || !s.ends().Equal(test.ends) {
			t.Errorf("a life of %v is in %s, which ends at %v, want %s and %v", test.life, s.table(), s.ends(), test.name, test.ends)
		}
	}
}

// allMessages is what to select from for the messages of all slots, of which there is one at least.
func allMessages(t *testing.T, s *Store) string {
	t.Helper()
	tables, err := query(t.Context(), s.pool, func(row pgx.CollectableRow) (string, error) {
		var n slot
		err := row.Scan(&n)
		return "SELECT * FROM " + n.table(), err
	}, "SELECT slot FROM slots")
	check(t, err)
	return "(" + strings.Join(tables, " UNION ALL ") + ") messages"
}

// wantPartitions fails unless there are n tables of the slots in 2030.
func wantPartitions(t *testing.T, s *Store, n int) {
	t.Helper()
	if got := count(t, s, "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^messages_[hd]2030'"); got != n {
		t.Errorf("%d tables of slots are left, want %d", got, n)
	}
}

func TestSlotsAreDroppedWhenTheyAreOver(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	short, long := create(t, s, 1, time.Minute), create(t, s, 2, 48*time.Hour)
	for _, in := range []service.Inbox{short, long} {
		check(t, deliver(t.Context(), s, in, "x"))
	}
	wantPartitions(t, s, 2)
	sweep := func(now time.Time) {
		t.Helper()
		check(t, fortest.Failure(s.Sweep(t.Context(), now, 100)))
	}
	over := slotOf(short).ends().Add(dropAfter)
	sweep(over.Add(-time.Millisecond))
	wantPartitions(t, s, 2)
	// An interrupted drop is completed.
	execute(t, s.pool, "DROP TABLE "+slotOf(short).table())
	sweep(over)
	if n := count(t, s, "SELECT count(*) FROM slots"); n != 1 {
		t.Errorf("%d slots are known", n)
	}
	wantPartitions(t, s, 1)
	wantMessages(t, s, long, 1)
	sweep(slotOf(long).ends().Add(dropAfter))
	wantPartitions(t, s, 0)
	// The slot is created again when it is needed.
	again := create(t, s, 3, time.Minute)
	if err := deliver(t.Context(), s, again, "x"); err != nil || len(messages(t, s, again)) != 1 {
		t.Errorf("in a slot that was dropped: %v", err)
	}
}

// Creating slots ahead leaves nothing to create for the inboxes of any lifetime until the next
// time.
func TestSlotsAreCreatedAhead(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), pgtest.Database(t), Options{})
	check(t, err)
	defer s.Close()
	await(t, "the slots are created", func() bool { return count(t, s, "SELECT count(*) FROM slots") == aheadHours+aheadDays })
	now := time.Now().Add(aheadInterval)
	for _, life := range []time.Duration{time.Minute, 24 * time.Hour, 25 * time.Hour, 30 * 24 * time.Hour} {
		n := slotOf(service.Inbox{CreatedAt: now, ExpiresAt: now.Add(life)})
		if _, known := s.slots.Load(n); !known {
			t.Errorf("no slot for a lifetime of %v", life)
		}
	}
	// Those of days are frozen step by step, those of hours are dropped before.
	if n := count(t, s, `SELECT count(*) FROM pg_class WHERE relname ~ '^messages_[hd]' AND relkind = 'r' AND
		(relname ~ '^messages_h') = coalesce('autovacuum_vacuum_insert_threshold=-1' = ANY(reloptions), false)`); n != aheadHours+aheadDays {
		t.Errorf("%d tables have their settings", n)
	}
}

func TestSlotsInUseAreDroppedLater(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url, Options{Timeout: 3 * time.Second})
	in := create(t, s, 1, time.Hour)
	backup, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer backup.Close(context.WithoutCancel(t.Context()))
	execute(t, backup, "BEGIN; SELECT * FROM "+slotOf(in).table())
	sweep := func() {
		t.Helper()
		if _, err := s.Sweep(t.Context(), slotOf(in).ends().Add(dropAfter), 100); err != nil {
			t.Error(err)
		}
	}
	sweep()
	wantPartitions(t, s, 1)
	create(t, s, 2, time.Minute) // in a slot that is over earlier
	execute(t, backup, "COMMIT")
	sweep()
	wantPartitions(t, s, 0)
}

// fill puts n messages of an inbox into its slot, without the time that it would take to deliver them.
func fill(t *testing.T, s *Store, in service.Inbox, n int) {
	t.Helper()
	execute(t, s.pool, "INSERT INTO "+slotOf(in).table()+` (key_id, inbox_id, seq, id, sender, sender_name, subject, received_at, size, recipient, raw)
		SELECT $1, $2, n, n::text, '', '', '', now(), 1, '', '\x0078' FROM generate_series(1, $3) n`, in.KeyID, in.ID, n)
	execute(t, s.pool, "UPDATE counts SET messages = $2, last = $2 WHERE key_id = $3 AND inbox_id = $1", in.ID, n, in.KeyID)
}

// An inbox that was extended past the end of its slot is moved, so that the slot goes with all other messages in
// it. Who has read the inbox before finds its messages.
func TestSlotOfAnExtendedInboxIsDropped(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		short, in := create(t, s, 1, time.Hour), create(t, s, 2, time.Hour)
		fill(t, s, short, 5000)
		check(t, deliver(t.Context(), s, in, "x"))
		in, err := s.ExtendInbox(t.Context(), in.KeyID, in.ID, day, day.Add(48*time.Hour))
		check(t, err)
		for _, at := range []time.Time{slotOf(short).ends().Add(dropAfter), in.ExpiresAt.Add(-time.Second)} {
			check(t, fortest.Failure(s.Sweep(t.Context(), at, 100)))
			if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)); n != 1 {
				t.Errorf("at %v, %d messages are left, want the extended inbox's", at, n)
			}
			wantPartitions(t, s, 1)
			wantMessages(t, s, in, 1)
			check(t, fortest.Failure(s.Message(t.Context(), in, 1)))
		}
		check(t, deliver(t.Context(), s, in, "y"))
		check(t, s.DeleteMessages(t.Context(), in, messages(t, s, in)[0].ID))
		check(t, s.DeleteMessages(t.Context(), in, ""))
		wantMessages(t, s, in, 0)
		in.Partition = 0
		check(t, fortest.Failure(s.Sweep(t.Context(), slotOf(in).ends().Add(dropAfter), 100)))
		wantPartitions(t, s, 0)
	})
}

// An inbox that cannot be moved holds up no other slot.
func TestLockedInboxKeepsItsSlotAlone(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{Timeout: 3 * time.Second})
	in, later := create(t, s, 1, time.Hour), create(t, s, 2, 3*time.Hour)
	check(t, fortest.Failure(s.ExtendInbox(t.Context(), in.KeyID, in.ID, day, day.Add(48*time.Hour))))
	other := later
	other.ID, other.KeyID, other.Address = "inbox_other", "key_other", "other@x.test"
	check(t, s.CreateInbox(t.Context(), other, math.MaxInt))
	check(t, s.DeleteInbox(t.Context(), later.KeyID, later.ID))
	tx, err := s.pool.Begin(t.Context())
	check(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	execute(t, tx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	execute(t, tx, lockOwner, in.KeyID)
	sweep := func() {
		t.Helper()
		check(t, fortest.Failure(s.Sweep(t.Context(), slotOf(later).ends().Add(dropAfter), 100)))
	}
	sweep()
	wantPartitions(t, s, 2) // that of the locked inbox, and the one to which it cannot be moved
	check(t, tx.Rollback(t.Context()))
	sweep()
	wantPartitions(t, s, 1)
	wantMessages(t, s, in, 0)
}

// Dropping the tables of a slot does not take longer the more inboxes there are.
func TestDroppingASlotReadsNoInboxes(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	execute(t, s.pool, `INSERT INTO inboxes (key_id, id, address, created_at, expires_at, slot)
		SELECT 'key', n::text, n::text, $1::timestamptz, $1::timestamptz + interval '1 hour', $2 FROM generate_series(1, 20000) n`, day, int32(day.Unix()/3600+1))
	execute(t, s.pool, "ANALYZE inboxes")
	conn, err := s.pool.Acquire(t.Context())
	check(t, err)
	defer conn.Release()
	for _, sql := range []string{
		strings.NewReplacer("$1", "1", "$2", "1000").Replace(selectExtended),
		"SELECT DISTINCT slot FROM inboxes WHERE expires_at <= '2030-01-01'",
	} {
		rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF) "+sql)
		check(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		if found := regexp.MustCompile(`hit=(\d+)`).FindStringSubmatch(strings.Join(plan, "\n")); found == nil || len(found[1]) > 1 || strings.Contains(plan[0], "read=") {
			t.Errorf("%s\n%s", sql, strings.Join(plan, "\n"))
		}
	}
}

func TestMessagesOfDeletedInboxesAreRemoved(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		in, keep := create(t, s, 1, time.Hour), create(t, s, 2, time.Hour)
		fill(t, s, in, 2*removeMessages+1)
		check(t, deliver(t.Context(), s, keep, "x"))
		check(t, s.DeleteInbox(t.Context(), in.KeyID, in.ID))
		wantMessages(t, s, in, 0)
		for _, want := range []int{removeMessages + 1, 1, 0} {
			swept, err := s.Sweep(t.Context(), day, 100)
			check(t, err)
			if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)+" WHERE inbox_id = $1", in.ID); n != want || swept.Next.Equal(day) != (want > 0) {
				t.Errorf("%d messages are left, want %d; the next sweep is due at %v", n, want, swept.Next)
			}
		}
		if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)); n != 1 {
			t.Errorf("%d messages are left in the database, want the other inbox's 1", n)
		}
		if n := count(t, s, "SELECT count(*) FROM deleted"); n != 0 {
			t.Errorf("%d inboxes are still to be removed", n)
		}
	})
}

// Many deletions do not keep expired inboxes, nor take a transaction each.
func TestDeletionsDoNotHoldUpExpiry(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s := open(t, pgtest.Database(t), Options{tracer: r})
	in := create(t, s, 0, time.Hour)
	execute(t, s.pool, "INSERT INTO "+slotOf(in).table()+` (key_id, inbox_id, seq, id, sender, sender_name, subject, received_at, size, recipient, raw)
		SELECT 'key_' || n % 10, 'gone_' || n, 1, '1', '', '', '', now(), 1, '', '\x0078' FROM generate_series(1, 1500) n`)
	execute(t, s.pool, "INSERT INTO deleted SELECT key_id, inbox_id, $1, 1 FROM "+slotOf(in).table(), int32(slotOf(in)))
	r.take()
	swept, err := s.Sweep(t.Context(), in.ExpiresAt, 100)
	check(t, err)
	if left := count(t, s, "SELECT count(*) FROM deleted"); left != 500 || !swept.Next.Equal(in.ExpiresAt) || len(swept.Inboxes) != 1 {
		t.Errorf("%d deleted inboxes are left, %+v", left, swept)
	}
	if n := len(r.take()); n > 120 {
		t.Errorf("a sweep of 1000 deleted inboxes of ten keys took %d statements", n)
	}
	check(t, fortest.Failure(s.Sweep(t.Context(), in.ExpiresAt, 100)))
	if left := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)); left != 0 {
		t.Errorf("%d messages are left", left)
	}
}

// The messages of an inbox whose end was set sooner do not stay until the end of its slot.
func TestMessagesOfAShortenedInboxAreRemoved(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		s := open(t, urls[0], Options{})
		in, other := create(t, s, 1, 30*24*time.Hour), create(t, s, 2, time.Hour)
		for _, in := range []service.Inbox{in, other} {
			check(t, deliver(t.Context(), s, in, "x"))
		}
		in, err := s.ExtendInbox(t.Context(), in.KeyID, in.ID, day, day.Add(time.Minute))
		check(t, err)
		check(t, fortest.Failure(s.Sweep(t.Context(), other.ExpiresAt, 100)))
		if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)+" WHERE inbox_id = $1", in.ID); n != 0 {
			t.Errorf("%d messages of the shortened inbox are left", n)
		}
		if n := count(t, s, "SELECT count(*) FROM "+allMessages(t, s)); n != 1 {
			t.Errorf("%d messages are left, want the other inbox's, which go with their slot", n)
		}
	})
}

// A lookup of messages is planned once and reads only the tables of one slot.
func TestLookupReadsOneSlot(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	var in service.Inbox
	for n := range 30 {
		in = create(t, s, n, time.Duration(n+1)*time.Hour)
		check(t, deliver(t.Context(), s, in, "x"))
	}
	conn, err := s.pool.Acquire(t.Context())
	check(t, err)
	defer conn.Release()
	for name, statement := range map[string]struct{ sql, args string }{
		"message": {selectMessage, "1"}, "summaries": {selectSummaries, "10, 10"},
	} {
		execute(t, conn, "PREPARE "+name+" AS "+fmt.Sprintf(statement.sql, slotOf(in).table()))
		rows, err := conn.Query(t.Context(), fmt.Sprintf("EXPLAIN (COSTS OFF) EXECUTE %s('%s', '%s', %s)", name, in.KeyID, in.ID, statement.args))
		check(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "$1") || strings.Contains(text, "Seq Scan") || strings.Contains(text, "Subplans") {
			t.Errorf("%s has no generic plan that uses only indexes:\n%s", name, text)
		}
		for _, word := range strings.Fields(text) {
			if table, ok := strings.CutSuffix(word, "_pkey"); ok && table != "inboxes" && !strings.HasSuffix(table, slotOf(in).table()) {
				t.Errorf("%s reads %s:\n%s", name, table, text)
			}
		}
	}
}

// A sweep holds a lock on one connection and needs others, however few a URL allows.
func TestSweepWithFewConnections(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(pgtest.Database(t))
	check(t, err)
	q := u.Query()
	q.Set("pool_max_conns", "1")
	u.RawQuery = q.Encode()
	s := open(t, u.String(), Options{Timeout: 3 * time.Second})
	in := create(t, s, 1, time.Hour)
	swept, err := s.Sweep(t.Context(), in.ExpiresAt, 10)
	if err != nil || len(swept.Inboxes) != 1 {
		t.Errorf("%d inboxes are removed, %v", len(swept.Inboxes), err)
	}
}
