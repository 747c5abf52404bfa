package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/internal/fortest"
	"mayfly/internal/server"
	"mayfly/service/postgres/pgtest"
)

type hook struct {
	Type, Timestamp string
	Data            struct {
		KeyID   string `json:"key_id"`
		InboxID string `json:"inbox_id"`
		To      string
		Message json.RawMessage
	}
}

type hooks struct {
	t    *testing.T
	mu   sync.Mutex
	file string // with the secret
	got  []hook
}

func (h *hooks) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
	}
	var got hook
	if err := json.Unmarshal(body, &got); err != nil || !strings.Contains(string(got.Data.Message), `"`+r.Header.Get("webhook-id")+`"`) {
		h.t.Errorf("%v in %s", err, body)
	}
	h.got = append(h.got, got)
}

func withWebhooks(t *testing.T, c *server.Config) *hooks {
	t.Helper()
	c.WebhookSecretFile = filepath.Join(t.TempDir(), "secret")
	h := &hooks{t: t, file: c.WebhookSecretFile}
	receiver := httptest.NewServer(h)
	t.Cleanup(receiver.Close)
	c.WebhookURL = receiver.URL + "/hook?token=hidden"
	return h
}

// The receiver is told of each message in each inbox, once, in the words of the API.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(testing.TB) string{
		"folder":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "store") },
		"PostgreSQL": pgtest.Database,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.Store, c.CatchAll, c.KeyFile = store(t), true, filepath.Join(t.TempDir(), "key")
			h := withWebhooks(t, &c)
			s := start(t, c)
			servers := []*server.Server{s}
			if name == "PostgreSQL" { // each process tells what it took itself
				servers = append(servers, start(t, c))
			}
			var owners []*api.Client
			for _, name := range []string{"one", "two"} {
				owner := newClient(t, s)
				must(t, fortest.Failure(owner.CreateInbox(t.Context(), api.CreateInbox{Username: name})))
				owners = append(owners, owner)
			}
			hostile := "From: =?utf-8?q?=1B[31m=E2=80=AE?= <a@b.example>\r\nSubject: <b>\xff\x1b]0;x\x07 =?utf-8?q?=01=0D=0A?= \u2028\r\n\r\nx\r\n"
			for _, s := range servers {
				must(t, smtp.SendMail(s.SMTPAddr(), nil, "from@sender.example", []string{"one@one.test", "one@one.test", "two+tag@one.test"}, []byte(hostile)))
				must(t, send(s.SMTPAddr(), "one@one.test", "second"))
				must(t, send(s.SMTPAddr(), "New@anywhere.test", "caught"))
			}
			want := map[string]bool{} // by inbox, recipient and JSON
			recipients := []string{"one@one.test", "two+tag@one.test", "new@anywhere.test"}
			for i, owner := range append(owners, client(t, s, s.Key())) {
				inboxes, err := owner.Inboxes(t.Context())
				must(t, err)
				if len(inboxes.Inboxes) != 1 {
					t.Fatalf("%s has %+v", recipients[i], inboxes)
				}
				list, err := owner.Messages(t.Context(), inboxes.Inboxes[0].ID)
				must(t, err)
				for _, m := range list.Messages {
					want[inboxes.Inboxes[0].ID+" "+recipients[i]+" "+canonical(t, m.Raw)] = true
				}
			}
			for _, s := range servers { // which sends what is left
				must(t, s.Shutdown(context.Background()))
			}
			if len(h.got) != 4*len(servers) || len(want) != len(h.got) {
				t.Errorf("there are %d requests for %d messages", len(h.got), len(want))
			}
			for _, got := range h.got {
				m := canonical(t, got.Data.Message)
				if key := got.Data.InboxID + " " + got.Data.To + " " + m; !want[key] {
					t.Errorf("%s is not in\n%v", key, want)
				}
				if got.Type != "message.received" || !strings.Contains(m, got.Timestamp) || !strings.HasPrefix(got.Data.KeyID, "key_") {
					t.Errorf("the payload is %+v", got)
				}
			}
		})
	}
}

// canonical returns JSON with its escapes as json.Marshal writes them.
func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var v any
	must(t, json.Unmarshal(data, &v))
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func TestNoWebhookForThePostmaster(t *testing.T) {
	t.Parallel()
	c := config(t)
	h := withWebhooks(t, &c)
	s := start(t, c)
	_, in := newInbox(t, s)
	must(t, smtp.SendMail(s.SMTPAddr(), nil, "a@b.example", []string{"postmaster", in.Address}, []byte("Subject: both\r\n\r\nx\r\n")))
	must(t, send(s.SMTPAddr(), "postmaster@one.test", "for the operator"))
	must(t, s.Shutdown(context.Background()))
	if len(h.got) != 1 || h.got[0].Data.To != in.Address {
		t.Errorf("the receiver got %+v", h.got)
	}
}

// The metrics can be read until the last webhook is sent.
func TestMetricsOfAServerThatStops(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Metrics = "127.0.0.1:0"
	withWebhooks(t, &c)
	requested, answer := make(chan bool), make(chan bool)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		requested <- true
		<-answer
	}))
	t.Cleanup(receiver.Close)
	c.WebhookURL = receiver.URL
	s := start(t, c)
	_, in := newInbox(t, s)
	must(t, send(s.SMTPAddr(), in.Address, "told"))
	<-requested
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	for _, addr := range []string{s.HTTPAddr(), s.SMTPAddr()} {
		for refused := false; !refused; time.Sleep(10 * time.Millisecond) {
			conn, err := net.Dial("tcp", addr)
			if refused = err != nil; !refused {
				conn.Close()
			}
		}
	}
	_, metrics := get(t, http.DefaultClient, "http://"+s.Addr("metrics")+"/metrics")
	for _, want := range []string{"mayfly_webhook_sent_total 0\n", "mayfly_webhook_failed_requests_total 0\n", "mayfly_webhook_dropped_total 0\n", "mayfly_webhook_queue 1\n"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("there is no %q in\n%s", want, metrics)
		}
	}
	close(answer)
	must(t, <-stopped)
}

func TestWebhookSecretFile(t *testing.T) {
	t.Parallel()
	c := config(t)
	h := withWebhooks(t, &c)
	must(t, start(t, c).Shutdown(t.Context()))
	first, err := os.ReadFile(h.file)
	must(t, err)
	info, err := os.Stat(h.file)
	must(t, err)
	if !strings.HasPrefix(string(first), "whsec_") || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("the file is %q, %v", first, info.Mode())
	}
	must(t, start(t, c).Shutdown(t.Context()))
	if again, err := os.ReadFile(h.file); err != nil || !slices.Equal(first, again) {
		t.Errorf("the file is %q now, %v", again, err)
	}
	for text, want := range map[string]string{"": "is empty", "hunter2\n": "a webhook secret is whsec_"} {
		write(t, h.file, text, 0o600)
		if _, err := server.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), h.file) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("with %q: %v", text, err)
		}
		if left, err := os.ReadFile(h.file); err != nil || string(left) != text {
			t.Errorf("the file is %q now, %v", left, err)
		}
	}
}
