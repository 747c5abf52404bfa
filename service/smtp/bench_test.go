package smtp

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mayfly/service"
)

// BenchmarkIngest sends mails over 64 connections, many on each, to a service that discards them.
// It measures the server and the client.
func BenchmarkIngest(b *testing.B) {
	for _, size := range []int{2 << 10, 50 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(b, err)
			s, err := New(discard{}, Options{Limits: Limits{MaxMessages: 1 << 40}})
			must(b, err)
			var served sync.WaitGroup
			served.Go(func() { s.Serve(l) })
			defer served.Wait()
			defer s.Shutdown(context.Background())

			text := strings.Repeat("A line of a mail, of the usual length of a line of a mail.\r\n", size/60) + ".\r\n"
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var clients sync.WaitGroup
			for range 64 {
				clients.Go(func() {
					if err := sendMails(l.Addr().String(), text, &left); err != nil {
						b.Error(err)
					}
				})
			}
			clients.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "mails/s")
		})
	}
}

type discard struct{}

func (discard) Recipient(_ context.Context, address string) (service.Recipient, error) {
	return service.Recipient{Address: address}, nil
}

func (discard) Deliver(context.Context, service.Delivery) error { return nil }

// sendMails sends mails on one connection until none are left.
func sendMails(address, text string, left *atomic.Int64) error {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer nc.Close()
	r := bufio.NewReader(nc)
	step := func(send []byte, want string) error {
		if _, err := nc.Write(send); err != nil {
			return err
		}
		line, err := r.ReadSlice('\n')
		if err == nil && !strings.HasPrefix(string(line), want) {
			err = fmt.Errorf("got %q, want %q", line, want)
		}
		return err
	}
	if err := step(nil, "220"); err != nil {
		return err
	}
	if err := step([]byte("HELO me\r\n"), "250"); err != nil {
		return err
	}
	mail := [...]struct {
		send []byte
		want string
	}{{[]byte("MAIL FROM:<x@y.test>\r\n"), "250"}, {[]byte("RCPT TO:<a@box.test>\r\n"), "250"}, {[]byte("DATA\r\n"), "354"}, {[]byte(text), "250"}}
	for left.Add(-1) >= 0 {
		for _, s := range mail {
			if err := step(s.send, s.want); err != nil {
				return err
			}
		}
	}
	return nil
}
