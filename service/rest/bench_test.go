package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/rest"
)

// unlimited counts requests and lets all of them through.
type unlimited struct{ *service.Service }

func (u unlimited) Allow(ctx context.Context, k service.Key) (service.Quota, error) {
	q, err := u.Service.Allow(ctx, k)
	if service.ErrorCode(err) == service.RateLimited {
		err = nil
	}
	return q, err
}

// BenchmarkGet compares the answers of the API, over real connections, with those of a handler that
// only writes the same status, header and bytes. The ratio of ours to bare is what counts. Those of "read once" are of
// more messages than any cache holds, in turn.
func BenchmarkGet(b *testing.B) {
	srv := newTestServerFor(b, rest.Options{Log: slog.New(slog.DiscardHandler)}, func(s *service.Service) rest.Service { return unlimited{s} })
	key := srv.key(b, service.Enterprise)
	in := srv.newInbox(b, key)
	mail := strings.Replace(sampleMail, "Your code", strings.Repeat("All work and no play makes Jack a dull boy.\r\n", 40)+"Your code", 1)
	for range 100 {
		srv.deliver(b, in.Email, mail)
	}
	list := srv.call(b, key, "GET", in.path()+"/messages", "")
	id := decode[messages](b, list, http.StatusOK).Messages[0].ID
	single, many := srv.newInbox(b, key), srv.newInbox(b, key)
	srv.deliver(b, single.Email, mail)
	to, err := srv.service.Recipient(b.Context(), "", many.Email)
	must(b, err)
	var delivering errgroup.Group
	delivering.SetLimit(64)
	for range 10_000 {
		delivering.Go(func() error {
			return srv.service.Deliver(b.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte(mail)})
		})
	}
	must(b, delivering.Wait())
	var once []string
	for _, m := range get[messages](b, srv, key, many.path()+"/messages").Messages {
		once = append(once, many.path()+"/messages/"+m.ID)
	}

	for _, test := range []struct {
		name   string
		paths  []string
		fields []string
	}{
		{"list-1", []string{single.path() + "/messages"}, nil},
		{"list-100", []string{in.path() + "/messages"}, nil},
		{"304", []string{in.path() + "/messages"}, []string{"If-None-Match: " + list.header.Get("ETag")}},
		{"message", []string{in.path() + "/messages/" + id}, nil},
		{"message-read-once", once, nil},
		{"raw", []string{in.path() + "/messages/" + id}, []string{"Accept: message/rfc822"}},
		{"raw-read-once", once, []string{"Accept: message/rfc822"}},
		{"inbox", []string{in.path()}, nil},
	} {
		same := srv.call(b, key, "GET", test.paths[0], "", test.fields...)
		b.Run(test.name+"/ours", func(b *testing.B) { load(b, srv.base, test.paths, append(test.fields, "X-API-Key: "+key), same) })
		b.Run(test.name+"/bare", func(b *testing.B) {
			bare := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for name, values := range same.header {
					w.Header()[name] = values
				}
				w.WriteHeader(same.status)
				_, _ = io.WriteString(w, same.body)
			})}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(b, err)
			go func() { _ = bare.Serve(l) }()
			defer bare.Close()
			load(b, "http://"+l.Addr().String(), test.paths, append(test.fields, "X-API-Key: "+key), same)
		})
	}
}

// load makes b.N requests, of each path in turn, over 16 connections. The client costs next to nothing: it writes a
// prepared request, and of the answer it reads only the status and the length.
func load(b *testing.B, base string, paths, fields []string, want answer) {
	host := strings.TrimPrefix(base, "http://")
	requests := make([]string, len(paths))
	for i, path := range paths {
		requests[i] = fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, host, strings.Join(fields, "\r\n"))
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var clients errgroup.Group
	b.ReportAllocs()
	b.ResetTimer()
	for range 16 {
		clients.Go(func() error {
			c, err := net.Dial("tcp", host)
			if err != nil {
				return err
			}
			defer c.Close()
			r := bufio.NewReader(c)
			for n := left.Add(-1); n >= 0 && err == nil; n = left.Add(-1) {
				if _, err = io.WriteString(c, requests[n%int64(len(requests))]); err == nil {
					err = skipAnswer(r, want.status)
				}
			}
			return err
		})
	}
	must(b, clients.Wait())
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

func skipAnswer(r *bufio.Reader, status int) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !strings.Contains(string(line), fmt.Sprintf(" %d ", status)) {
		return fmt.Errorf("answered %s", line)
	}
	length := int64(0)
	for len(line) > 2 {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(n)), 10, 64); err != nil {
				return err
			}
		}
	}
	_, err = io.CopyN(io.Discard, r, length)
	return err
}

// BenchmarkPageOfInboxes reads pages of the list of 100,000 inboxes, all over it, while nothing happens and while
// mail arrives in all of them.
func BenchmarkPageOfInboxes(b *testing.B) {
	const n = 100_000
	srv := newTestServerFor(b, rest.Options{Log: slog.New(slog.DiscardHandler)}, func(s *service.Service) rest.Service { return unlimited{s} })
	secret, key, err := srv.service.CreateKey(b.Context(), "", service.Enterprise)
	must(b, err)
	var creating errgroup.Group
	for range 16 {
		creating.Go(func() (err error) {
			for i := 0; err == nil && i < n/16; i++ {
				_, err = srv.service.CreateInbox(b.Context(), key, service.NewInbox{})
			}
			return err
		})
	}
	must(b, creating.Wait())
	var pages []string
	var all []service.Inbox
	for len(all) < n {
		p := service.Page{}
		query := ""
		if len(all) > 0 {
			p.After = all[len(all)-1].ID
			query = "?after=" + p.After
		}
		list, err := srv.service.Inboxes(b.Context(), key, p)
		must(b, err)
		all, pages = append(all, list.Inboxes...), append(pages, "/v1/inboxes"+query)
	}
	read := func(b *testing.B) {
		var times []time.Duration
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			r, err := http.NewRequestWithContext(b.Context(), "GET", srv.base+pages[i*37%len(pages)], nil)
			must(b, err)
			r.Header.Set("X-API-Key", secret)
			answer, err := http.DefaultClient.Do(r)
			must(b, err)
			must(b, fortest.Failure(io.Copy(io.Discard, answer.Body)))
			must(b, answer.Body.Close())
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
	}
	b.Run("quiet", read)
	b.Run("mail", func(b *testing.B) {
		var delivering errgroup.Group
		var stop atomic.Bool
		var sent atomic.Int64
		for w := range 8 {
			delivering.Go(func() (err error) {
				for i := w; err == nil && !stop.Load(); i += 8 {
					to := service.Recipient{}
					if to, err = srv.service.Recipient(b.Context(), "", all[i*7919%n].Address); err == nil {
						err = srv.service.Deliver(b.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte(sampleMail)})
					}
					sent.Add(1)
				}
				return nil // the day's messages may be used up
			})
		}
		read(b)
		stop.Store(true)
		must(b, delivering.Wait())
		b.ReportMetric(float64(sent.Load())/b.Elapsed().Seconds(), "mails/s")
	})
}
