package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// oldProcess makes the statements of the version that knows two steps of the schema.
type oldProcess struct {
	t    *testing.T
	pool *pgxpool.Pool
}

// oldSteps is how many steps of the schema it knows.
const oldSteps = 2

func openOld(t *testing.T, url string) oldProcess {
	t.Helper()
	config, err := poolConfig(url, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := migrate(t.Context(), pool, migrations[:oldSteps], slog.Default()); err != nil {
		t.Fatal(err)
	}
	return oldProcess{t, pool}
}

// transact runs a transaction like Store.transact, which repeats it after a conflict.
func (o oldProcess) transact(do func(ctx context.Context, tx pgx.Tx) error) error {
	for {
		err := pgx.BeginFunc(o.t.Context(), o.pool, func(tx pgx.Tx) error { return do(o.t.Context(), tx) })
		if !conflict(err) {
			return err
		}
	}
}

// create creates an inbox, or reports that its address is taken.
func (o oldProcess) create(in service.Inbox) (created bool) {
	o.t.Helper()
	err := o.transact(func(ctx context.Context, tx pgx.Tx) error { return createSlot(ctx, tx, slotOf(in)) })
	if err == nil {
		err = o.transact(func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO owners (key_id, version, day, emails, emails_before) VALUES ($1, $2, $3, 0, 0)
				ON CONFLICT (key_id) DO UPDATE SET version = EXCLUDED.version`, in.KeyID, newVersion(), int32(service.DayOf(in.CreatedAt)))
			if err != nil {
				return err
			}
			return tx.QueryRow(ctx, `WITH free AS (
					INSERT INTO addresses AS a (address, key_id, inbox_id, created_at, expires_at) SELECT $3, $2, $1, $4, $5
					WHERE NOT EXISTS (SELECT FROM addresses WHERE address = ANY($8) AND key_id <> $2)
						OR EXISTS (SELECT FROM addresses WHERE address = $3)
					ON CONFLICT (address) DO UPDATE
						SET inbox_id = EXCLUDED.inbox_id, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
						WHERE a.key_id = EXCLUDED.key_id AND (a.inbox_id IS NULL OR a.expires_at <= EXCLUDED.created_at)
					RETURNING 1
				), created AS (
					INSERT INTO inboxes (id, key_id, address, created_at, expires_at, messages, version, slot)
					SELECT $1, $2, $3, $4, $5, 0, $6, $7 FROM free RETURNING 1
				) SELECT EXISTS (SELECT FROM created)`,
				in.ID, in.KeyID, in.Address, in.CreatedAt, in.ExpiresAt, newVersion(), int32(slotOf(in)), service.Untagged(in.Address)).Scan(&created)
		})
	}
	if err != nil {
		o.t.Errorf("the old process creates %s: %v", in.ID, err)
	}
	return created
}

// deliver delivers a message to an inbox, which must exist.
func (o oldProcess) deliver(in service.Inbox) {
	o.t.Helper()
	err := o.transact(func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT FROM owners WHERE key_id = ANY($1) ORDER BY key_id FOR NO KEY UPDATE", []string{in.KeyID}); err != nil {
			return err
		}
		var place int64
		if err := tx.QueryRow(ctx, "SELECT messages + 1 FROM inboxes WHERE id = ANY($1)", []string{in.ID}).Scan(&place); err != nil {
			return err
		}
		var b pgx.Batch
		b.Queue(`INSERT INTO messages (inbox_id, slot, place, id, sender, sender_name, subject, received_at, size, recipient)
			SELECT * FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
				$8::timestamptz[], $9::bigint[], $10::text[])`,
			[]string{in.ID}, []int32{int32(slotOf(in))}, []int64{place}, []string{service.NewMessageID(uint64(place))}, []string{"a@b.example"},
			[]string{""}, []string{""}, []time.Time{in.CreatedAt}, []int64{3}, []string{in.Address})
		b.Queue(`INSERT INTO bodies (inbox_id, slot, place, raw)
			SELECT * FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[])`,
			[]string{in.ID}, []int32{int32(slotOf(in))}, []int64{place}, [][]byte{pack([]byte("old"))})
		b.Queue(`UPDATE inboxes SET messages = u.messages, version = u.version
			FROM unnest($1::text[], $2::bigint[], $3::bigint[]) u (id, messages, version) WHERE inboxes.id = u.id`,
			[]string{in.ID}, []int64{place}, []int64{newVersion()})
		return tx.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		o.t.Errorf("the old process delivers to %s: %v", in.ID, err)
	}
}

func (o oldProcess) delete(in service.Inbox) {
	o.t.Helper()
	deleted := false
	err := o.transact(func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT FROM owners WHERE key_id = $1 FOR NO KEY UPDATE", in.KeyID); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `WITH gone AS (
				DELETE FROM inboxes WHERE id = $1 AND key_id = $2 RETURNING id, address, slot, messages
			), free AS (
				UPDATE addresses a SET inbox_id = NULL FROM gone WHERE a.address = gone.address AND a.inbox_id = gone.id
			), left_over AS (
				INSERT INTO deleted (inbox_id, slot, messages, removed) SELECT id, slot, messages, 0 FROM gone WHERE messages > 0
			), changed AS (
				UPDATE owners SET version = $3 WHERE key_id = $2 AND EXISTS (SELECT FROM gone)
			) SELECT EXISTS (SELECT FROM gone)`, in.ID, in.KeyID, newVersion()).Scan(&deleted)
	})
	if err != nil || !deleted {
		o.t.Errorf("the old process deletes %s: %v, %v", in.ID, deleted, err)
	}
}

// sweep removes inboxes that have expired, and a batch of messages of a deleted one.
func (o oldProcess) sweep(now time.Time) {
	o.t.Helper()
	err := o.transact(func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT id, key_id, expires_at FROM inboxes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`, now, 1000)
		expired, err := pgx.CollectRows(rows, scanExpired)
		if err != nil {
			return err
		}
		var ids, keys []string
		for _, in := range expired {
			ids, keys = append(ids, in.ID), append(keys, in.KeyID)
		}
		if _, err := tx.Exec(ctx, "SELECT FROM owners WHERE key_id = ANY($1) ORDER BY key_id FOR NO KEY UPDATE", keys); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `WITH gone AS (
				DELETE FROM inboxes WHERE id = ANY($1) RETURNING id, key_id, address, expires_at
			), free AS (
				UPDATE addresses a SET inbox_id = NULL FROM gone WHERE a.address = gone.address AND a.inbox_id = gone.id
			), changed AS (
				UPDATE owners SET version = $2 WHERE key_id IN (SELECT key_id FROM gone)
			) SELECT id, key_id, expires_at FROM gone`, ids, newVersion())
		return err
	})
	if err == nil {
		err = o.transact(func(ctx context.Context, tx pgx.Tx) error {
			var id string
			var n int32
			var messages, removed int64
			err := tx.QueryRow(ctx, "SELECT inbox_id, slot, messages, removed FROM deleted LIMIT 1 FOR UPDATE SKIP LOCKED").Scan(&id, &n, &messages, &removed)
			if err != nil {
				return ignoreNoRows(err)
			}
			for _, table := range []string{"messages", "bodies"} {
				_, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE inbox_id = $1 AND slot = %d AND place > $2 AND place <= $3", table, n), id, removed, messages)
				if err != nil {
					return err
				}
			}
			_, err = tx.Exec(ctx, "DELETE FROM deleted WHERE inbox_id = $1", id)
			return err
		})
	}
	if err != nil {
		o.t.Errorf("the old process sweeps: %v", err)
	}
}

func ignoreNoRows(err error) error {
	if err == pgx.ErrNoRows {
		return nil
	}
	return err
}

// holder returns the ID of the inbox that has an address, or "".
func (o oldProcess) holder(address string) string {
	o.t.Helper()
	var id string
	err := o.pool.QueryRow(o.t.Context(), `SELECT coalesce(inbox_id, '') FROM addresses WHERE address = ANY($1)`, []string{address}).Scan(&id)
	if ignoreNoRows(err) != nil {
		o.t.Error(err)
	}
	return id
}

// count returns how many messages of an inbox can be read.
func (o oldProcess) count(in service.Inbox) (n int) {
	o.t.Helper()
	err := o.pool.QueryRow(o.t.Context(), fmt.Sprintf(`SELECT count(*) FROM messages m JOIN bodies b ON b.inbox_id = m.inbox_id AND b.place = m.place AND b.slot = %[1]d
		WHERE m.inbox_id = $1 AND m.slot = %[1]d AND EXISTS (SELECT FROM inboxes i WHERE i.id = $1)`, slotOf(in)), in.ID).Scan(&n)
	if err != nil {
		o.t.Error(err)
	}
	return n
}

func inboxOf(n int, life time.Duration) service.Inbox {
	return service.Inbox{
		ID: fmt.Sprintf("inbox_%d", n), KeyID: fmt.Sprintf("key_%d", n%7), Address: fmt.Sprintf("%d@x.test", n), CreatedAt: day, ExpiresAt: day.Add(life),
	}
}

// checkEveryRowHasItsKey checks what old processes cannot have written themselves.
func checkEveryRowHasItsKey(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	for _, table := range []string{"messages", "bodies", "deleted"} {
		var wrong int
		err := pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table+" r LEFT JOIN inboxes i ON i.id = r.inbox_id WHERE r.key_id IS NULL OR r.key_id <> i.key_id").Scan(&wrong)
		if err != nil || wrong != 0 {
			t.Errorf("%d rows of %s do not have their key, %v", wrong, table, err)
		}
	}
}

// Old processes create, fill, delete and sweep inboxes before, while and after a new one updates the
// schema, and so does the new one then.
func TestOldAndNewProcessesShareADatabase(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old := openOld(t, url)

	// What the new process finds: among others, the messages of an inbox that has been swept, and of
	// one that is deleted but whose messages are still there.
	var inboxes []service.Inbox
	counts := make(map[string]int)
	for n := range 40 {
		in := inboxOf(n, time.Duration(1+n%20)*5*time.Hour)
		inboxes = append(inboxes, in)
		if !old.create(in) {
			t.Fatalf("%s was not created", in.ID)
		}
		for range n {
			old.deliver(in)
			counts[in.ID]++
		}
	}
	swept, gone := inboxes[20], inboxes[21]
	old.sweep(swept.ExpiresAt) // and others that live as long
	old.delete(gone)
	live := inboxes[22:]

	var working sync.WaitGroup
	var mu sync.Mutex
	var stop atomic.Bool
	for _, in := range live {
		working.Go(func() {
			for !stop.Load() {
				old.deliver(in)
				mu.Lock()
				counts[in.ID]++
				mu.Unlock()
			}
		})
	}
	made := 1000
	working.Go(func() {
		for ; !stop.Load(); made++ {
			in := inboxOf(made, time.Duration(made%500)*time.Hour) // often in a slot that does not exist yet
			if !old.create(in) {
				t.Errorf("%s was not created", in.ID)
			}
			old.deliver(in)
			if old.holder(in.Address) != in.ID {
				t.Errorf("%s has no inbox", in.Address)
			}
			if made%3 == 0 {
				old.delete(in)
				old.sweep(day)
			}
		}
	})
	s := open(t, url, Options{})
	for _, in := range live {
		for range 5 {
			if err := deliver(t.Context(), s, in, "new"); err != nil {
				t.Error(err)
			}
			mu.Lock()
			counts[in.ID]++
			mu.Unlock()
		}
	}
	stop.Store(true)
	working.Wait()

	for _, in := range live {
		if got, want := len(messages(t, s, in)), counts[in.ID]; got != want || old.count(in) != want {
			t.Errorf("%s has %d messages for the new process and %d for the old one, want %d", in.ID, got, old.count(in), want)
		}
	}
	checkEveryRowHasItsKey(t, s.pool)

	// The messages of what the old process has deleted are removed by the new one.
	if _, err := s.Sweep(t.Context(), day, 100); err != nil {
		t.Error(err)
	}
	if n := count(t, s, "SELECT count(*) FROM messages WHERE inbox_id = $1", gone.ID); n != 0 {
		t.Errorf("%d messages of a deleted inbox are left", n)
	}
}

// Whoever creates, deletes or sweeps an inbox, the other finds the same inbox by its address.
func TestOldAndNewProcessesAgreeOnAddresses(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old := openOld(t, url)
	s := open(t, url, Options{})
	n := 0
	next := func(created time.Time) service.Inbox {
		n++
		return service.Inbox{ID: fmt.Sprintf("inbox_%d", n), KeyID: "key_a", Address: "a@x.test", CreatedAt: created, ExpiresAt: created.Add(time.Hour)}
	}
	createNew := func(in service.Inbox) bool {
		err := s.CreateInbox(t.Context(), in)
		if err != nil && service.ErrorCode(err) != service.Taken {
			t.Error(err)
		}
		return err == nil
	}
	deleteNew := func(in service.Inbox) {
		if err := s.DeleteInbox(t.Context(), in.KeyID, in.ID); err != nil {
			t.Error(err)
		}
	}
	sweepNew := func(now time.Time) {
		if _, err := s.Sweep(t.Context(), now, 100); err != nil {
			t.Error(err)
		}
	}
	// live checks which inbox has the address for both at a time; nil: none.
	live := func(what string, at time.Time, want *service.Inbox) {
		t.Helper()
		id := ""
		if want != nil {
			id = want.ID
		}
		in, err := s.InboxByAddress(t.Context(), "a@x.test")
		if err != nil && service.ErrorCode(err) != service.NotFound {
			t.Error(err)
		}
		found := in.ID
		if !at.Before(in.ExpiresAt) {
			found = ""
		}
		if found != id {
			t.Errorf("%s: the new process finds %q, want %q", what, found, id)
		}
		if found := old.holder("a@x.test"); found != id {
			t.Errorf("%s: the old process finds %q, want %q", what, found, id)
		}
	}
	for name, create := range map[string]func(service.Inbox) bool{"old": old.create, "new": createNew} {
		for other, remove := range map[string]func(service.Inbox){"old": old.delete, "new": deleteNew} {
			in := next(day)
			if !create(in) {
				t.Errorf("the %s process cannot create the inbox", name)
			}
			live("created by "+name, day, &in)
			if again := next(day); old.create(again) || createNew(again) {
				t.Error("an address has two inboxes")
			}
			foreign := next(day)
			if foreign.KeyID = "key_b"; old.create(foreign) || createNew(foreign) {
				t.Error("another key got an address")
			}
			remove(in)
			live("deleted by "+other, day, nil)
			if foreign := next(day); old.create(service.Inbox{ID: foreign.ID, KeyID: "key_b", Address: "a@x.test", CreatedAt: day, ExpiresAt: day.Add(1)}) {
				t.Error("another key got an address that is free")
			}
		}
		for other, sweep := range map[string]func(time.Time){"old": old.sweep, "new": sweepNew} {
			first, second := next(day), next(day.Add(2*time.Hour))
			if !create(first) || !create(second) { // the first has expired by then, but is still there
				t.Errorf("the %s process cannot create the inboxes", name)
			}
			live("created again by "+name, second.CreatedAt, &second)
			sweep(second.CreatedAt)
			live("the expired one swept by "+other, second.CreatedAt, &second)
			sweep(second.ExpiresAt)
			live("swept by "+other, second.ExpiresAt, nil)
		}
	}
}

// cut ends a context when it has seen a number of statements.
type cut struct {
	left   atomic.Int64
	cancel context.CancelFunc
}

func (c *cut) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return ctx
}

func (*cut) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The process that updates the schema dies again and again, each time a statement later.
func TestInterruptedUpdateIsContinued(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	old := openOld(t, url)
	counts := make(map[string]int)
	var inboxes []service.Inbox
	deliver := func(in service.Inbox) {
		old.deliver(in)
		counts[in.ID]++
	}
	for n := range 10 {
		in := inboxOf(n, time.Duration(1+n)*5*time.Hour)
		inboxes = append(inboxes, in)
		old.create(in)
		for range 20 {
			deliver(in)
		}
	}
	// What a killed process leaves of an index that it builds concurrently.
	if _, err := old.pool.Exec(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY inboxes_by_address ON inboxes (messages)"); err == nil {
		t.Fatal("the index is unique")
	}
	config, err := poolConfig(url, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	for done := false; !done; attempts++ {
		ctx, cancel := context.WithCancel(t.Context())
		trace := &cut{cancel: cancel}
		trace.left.Store(int64(attempts + 1))
		config := config.Copy()
		config.ConnConfig.Tracer = trace
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		err = migrate(ctx, pool, migrations, slog.Default())
		if done = err == nil; !done && ctx.Err() == nil {
			t.Fatal(err)
		}
		pool.Close()
		cancel()
		for _, in := range inboxes {
			deliver(in)
		}
		in := inboxOf(100+attempts, time.Duration(attempts)*time.Hour)
		old.create(in)
		old.deliver(in)
	}
	if attempts < 15 {
		t.Errorf("the update was complete after %d attempts: it has more statements", attempts)
	}
	checkEveryRowHasItsKey(t, old.pool)
	s := open(t, url, Options{})
	got := make(map[string]int)
	for _, in := range inboxes {
		got[in.ID] = len(messages(t, s, in))
	}
	if !maps.Equal(got, counts) {
		t.Errorf("there are %v messages, want %v", got, counts)
	}
	if n := count(t, s, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"); n != 0 {
		t.Errorf("%d indexes are incomplete", n)
	}
}

func scanExpired(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	err := row.Scan(&in.ID, &in.KeyID, &in.ExpiresAt)
	return in, err
}
