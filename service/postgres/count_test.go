package postgres

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// While somebody keeps a snapshot, a delivery reads no more pages after thousands of others than after a few.
func TestSnapshotDoesNotSlowDeliveries(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	s := open(t, url, Options{})
	in := create(t, s, 1, time.Hour)
	reader, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer reader.Close(t.Context())
	execute(t, reader, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	execute(t, reader, "SELECT FROM owners")
	conn, err := s.pool.Acquire(t.Context())
	check(t, err)
	defer conn.Release()
	statements := []statement{
		{addEmails, []any{in.KeyID, int32(service.DayOf(day)), 1, generationOf}},
		{addMessages, []any{in.KeyID, newVersion(), []string{in.ID}, day, []string{in.ID}, generationOf}},
		{selectInboxes + " WHERE i.key_id = $1 AND i.id = $2", []any{in.KeyID, in.ID}},
	}
	for range 2500 {
		var b pgx.Batch
		for _, q := range statements[:2] {
			b.Queue(q.sql, q.args...)
		}
		check(t, conn.SendBatch(t.Context(), &b).Close())
	}
	for _, q := range statements {
		rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) "+q.sql, q.args...)
		check(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		text := strings.Join(plan, "\n")
		hit := 0
		if found := regexp.MustCompile(`hit=(\d+)`).FindStringSubmatch(text); found != nil {
			hit, err = strconv.Atoi(found[1])
			check(t, err)
		}
		t.Logf("%d pages", hit)
		if hit == 0 || hit > 25 {
			t.Errorf("after 2500 deliveries it reads %d pages: %s", hit, text)
		}
	}
	check(t, deliver(t.Context(), s, in, "x"))
	if got, err := s.Inbox(t.Context(), in.KeyID, in.ID); err != nil || got.Messages != 2502 || got.Last != 2502 {
		t.Errorf("it has %d messages, the last %d, %v", got.Messages, got.Last, err)
	}
	if n, err := s.EmailsToday(t.Context(), in.KeyID, service.DayOf(day)); err != nil || n != 2502 {
		t.Errorf("%d messages on the day, %v", n, err)
	}
}
