package pebble

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/service"
)

func openBenchmark(b *testing.B) *Store {
	b.Helper()
	s, err := Open(b.TempDir(), Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func benchmarkInbox(b *testing.B, s *Store, i int) service.Inbox {
	b.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	in := service.Inbox{
		ID: fmt.Sprintf("inbox_%026d", i), KeyID: "key_a", Address: fmt.Sprintf("in%d@x.test", i),
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(i)*time.Millisecond + time.Hour),
	}
	if err := s.CreateInbox(b.Context(), in); err != nil {
		b.Fatal(err)
	}
	return in
}

func delivery(in service.Inbox, raw []byte) service.Append {
	return service.Append{Received: in.CreatedAt, Raw: raw, Messages: []service.NewMessage{{
		KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 40, To: in.Address,
		From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address",
	}}}
}

// mailText returns a body that compresses about as well as mail does.
func mailText(size int) []byte {
	b := make([]byte, size)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = "abcdefghijklmnop qrstuvwxyz=\r\n0123456789ABCDEFGHIJKLMNOPQRSTUVWX"[x>>26]
	}
	return b
}

// BenchmarkAppend measures durable deliveries by 64 callers at once into 1,000 inboxes.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{2 << 10, 50 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			s := openBenchmark(b)
			var inboxes []service.Inbox
			for i := range 1000 {
				inboxes = append(inboxes, benchmarkInbox(b, s, i))
			}
			raw := mailText(size)
			var n atomic.Uint64
			b.SetBytes(int64(size))
			b.SetParallelism(32) // times two cores
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					in := inboxes[n.Add(1)%uint64(len(inboxes))]
					if err := s.Append(b.Context(), delivery(in, raw)); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "mails/s")
		})
	}
}

// BenchmarkAddress measures finding the inbox of an address while mails arrive.
func BenchmarkAddress(b *testing.B) {
	s := openBenchmark(b)
	var inboxes []service.Inbox
	for i := range 1000 {
		inboxes = append(inboxes, benchmarkInbox(b, s, i))
	}
	raw := mailText(2 << 10)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 16 {
		writers.Go(func() {
			for i := w; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Append(b.Context(), delivery(inboxes[i%len(inboxes)], raw)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.InboxByAddress(b.Context(), inboxes[i%len(inboxes)].Address); err != nil {
			b.Fatal(err)
		}
	}
	close(stop)
	writers.Wait()
}
