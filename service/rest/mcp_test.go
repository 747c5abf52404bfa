package rest_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/rest"
)

// agentAnswers is an MCP server that makes requests and then answers with the key and the body.
func agentAnswers(requests func(ctx context.Context, c *api.Client) error) rest.MCP {
	return func(w http.ResponseWriter, r *http.Request, keyID string, c *api.Client) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = requests(r.Context(), c)
		}
		fmt.Fprint(w, keyID, " ", string(body), " ", err)
	}
}

// /mcp is behind the same gate as the API.
func TestGateOfMCP(t *testing.T) {
	t.Parallel()
	guesses := limits.NewGuesses(5, slog.New(slog.DiscardHandler), "keys")
	srv := newTestServer(t, rest.Options{Guesses: guesses, MCP: agentAnswers(func(context.Context, *api.Client) error { return nil })})
	key, free := srv.key(t, service.Dev), srv.key(t, service.Free)
	for _, c := range []struct {
		name, method, key, body, field string
		status                         int
		answer                         string
	}{
		{"a key", "POST", key, `{"id":1}`, "", 200, `{"id":1}`},
		{"a bearer token", "POST", "", "{}", "Authorization: Bearer " + key, 200, " {} "},
		{"a strange bearer token", "POST", "", "{}", "authorization: bearer  " + key, 200, " {} "},
		{"no body", "GET", key, "", "", 200, "key_"},
		{"another kind of login", "POST", "", "{}", "Authorization: Basic " + key, 401, "API key"},
		{"no key", "GET", "", "", "", 401, "API key"},
		{"a wrong key", "DELETE", "wrong", "", "", 401, "API key"},
		{"a wrong token", "POST", "", "{}", "Authorization: Bearer wrong", 401, "API key"},
		{"the plan free", "GET", free, "", "", 403, "free"},
		{"a batch", "POST", key, `[{"id":1}]`, "", 400, "batches are not supported"},
		{"a batch after blanks", "POST", key, " \r\n\t[", "", 400, "batches are not supported"},
		{"a batch after a BOM", "POST", key, "\ufeff [{}]", "", 400, "batches are not supported"},
		{"a large body", "POST", key, "{" + strings.Repeat(" ", 64<<10) + "}", "", 400, "larger than 65536 bytes"},
		{"another method", "PUT", key, "{}", "", 405, "GET, POST"},
		{"a bearer token elsewhere", "GET /v1/inboxes", "", "", "Authorization: Bearer " + key, 401, "API key"},
	} {
		method, path, elsewhere := strings.Cut(c.method, " ")
		if !elsewhere {
			path = "/mcp"
		}
		var fields []string
		if c.field != "" {
			fields = []string{c.field}
		}
		a := srv.call(t, c.key, method, path, c.body, fields...)
		if a.status != c.status || !strings.Contains(a.body, c.answer) {
			t.Errorf("%s: %d %s", c.name, a.status, a.body)
		}
		scheme := "Bearer"
		if elsewhere {
			scheme = "ApiKey"
		}
		if got := a.header.Get("WWW-Authenticate"); c.status == 401 && got != scheme+` realm="mayfly"` {
			t.Errorf("%s: WWW-Authenticate %q", c.name, got)
		}
	}
	if guesses.Exceeded(netip.MustParsePrefix("127.0.0.1/32"), "x") {
		t.Error("requests without a key, or with that of a plan without access, are guesses")
	}
	for range 3 {
		srv.call(t, "guess", "POST", "/mcp", "{}")
	}
	for _, path := range []string{"/mcp", "/v1/inboxes"} {
		if a := srv.call(t, "mf_another", "GET", path, ""); a.status != 429 || a.header.Get("Retry-After") != "1" {
			t.Errorf("%s after too many wrong keys: %d %s", path, a.status, a.body)
		}
	}
}

// A request of an agent is one of its key, with three requests that its answer takes. Each more counts.
func TestRequestsOfAgentsCount(t *testing.T) {
	t.Parallel()
	takes := 0
	srv := newTestServer(t, rest.Options{MCP: agentAnswers(func(ctx context.Context, c *api.Client) error {
		for range takes {
			if _, err := c.Inboxes(ctx); err != nil {
				return err
			}
		}
		return nil
	})})
	key := srv.key(t, service.Dev)
	left := 60
	for _, c := range []struct{ takes, counted int }{{0, 1}, {1, 1}, {3, 1}, {4, 2}, {23, 21}} {
		takes = c.takes
		if a := srv.call(t, key, "POST", "/mcp", "{}"); a.status != 200 || !strings.HasSuffix(a.body, "<nil>") {
			t.Errorf("%d requests: %d %s", c.takes, a.status, a.body)
		}
		left -= c.counted + 1
		a := srv.call(t, key, "GET", "/v1/inboxes", "")
		if got := a.header.Get("RateLimit"); !strings.Contains(got, fmt.Sprintf(";r=%d;", left)) {
			t.Errorf("after an answer that took %d requests: %q, want %d", c.takes, got, left)
		}
	}
	for takes = 0; left > 0; left-- {
		srv.wants(t, 200, key, "POST", "/mcp", "{}")
	}
	a := srv.call(t, key, "POST", "/mcp", "{}")
	want := `{"error":{"code":429,"message":"Rate limit exceeded; wait ` + a.header.Get("Retry-After") + ` second`
	if a.status != 429 || !strings.HasPrefix(a.body, want) {
		t.Errorf("%d %s, want %s", a.status, a.body, want)
	}
}

// What is done for an agent ends when its request does.
func TestRequestsOfAgentsEndWithTheirs(t *testing.T) {
	t.Parallel()
	var srv *testServer
	failed := make(chan error, 2)
	srv = newTestServer(t, rest.Options{MCP: func(w http.ResponseWriter, r *http.Request, _ string, c *api.Client) {
		poll := func() error {
			_, err := c.Background().PollInboxes(context.Background(), api.Poll{ETag: "*", Wait: 50 * time.Second})
			return err
		}
		go func() { failed <- poll(); failed <- poll() }()
		for srv.server.LongPolls() == 0 {
			time.Sleep(time.Millisecond)
		}
	}})
	srv.wants(t, 200, srv.key(t, service.Dev), "POST", "/mcp", "{}")
	if n := srv.server.LongPolls(); n != 0 {
		t.Errorf("%d long polls go on", n)
	}
	for range 2 {
		if err := <-failed; err == nil {
			t.Error("a request went on")
		}
	}
}

// A message for an agent takes of the memory for large answers until its request ends.
func TestLargeMessagesForAgents(t *testing.T) {
	t.Parallel()
	large := limits.NewMemory(64 << 20)
	path := make(chan string, 1)
	srv := newTestServer(t, rest.Options{Large: large, MCP: agentAnswers(func(ctx context.Context, c *api.Client) error {
		ids := strings.Split(<-path, "/")
		raw, err := c.Raw(ctx, ids[3], ids[5])
		if size := int64(len(raw)); err != nil || large.Used() < 8*size {
			return fmt.Errorf("%d bytes for %d: %w", large.Used(), size, err)
		}
		used := large.Used()
		for range 10 { // a wait looks at one after the other
			if _, err := c.Message(ctx, ids[3], ids[5]); err != nil || large.Used() != used {
				return fmt.Errorf("%d bytes after one more, %d before: %w", large.Used(), used, err)
			}
		}
		return nil
	})})
	key := srv.key(t, service.Dev)
	_, p := srv.newMessage(t, key, "Subject: large\r\n\r\n"+strings.Repeat("a line of a large message\r\n", 50_000))
	path <- p
	if a := srv.call(t, key, "POST", "/mcp", "{}"); !strings.HasSuffix(a.body, "<nil>") {
		t.Error(a.body)
	}
	if n := large.Used(); n != 0 {
		t.Errorf("%d bytes are still used", n)
	}
}
