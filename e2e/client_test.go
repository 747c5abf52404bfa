//go:build unix

package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// client is a user of the API with a key. It shares no code with Mayfly's own client.
type client struct {
	t       testing.TB
	base    string
	key     string
	inboxes map[string]string // IDs by address
}

func newClient(t testing.TB, base, key string) *client {
	return &client{t, base, key, map[string]string{}}
}

// at returns the same client for another process.
func (c *client) at(base string) *client { return &client{c.t, base, c.key, c.inboxes} }

// answer is the answer to a request. Its status is 0 if there was none.
type answer struct {
	status     int
	retryAfter string
	body       string
	took       time.Duration
}

// answerTimeout is how long a client waits for an answer. It is more than [answerBound], so that
// what takes too long fails a test with the time it took, and what hangs does not hang the test.
const answerTimeout = 40 * time.Second

var httpClient = &http.Client{Timeout: answerTimeout}

func (c *client) request(method, path, body string) answer {
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return answer{}
	}
	request.Header.Set("X-API-Key", c.key)
	started := time.Now()
	response, err := httpClient.Do(request)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(started)}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{body: err.Error(), took: time.Since(started)}
	}
	return answer{response.StatusCode, response.Header.Get("Retry-After"), string(text), time.Since(started)}
}

// wants makes a request, which must be answered with a status.
func (c *client) wants(status int, method, path, body string) {
	c.t.Helper()
	if a := c.request(method, path, body); a.status != status {
		c.t.Errorf("%s: %s %s: %d, want %d: %s", c.base, method, path, a.status, status, a.body)
	}
}

// getJSON decodes what is at path, which must exist.
func (c *client) getJSON(path string, v any) {
	c.t.Helper()
	a := c.request(http.MethodGet, path, "")
	if a.status != http.StatusOK {
		c.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	must(c.t, json.Unmarshal([]byte(a.body), v))
}

// createInbox creates an inbox and returns its address.
func (c *client) createInbox(username string) string {
	c.t.Helper()
	a := c.request(http.MethodPost, "/v1/inboxes", `{"username":"`+username+`"}`)
	var in struct{ ID, Email string }
	if err := json.Unmarshal([]byte(a.body), &in); a.status != http.StatusCreated || err != nil {
		c.t.Fatalf("creating %s: %d %s, %v", username, a.status, a.body, err)
	}
	c.inboxes[in.Email] = in.ID
	return in.Email
}

// waitUntilUnavailable waits until the process answers 503: it may notice a little later than
// another that its database is gone. Every answer until then has to come in time.
func (c *client) waitUntilUnavailable() {
	c.t.Helper()
	eventually(c.t, "GET /v1/inboxes answers 503", func() bool {
		a := c.request(http.MethodGet, "/v1/inboxes", "")
		if a.took > answerBound {
			c.t.Errorf("%d after %v, %s", a.status, a.took, a.body)
		}
		if a.status == http.StatusServiceUnavailable && a.retryAfter == "" {
			c.t.Errorf("503 without Retry-After: %s", a.body)
		}
		return a.status == http.StatusServiceUnavailable
	})
}

// conditionTimeout is how long a test waits for a condition before it fails.
const conditionTimeout = time.Minute

// eventually waits until a condition holds. It is for conditions that nothing announces.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(conditionTimeout)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("after %v it is still not true that %s", conditionTimeout, what)
		}
	}
}
