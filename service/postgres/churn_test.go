package postgres

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// How much BenchmarkChurn does in each of its hours.
const (
	churnInboxes  = 20_000 // they live for an hour, but one in ten is deleted earlier
	churnMessages = 100_000
)

// BenchmarkChurn creates, fills and removes inboxes in simulated time, and prints how large the
// tables get whose rows are updated. MAYFLY_CHURN is the number of simulated hours,
// MAYFLY_TEST_POSTGRES the server. PostgreSQL vacuums once a minute, so that the benchmark should
// take some minutes. Run it with -benchtime 1x -timeout 0.
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

// tables returns a line with the sizes of the tables whose rows are updated.
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
