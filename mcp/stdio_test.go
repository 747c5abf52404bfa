package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"testing"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/mcp"
)

func TestALineThatIsNoMessageIsAnsweredAndTheSessionGoesOn(t *testing.T) {
	service := apitest.New(apitest.Options{})
	defer service.Close()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.ServeStdio(t.Context(), mcp.New(service.Client(api.Options{}), mcp.Options{}), in, out)
	}()
	lines := bufio.NewScanner(answers)
	ask := func(line string) (id any, code int) {
		t.Helper()
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("%s ended the session: %v", line, lines.Err())
		}
		var answer struct {
			ID    any
			Error struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			t.Fatalf("%s was answered with %s", line, lines.Bytes())
		}
		return answer.ID, answer.Error.Code
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if _, err := io.WriteString(client, "\r\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\r\n"); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		"not json": -32700, `{"jsonrpc":"2.0","id":1,"method":"pi`: -32700, "\xff\xfe": -32700,
		"{}": -32600, "[]": -32600, `"x"`: -32600, `{"jsonrpc":"1.0","id":1,"method":"ping"}`: -32600, `{"jsonrpc":"2.0","id":{},"method":"ping"}`: -32600,
	} {
		if id, code := ask(line); id != nil || code != want {
			t.Errorf("%q was answered with %d for %v", line, code, id)
		}
	}
	if id, code := ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); id != 2.0 || code != 0 {
		t.Errorf("a ping was answered with %d for %v", code, id)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the session ended with %v", err)
	}
}
