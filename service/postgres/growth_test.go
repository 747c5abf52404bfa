package postgres

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

const growthCallers = 64

// growth is a database that grows. Its time is simulated, so that inboxes expire without waiting.
type growth struct {
	b       *testing.B
	store   *Store
	now     time.Time
	inboxes []service.Inbox
	counts  []int // of their messages
	big     service.Inbox
	mu      sync.Mutex
}

func grow(b *testing.B, url string, total int) {
	s, err := Open(b.Context(), url, Options{})
	check(b, err)
	defer s.Close()
	g := &growth{b: b, store: s, now: time.Now().UTC().Truncate(time.Millisecond)}
	g.big = g.inbox(0)
	g.big.ID, g.big.Address, g.big.ExpiresAt = "inbox_big", "big@x.test", g.now.Add(time.Hour)
	check(b, s.CreateInbox(b.Context(), g.big, math.MaxInt))
	fmt.Println("messages  inboxes  created/s  appended/s  append p50 p99   get p50 p99    list p50 p99   address p50 p99   bytes a message")
	for step := range 10 {
		created := g.create(total / 100)
		appended, appends := g.append(total/10, step*total/10)
		get := g.measure(func(ctx context.Context, in service.Inbox, count int) error {
			_, err := s.Message(ctx, in, uint64(1+rand.IntN(count)))
			return err
		})
		list := g.measure(func(ctx context.Context, in service.Inbox, _ int) error {
			in, err := s.Inbox(ctx, in.KeyID, in.ID)
			if err == nil {
				_, err = s.Messages(ctx, in, uint64(in.Messages)+1, 0)
			}
			return err
		})
		address := g.measure(func(ctx context.Context, in service.Inbox, _ int) error {
			_, err := s.InboxByAddress(ctx, in.Address)
			return err
		})
		fmt.Printf("%8d %8d %10.0f %11.0f  %s  %s  %s  %s  %d\n", (step+1)*total/10, len(g.inboxes), created, appended,
			appends, get, list, address, g.size()/int64((step+1)*total/10))
	}
	g.end()
}

// inbox returns inbox n, which belongs to one of many keys. Four of five live for hours, the others
// for days.
func (g *growth) inbox(n int) service.Inbox {
	life := time.Duration(1+n%24) * time.Hour
	if n%5 == 0 {
		life = time.Duration(2+n/5%29) * 24 * time.Hour
	}
	return service.Inbox{
		ID: fmt.Sprintf("inbox_%026d", n), KeyID: fmt.Sprintf("key_%d", n%100), Address: fmt.Sprintf("%d@x.test", n),
		CreatedAt: g.now, ExpiresAt: g.now.Add(life),
	}
}

// callers calls work n times with many concurrent callers, and returns the rate per second and the
// time of each call.
func (g *growth) callers(n int, work func(i int) error) (float64, times) {
	var wg sync.WaitGroup
	took := make(times, n)
	begun := time.Now()
	for c := range growthCallers {
		wg.Go(func() {
			for i := c; i < n; i += growthCallers {
				began := time.Now()
				if err := work(i); err != nil {
					g.b.Error(err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	slices.Sort(took)
	return float64(n) / time.Since(begun).Seconds(), took
}

// times are in ascending order.
type times []time.Duration

func (t times) String() string {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("%6.2f %6.2f ms", ms(t[len(t)/2]), ms(t[len(t)*99/100]))
}

func (g *growth) create(n int) float64 {
	from := len(g.inboxes)
	for i := range n {
		g.inboxes = append(g.inboxes, g.inbox(from+i))
		g.counts = append(g.counts, 0)
	}
	rate, _ := g.callers(n, func(i int) error { return g.store.CreateInbox(g.b.Context(), g.inboxes[from+i], math.MaxInt) })
	return rate
}

// append delivers n messages: one in a hundred to the big inbox, the others to any.
func (g *growth) append(n, seed int) (float64, times) {
	return g.callers(n, func(i int) error {
		in := g.big
		if i%100 != 0 {
			at := rand.IntN(len(g.inboxes))
			in = g.inboxes[at]
			g.mu.Lock()
			g.counts[at]++
			g.mu.Unlock()
		}
		return g.store.Append(g.b.Context(), service.Append{Received: g.now, Raw: mailText(seed + i), Messages: []service.NewMessage{{
			KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 30, To: in.Address,
			From: "no-reply@sender.example", FromName: "Some Sender", Subject: "Confirm your e-mail address",
		}}})
	})
}

// measure times calls for inboxes that have messages, one after the other.
func (g *growth) measure(what func(ctx context.Context, in service.Inbox, count int) error) times {
	var took times
	for len(took) < 2000 {
		at := rand.IntN(len(g.inboxes))
		if g.counts[at] == 0 {
			continue
		}
		began := time.Now()
		if err := what(g.b.Context(), g.inboxes[at], g.counts[at]); err != nil {
			g.b.Error(err)
			return times{0}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

// size returns the bytes of the database on disk.
func (g *growth) size() int64 {
	var n int64
	if err := g.store.pool.QueryRow(g.b.Context(), "SELECT pg_database_size(current_database())").Scan(&n); err != nil {
		g.b.Error(err)
	}
	return n
}

// end measures how everything is removed.
func (g *growth) end() {
	ctx := g.b.Context()
	in, err := g.store.Inbox(ctx, g.big.KeyID, g.big.ID)
	check(g.b, err)
	began := time.Now()
	if _, err := g.store.Messages(ctx, in, uint64(in.Messages)+1, 100); err != nil {
		g.b.Error(err)
	}
	fmt.Printf("an inbox of %d messages: its newest 100 in %v,", in.Messages, time.Since(began))
	began = time.Now()
	if err := g.store.DeleteInbox(ctx, in.KeyID, in.ID); err != nil {
		g.b.Error(err)
	}
	fmt.Printf(" deleted in %v\n", time.Since(began))
	before, began, swept := g.size(), time.Now(), 0
	for {
		some, err := g.store.Sweep(ctx, g.now.Add(26*time.Hour), 1000)
		check(g.b, err)
		if swept += len(some.Inboxes); len(some.Inboxes) == 0 {
			break
		}
	}
	fmt.Printf("%d inboxes expired and their slots were dropped in %v: %d MB became %d MB\n",
		swept, time.Since(began).Round(time.Millisecond), before>>20, g.size()>>20)
}

// mailText returns a message of 2 KB that compresses about as well as mail does.
func mailText(n int) []byte {
	var t strings.Builder
	r := rand.New(rand.NewPCG(uint64(n), 1))
	fmt.Fprintf(&t, "From: Some Sender <no-reply@sender.example>\r\nSubject: Confirm your e-mail address\r\nMessage-ID: <%x@sender.example>\r\n\r\n", r.Uint64())
	words := strings.Fields("the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also did many off before must well back through years where much your way down should because long each just state those people too mr how little good world make very year still see own work men day get here old life both between being under three never know same last another while us off might great go come since against right came take used himself few house use place during high without again home around small however found mrs part school every")
	for t.Len() < 2046 {
		if r.IntN(12) == 0 {
			fmt.Fprintf(&t, "%x ", r.Uint32())
			continue
		}
		t.WriteString(words[r.IntN(len(words))] + " ")
	}
	return append([]byte(t.String()[:2046]), "\r\n"...)
}
