package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/mcp"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"test","version":"1"}}}`

// A client that never ends its sessions must not fill the memory of the service: a session takes little.
func BenchmarkHTTPSession(b *testing.B) {
	service := apitest.New(apitest.Options{})
	defer service.Close()
	handler := mcp.Handler(func(context.Context, string) (*api.Client, error) { return service.Client(api.Options{}), nil }, mcp.Options{})
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(initialize))
		r.Header.Set("X-API-Key", "key")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
