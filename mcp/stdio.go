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

// ServeStdio serves one client on in and out, a message a line, until in ends or ctx does. Nothing but the protocol is
// written to out.
func ServeStdio(ctx context.Context, server *sdk.Server, in io.ReadCloser, out io.WriteCloser) error {
	answers := &answers{WriteCloser: out}
	return server.Run(ctx, &sdk.IOTransport{Reader: newMessages(in, answers), Writer: answers})
}

// answers is a writer for several goroutines, of which each writes whole lines.
type answers struct {
	io.WriteCloser
	mu sync.Mutex
}

func (a *answers) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.WriteCloser.Write(line)
}

// messages reads the lines that are messages. The others are answered, as JSON-RPC wants: the SDK would end the session.
type messages struct {
	io.Closer
	lines   *bufio.Scanner
	rest    bytes.Buffer // what is left of the current one
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

// fault is the JSON-RPC code for a line that is no message, 0 for one that is. Batches, which a client of protocol
// version 2025-03-26 may send, are left to the SDK.
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
