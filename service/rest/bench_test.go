package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

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
// only writes the same status, header and bytes. The ratio of ours to bare is what counts.
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
	single := srv.newInbox(b, key)
	srv.deliver(b, single.Email, mail)

	for _, test := range []struct {
		name, path string
		fields     []string
	}{
		{"list-1", single.path() + "/messages", nil},
		{"list-100", in.path() + "/messages", nil},
		{"304", in.path() + "/messages", []string{"If-None-Match: " + list.header.Get("ETag")}},
		{"message", in.path() + "/messages/" + id, nil},
		{"raw", in.path() + "/messages/" + id, []string{"Accept: message/rfc822"}},
		{"inbox", in.path(), nil},
	} {
		same := srv.call(b, key, "GET", test.path, "", test.fields...)
		b.Run(test.name+"/ours", func(b *testing.B) { load(b, srv.base, test.path, append(test.fields, "X-API-Key: "+key), same) })
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
			load(b, "http://"+l.Addr().String(), test.path, append(test.fields, "X-API-Key: "+key), same)
		})
	}
}

// load makes b.N requests over 16 connections. The client costs next to nothing: it writes a
// prepared request, and of the answer it reads only the status and the length.
func load(b *testing.B, base, path string, fields []string, want answer) {
	host := strings.TrimPrefix(base, "http://")
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n", path, host, strings.Join(fields, "\r\n"))
	length := int64(len(want.body))
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error)
	b.ReportAllocs()
	b.ResetTimer()
	const connections = 16
	for range connections {
		go func() {
			c, err := net.Dial("tcp", host)
			if err != nil {
				done <- err
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			for left.Add(-1) >= 0 {
				if _, err := io.WriteString(c, request); err != nil {
					done <- err
					return
				}
				if err := skipAnswer(r, want.status, length); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range connections {
		must(b, <-done)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// skipAnswer reads an answer with a known status and length of the body.
func skipAnswer(r *bufio.Reader, status int, length int64) error {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !strings.Contains(string(line), fmt.Sprintf(" %d ", status)) {
		return fmt.Errorf("answered %s", line)
	}
	for len(line) > 2 {
		if line, err = r.ReadSlice('\n'); err != nil {
			return err
		}
	}
	_, err = io.CopyN(io.Discard, r, length)
	return err
}

// BenchmarkLongPolls measures the memory of a long poll, and how long a delivery takes to answer one
// among many. The client's end of each connection is in the same process and counted too.
func BenchmarkLongPolls(b *testing.B) {
	const n = 5000
	options := rest.Options{MaxLongPollsPerKey: n + 1, Log: slog.New(slog.DiscardHandler)}
	srv := newTestServerFor(b, options, func(s *service.Service) rest.Service { return unlimited{s} })
	key := srv.key(b, service.Enterprise)
	host := strings.TrimPrefix(srv.base, "http://")
	inboxes := make([]inbox, 100)
	for i := range inboxes {
		inboxes[i] = srv.newInbox(b, key)
	}
	before := memory()
	conns := make([]net.Conn, n)
	for i := range conns {
		in := inboxes[i%len(inboxes)]
		c, err := net.Dial("tcp", host)
		must(b, err)
		defer c.Close()
		conns[i] = c
		startPoll(b, c, host, key, in.path()+"/messages", "*")
	}
	for srv.server.LongPolls() < n {
		runtime.Gosched()
	}
	cost := float64(memory()-before) / n

	in := srv.newInbox(b, key)
	c, err := net.Dial("tcp", host)
	must(b, err)
	defer c.Close()
	r := bufio.NewReader(c)
	for b.Loop() {
		startPoll(b, c, host, key, in.path()+"/messages?limit=1", "*")
		for srv.server.LongPolls() < n+1 {
			runtime.Gosched()
		}
		srv.deliver(b, in.Email, "Subject: now\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		must(b, err)
		must(b, failure(io.Copy(io.Discard, resp.Body)))
	}
	b.ReportMetric(cost, "bytes/request")
}

func startPoll(b *testing.B, c net.Conn, host, key, path, etag string) {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nIf-None-Match: %s\r\nPrefer: wait=60\r\n\r\n", path, host, key, etag)
	must(b, err)
}

// memory returns how many bytes the process uses once the garbage is collected.
func memory() uint64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
