package pebble

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/service"
)

func benchmarkInbox(b *testing.B, s *Store, i int) service.Inbox {
	b.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	in := service.Inbox{
		ID: fmt.Sprintf("inbox_%026d", i), KeyID: "key_a", Address: fmt.Sprintf("in%d@x.test", i),
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(i)*time.Millisecond + time.Hour),
	}
	must(b, s.CreateInbox(b.Context(), in, math.MaxInt))
	return in
}

func delivery(in service.Inbox, raw []byte) service.Append {
	return service.Append{Received: in.CreatedAt, Raw: raw, Messages: []service.NewMessage{{
		KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 40, To: in.Address,
		From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", Delivery: came,
	}}}
}

// came is as long as what the service says of a usual mail.
var came = bytes.Repeat([]byte("x"), 250)

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

// appendMany makes n deliveries by 64 callers, each to the inbox that comes step places behind the last one.
func appendMany(b *testing.B, s *Store, inboxes []service.Inbox, raw []byte, step, n int) {
	b.Helper()
	var next atomic.Int64
	var writers sync.WaitGroup
	for range 64 {
		writers.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := s.Append(b.Context(), delivery(inboxes[i*step%len(inboxes)], raw)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}

// BenchmarkGrowth measures a delivery and reading the inbox and its newest page as the inbox and
// the store grow.
func BenchmarkGrowth(b *testing.B) {
	for _, size := range []struct{ inboxes, messages int }{
		{1, 0}, {1, 10_000}, {1, 100_000}, {1_000, 100_000}, {100_000, 0}, {100_000, 1_000_000},
	} {
		b.Run(fmt.Sprintf("inboxes=%d/messages=%d", size.inboxes, size.messages), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), Options{Log: slog.New(slog.DiscardHandler)})
			b.Cleanup(func() { must(b, s.Close()) })
			inboxes := make([]service.Inbox, size.inboxes)
			var creators sync.WaitGroup
			for w := range 64 {
				creators.Go(func() {
					for i := w; i < len(inboxes); i += 64 {
						inboxes[i] = benchmarkInbox(b, s, i)
					}
				})
			}
			creators.Wait()
			appendMany(b, s, inboxes, mailText(200), 1, size.messages)
			raw := mailText(2 << 10)
			b.Run("append", func(b *testing.B) { appendMany(b, s, inboxes, raw, 7919, b.N) })
			b.Run("inbox", func(b *testing.B) {
				for i := 0; b.Loop(); i += 7919 {
					in := inboxes[i%len(inboxes)]
					_, err := s.Inbox(b.Context(), in.KeyID, in.ID)
					must(b, err)
				}
			})
			b.Run("page", func(b *testing.B) {
				for i := 0; b.Loop(); i += 7919 {
					in, err := s.Inbox(b.Context(), "key_a", inboxes[i%len(inboxes)].ID)
					must(b, err)
					_, err = s.Messages(b.Context(), in, uint64(in.Messages)+1, 50)
					must(b, err)
				}
			})
		})
	}
}
