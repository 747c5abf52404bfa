package mcp_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/mcp"
)

type written struct{ bytes.Buffer }

func (*written) Close() error { return nil }

// TestPipedInput is answered to its end: calls by their results, and what is no message by its error.
func TestPipedInput(t *testing.T) {
	service := apitest.New(t, apitest.Options{})
	server := mcp.New(service.Client(api.Options{Retries: -1}), mcp.Options{})
	const begin = "\ufeff" + `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\r\n\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`:   `"id":7,"result":{}`,
		`{"jsonrpc":"2.0","id":7,"method":"ping"} x`: `{"error":{"code":-32700,`,
		"not JSON": `{"error":{"code":-32700,`,
		`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`: `{"error":{"code":-32600,`,
		`{"id":7,"method":"ping"}`:                   `},"id":7,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:  `},"id":null,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"create_inbox","arguments":{"ttl":"600","x":1}}}`: `\"expires_in\":\"10 minutes\"`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"create_inbox","arguments":{"ttl":0}}}`:           `\"expires_in\":\"60 minutes\"`,
	} {
		var out written
		in := begin + line + "\n" + `{"jsonrpc":"2.0","id":"b","method":"ping"}`
		if err := mcp.ServeStdio(t.Context(), server, io.NopCloser(strings.NewReader(in)), &out); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if got := out.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, want) || !strings.Contains(got, `"id":"a","result"`) || !strings.Contains(got, `"id":"b","result"`) {
			t.Errorf("%s was answered with %s", line, got)
		}
	}
}
