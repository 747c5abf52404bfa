//go:build unix

package e2e

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"), "--mcp")
	key := m.key(s.store, "dev")
	call := func(key, session, body string) (int, string, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.rest+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"X-API-Key": key, "Mcp-Session-Id": session, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		} {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header.Get("Mcp-Session-Id"), string(text)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if status, _, body := call("mf_wrong", "", hello); status != http.StatusUnauthorized {
		t.Errorf("a wrong key gets %d: %s", status, body)
	}
	status, session, body := call(key, "", hello)
	if status != http.StatusOK || session == "" {
		t.Fatalf("status %d: %s", status, body)
	}
	call(key, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	status, _, body = call(key, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_inbox","arguments":{"username":"agent"}}}`)
	if status != http.StatusOK || !strings.Contains(body, "agent@mail.test") {
		t.Errorf("status %d: %s", status, body)
	}
	if got := m.using(s, key).mustRun("ls"); !strings.HasPrefix(got, "agent@mail.test") {
		t.Errorf("ls printed %q", got)
	}
}
