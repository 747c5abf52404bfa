package postgres

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// BenchmarkGrowth fills a database and prints ten times how long operations take. MAYFLY_GROWTH is
// the number of messages of 2 KB, in a tenth as many inboxes, MAYFLY_TEST_POSTGRES the server. Run
// it with -benchtime 1x -timeout 0.
func BenchmarkGrowth(b *testing.B) {
	total, err := strconv.Atoi(os.Getenv("MAYFLY_GROWTH"))
	if err != nil || total < 1000 {
		b.Skip("set MAYFLY_GROWTH to the number of messages, such as 10000000")
	}
	for b.Loop() {
		grow(b, pgtest.Database(b), total)
	}
}

func grow(b *testing.B, url string, total int) {
	s, err := Open(b.Context(), url, Options{})
	check(b, err)
	defer s.Close()
	ctx, now := b.Context(), time.Now().UTC().Truncate(time.Millisecond)
	// Inboxes of a hundred keys. One in five lives for days, and one gets a hundredth of all messages.
	inboxes := make([]service.Inbox, total/10)
	for n := range inboxes {
		life := time.Duration(1+n%24) * time.Hour
		if n%5 == 0 {
			life = time.Duration(2+n/5%29) * 24 * time.Hour
		}
		inboxes[n] = service.Inbox{ID: fmt.Sprintf("inbox_%026d", n), KeyID: fmt.Sprintf("key_%d", n%100), Address: fmt.Sprintf("%d@x.test", n), CreatedAt: now, ExpiresAt: now.Add(life)}
	}
	// times has callers do something n times, and returns a description of how long it took.
	times := func(callers, n int, do func(i int) error) string {
		took := make([]time.Duration, n)
		var next atomic.Int64
		var calling sync.WaitGroup
		begun := time.Now()
		for range callers {
			calling.Go(func() {
				for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
					began := time.Now()
					if err := do(i); err != nil {
						b.Error(err)
					}
					took[i] = time.Since(began)
				}
			})
		}
		calling.Wait()
		rate := float64(n) / time.Since(begun).Seconds()
		slices.Sort(took)
		return fmt.Sprintf("%.0f/s, %v at p50, %v at p99", rate, took[n/2].Round(10*time.Microsecond), took[n*99/100].Round(10*time.Microsecond))
	}
	size := func() (n int64) {
		check(b, s.pool.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&n))
		return n
	}
	sent := 0
	for step := range 10 {
		from, to := step*len(inboxes)/10, (step+1)*len(inboxes)/10
		fmt.Println("created", times(64, to-from, func(i int) error { return s.CreateInbox(ctx, inboxes[from+i], math.MaxInt) }))
		fmt.Println("appended", times(64, total/10, func(i int) error {
			in := inboxes[rand.IntN(to)]
			if i%100 == 0 {
				in = inboxes[0]
			}
			random := rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(step)})
			body := make([]byte, 1024)
			_, _ = random.Read(body) // never fails
			return deliver(ctx, s, in, fmt.Sprintf("%x", body))
		}))
		sent += total / 10
		any := func(do func(in service.Inbox) error) string {
			return times(1, 2000, func(int) error {
				in, err := s.Inbox(ctx, fmt.Sprintf("key_%d", 0), inboxes[rand.IntN(to)/100*100].ID)
				if err != nil {
					return err
				}
				return do(in)
			})
		}
		fmt.Println("one message", any(func(in service.Inbox) error {
			if in.Messages == 0 {
				return nil
			}
			return fortest.Failure(s.Message(ctx, in, uint64(1+rand.IntN(in.Messages))))
		}))
		fmt.Println("a list", any(func(in service.Inbox) error { return fortest.Failure(s.Messages(ctx, in, in.Last+1, 0)) }))
		fmt.Println("an address", any(func(in service.Inbox) error { return fortest.Failure(s.InboxByAddress(ctx, in.Address)) }))
		fmt.Printf("%d messages take %d bytes each\n\n", sent, size()/int64(sent))
	}
	big, err := s.Inbox(ctx, inboxes[0].KeyID, inboxes[0].ID)
	check(b, err)
	fmt.Println("the newest 100 of", big.Messages, times(1, 1, func(int) error { return fortest.Failure(s.Messages(ctx, big, big.Last+1, 100)) }))
	fmt.Println("deleted", times(1, 1, func(int) error { return s.DeleteInbox(ctx, big.KeyID, big.ID) }))
	before, begun, swept := size(), time.Now(), 0
	for more := true; more; {
		some, err := s.Sweep(ctx, now.Add(26*time.Hour), 1000)
		check(b, err)
		swept, more = swept+len(some.Inboxes), len(some.Inboxes) > 0
	}
	fmt.Printf("%d inboxes expired in %v: %d MB became %d MB\n", swept, time.Since(begun).Round(time.Millisecond), before>>20, size()>>20)
}
