package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client on in and out, a message a line, until ctx ends, or in does and all calls are answered.
// Only the protocol is written to out.
func ServeStdio(ctx context.Context, server *sdk.Server, in io.ReadCloser, out io.WriteCloser) error {
	l := &lines{Closer: in, scanner: bufio.NewScanner(in), out: out}
	l.scanner.Buffer(nil, sdk.DefaultMaxLineLength)
	return server.Run(ctx, l)
}

// lines are those of a client. One that is no message is answered with its error (JSON-RPC 2.0, section 5.1) and is not
// read.
type lines struct {
	io.Closer
	scanner *bufio.Scanner
	rest    []byte // of a line
	writing sync.Mutex
	out     io.WriteCloser
}

// Connect lets the SDK read and write the lines.
func (l *lines) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := (&sdk.IOTransport{Reader: l, Writer: l}).Connect(ctx)
	return &answering{Connection: c, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}, err
}

func (l *lines) Write(p []byte) (int, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.out.Write(p)
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if !l.scanner.Scan() {
			if err := l.scanner.Err(); err != nil {
				return 0, fmt.Errorf("reading a message: %w", err)
			}
			return 0, io.EOF
		}
		line := bytes.TrimSpace(bytes.TrimPrefix(l.scanner.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		if fault := faultOf(line); fault != nil {
			if err := l.refuse(line, fault); err != nil {
				return 0, err
			}
			continue
		}
		l.rest = append(line, '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// faultOf returns why a line is no message, or nil.
func faultOf(line []byte) *jsonrpc.Error {
	if !json.Valid(line) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not one JSON value"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		why := "the line is no JSON-RPC 2.0 message"
		if line[0] == '[' {
			why = "a line is one message: batches are not supported"
		}
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: why}
	}
	return nil
}

// refuse answers a line with its fault, and with the ID that it has, or null.
func (l *lines) refuse(line []byte, fault *jsonrpc.Error) error {
	var from struct{ ID any }
	_ = json.Unmarshal(line, &from) // what it is not has no ID
	switch from.ID.(type) {
	case string, float64:
	default:
		from.ID = nil
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": from.ID, "error": fault})
	if err == nil {
		_, err = l.Write(append(data, '\n'))
	}
	return err
}

// answering is a connection that ends once its input has and all calls are answered.
type answering struct {
	sdk.Connection
	mu      sync.Mutex
	open    map[jsonrpc.ID]bool // calls without an answer
	changed chan struct{}       // has an element when open has lost one
}

func (a *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := a.Connection.Read(ctx)
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		a.mu.Lock()
		a.open[r.ID] = true
		a.mu.Unlock()
	}
	for errors.Is(err, io.EOF) && a.waits() {
		select {
		case <-a.changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return m, err
}

func (a *answering) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.open) > 0
}

func (a *answering) Write(ctx context.Context, m jsonrpc.Message) error {
	err := a.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		a.forget(func(id jsonrpc.ID, _ bool) bool { return id == r.ID })
	}
	return err
}

func (a *answering) Close() error {
	a.forget(func(jsonrpc.ID, bool) bool { return true })
	return a.Connection.Close()
}

func (a *answering) forget(which func(jsonrpc.ID, bool) bool) {
	a.mu.Lock()
	maps.DeleteFunc(a.open, which)
	a.mu.Unlock()
	select {
	case a.changed <- struct{}{}:
	default:
	}
}
