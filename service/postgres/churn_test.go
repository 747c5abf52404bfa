package postgres

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// What happens in each hour of BenchmarkChurn.
const (
	churnInboxes  = 20_000 // of an hour's life; one in ten is deleted before
	churnMessages = 100_000
)

// BenchmarkChurn makes, fills and ends inboxes, hour after hour of a clock of its own, and tells how large the tables
// get in which rows are changed: MAYFLY_CHURN says how many hours, and MAYFLY_TEST_POSTGRES where. PostgreSQL vacuums once
// a minute, so that some minutes are needed. Run it with -benchtime 1x -timeout 0.
func BenchmarkChurn(b *testing.B) {
	hours, err := strconv.Atoi(os.Getenv("MAYFLY_CHURN"))
	if err != nil || hours < 1 {
		b.Skip("set MAYFLY_CHURN to the number of hours, such as 30")
	}
	for b.Loop() {
		churn(b, pgtest.Database(b), hours)
	}
}

func churn(b *testing.B, url string, hours int) {
	g := newGrowth(b, url, time.Now().UTC().Truncate(time.Hour), 30*24*time.Hour)
	s := g.store
	fmt.Println("hour  appended/s  swept/s  inboxes MB  owners MB  addresses MB  deleted MB  slots  dead rows  vacuums")
	for hour := range hours {
		g.inboxes, g.counts = nil, nil
		for n := range churnInboxes {
			in := g.inbox(hour*churnInboxes + n)
			in.ExpiresAt = in.CreatedAt.Add(time.Hour)
			g.inboxes, g.counts = append(g.inboxes, in), append(g.counts, 0)
		}
		g.callers(churnInboxes, func(i int) error { return s.CreateInbox(b.Context(), g.inboxes[i]) })
		appended, _ := g.append(churnMessages, hour*churnMessages)
		g.callers(churnInboxes/10, func(i int) error {
			return s.DeleteInbox(b.Context(), g.inboxes[10*i].KeyID, g.inboxes[10*i].ID)
		})
		g.now = g.now.Add(time.Hour)
		began, swept := time.Now(), 0
		for {
			some, err := s.Sweep(b.Context(), g.now, 1000)
			if err != nil {
				b.Fatal(err)
			}
			if swept += len(some.Inboxes); len(some.Inboxes) < 1000 {
				break
			}
		}
		fmt.Printf("%4d  %10.0f  %7.0f  %s\n", hour+1, appended, float64(swept)/time.Since(began).Seconds(), tables(b, s))
	}
}

// tables tells how large the tables are in which rows are changed.
func tables(b *testing.B, s *Store) string {
	var line string
	err := s.pool.QueryRow(b.Context(), `SELECT format('%s  %s  %s  %s  %s  %s  %s',
			lpad(round(pg_total_relation_size('inboxes') / 1e6, 1)::text, 10), lpad(round(pg_total_relation_size('owners') / 1e6, 1)::text, 9),
			lpad(round(pg_total_relation_size('addresses') / 1e6, 1)::text, 12), lpad(round(pg_total_relation_size('deleted') / 1e6, 1)::text, 10),
			lpad((SELECT count(*) FROM pg_inherits WHERE inhparent = 'messages'::regclass)::text, 5),
			lpad(sum(n_dead_tup)::text, 9), lpad(sum(autovacuum_count)::text, 7))
		FROM pg_stat_user_tables WHERE relname IN ('inboxes', 'owners', 'addresses', 'deleted')`).Scan(&line)
	if err != nil {
		b.Error(err)
	}
	return line
}
