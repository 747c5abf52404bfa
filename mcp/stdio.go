package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client on in and out, one message per line, until in or ctx ends. Only the
// protocol is written to out.
func ServeStdio(ctx context.Context, server *sdk.Server, in io.ReadCloser, out io.WriteCloser) error {
	answers := &answers{WriteCloser: out}
	return server.Run(ctx, &sdk.IOTransport{Reader: newMessages(in, answers), Writer: answers})
}

// answers is a writer for several goroutines that write whole lines.
type answers struct {
	io.WriteCloser
	mu sync.Mutex
}

func (a *answers) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.WriteCloser.Write(line)
}

// messages reads the lines that are messages and answers the others with an error, as JSON-RPC
// requires: the SDK would end the session.
type messages struct {
	io.Closer
	lines   *bufio.Scanner
	rest    bytes.Buffer // unread part of the current line
	answers io.Writer
}

func newMessages(in io.ReadCloser, answers io.Writer) *messages {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, sdk.DefaultMaxLineLength)
	return &messages{Closer: in, lines: lines, answers: answers}
}

func (m *messages) Read(p []byte) (int, error) {
	for m.rest.Len() == 0 {
		if !m.lines.Scan() {
			if err := m.lines.Err(); err != nil {
				return 0, fmt.Errorf("reading a message: %w", err)
			}
			return 0, io.EOF
		}
		line := bytes.TrimSpace(m.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if code := fault(line); code != 0 {
			if _, err := fmt.Fprintf(m.answers, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"not a JSON-RPC message"}}`+"\n", code); err != nil {
				return 0, err
			}
			continue
		}
		m.rest.Write(line)
		m.rest.WriteByte('\n')
	}
	return m.rest.Read(p)
}

// fault is the JSON-RPC error code for a line that is not a message, 0 for one that is. Batches,
// which protocol version 2025-03-26 allows, are left to the SDK.
func fault(line []byte) int {
	_, err := jsonrpc.DecodeMessage(line)
	var batch []json.RawMessage
	switch {
	case err == nil, json.Unmarshal(line, &batch) == nil && len(batch) > 0:
		return 0
	case json.Valid(line):
		return jsonrpc.CodeInvalidRequest
	}
	return jsonrpc.CodeParseError
}
