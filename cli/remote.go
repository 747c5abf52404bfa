package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/server"
	"mayfly/internal/term"
)

// screen is what is shown on the terminal of a session.
type screen struct {
	io.Writer
	terminal *server.SessionTerminal
}

// TerminalSize implements term.Remote.
func (s screen) TerminalSize() term.Size { return sizeOf(s.terminal) }

func sizeOf(t *server.SessionTerminal) term.Size {
	s := t.Size()
	return term.Size{Columns: s.Columns, Rows: s.Rows}
}

// remoteTerminal is the terminal of a session. Reading it gives lines, edited and echoed here: no kernel does that for a terminal
// elsewhere. ctrl+c interrupts the run.
type remoteTerminal struct {
	terminal  *server.SessionTerminal
	echo      io.Writer
	interrupt context.CancelCauseFunc
	lines     chan []byte // closed at the end of what is typed
	rest      []byte      // of the line that is being read
	over      bool        // lines is closed

	mu    sync.Mutex
	keys  *io.PipeWriter // gets everything as it is typed instead, unless it is nil
	ended bool
}

const (
	maxTyped = 4096 // bytes of a line
	maxAhead = 64   // lines that nobody has read yet
)

// newRemoteTerminal returns the terminal of a session, which is read until the session's channel is closed.
func newRemoteTerminal(s *server.Session, interrupt context.CancelCauseFunc) *remoteTerminal {
	t := &remoteTerminal{terminal: s.Terminal, echo: s.Stdout, interrupt: interrupt, lines: make(chan []byte, maxAhead)}
	go func() {
		var line []byte
		for buffer := make([]byte, 1024); ; {
			n, err := s.Stdin.Read(buffer)
			if keys := t.typing(); keys != nil {
				_, _ = keys.Write(buffer[:n]) // nobody reads it any more when it fails
			} else {
				line = t.edit(line, buffer[:n])
			}
			if err != nil {
				t.close()
				t.mu.Lock()
				if t.ended = true; t.keys != nil {
					_ = t.keys.Close()
				}
				t.mu.Unlock()
				return
			}
		}
	}()
	return t
}

func (t *remoteTerminal) typing() *io.PipeWriter {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys
}

// edit adds what was typed to a line, and queues whole lines.
func (t *remoteTerminal) edit(line, typed []byte) []byte {
	for _, b := range typed {
		switch {
		case b == 0x03:
			fmt.Fprint(t.echo, "^C\n")
			t.interrupt(interrupted{syscall.SIGINT})
			t.close()
		case b == '\r' || b == '\n':
			fmt.Fprint(t.echo, "\n")
			if !t.over {
				select {
				case t.lines <- append(line, '\n'):
				default: // too many: a kernel drops them too
				}
			}
			line = nil
		case b == 0x04 && len(line) == 0:
			t.close()
		case b == 0x7f || b == 0x08:
			if len(line) > 0 {
				_, size := utf8.DecodeLastRune(line)
				line = line[:len(line)-size]
				fmt.Fprint(t.echo, "\b \b")
			}
		case b >= ' ' && len(line) < maxTyped:
			line = append(line, b)
			_, _ = t.echo.Write([]byte{b})
		}
	}
	return line
}

func (t *remoteTerminal) close() {
	if !t.over {
		t.over = true
		close(t.lines)
	}
}

// Read implements io.Reader, for one goroutine at a time.
func (t *remoteTerminal) Read(b []byte) (int, error) {
	if len(t.rest) == 0 {
		var ok bool
		if t.rest, ok = <-t.lines; !ok {
			return 0, io.EOF
		}
	}
	n := copy(b, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// TerminalSize implements term.Remote.
func (t *remoteTerminal) TerminalSize() term.Size { return sizeOf(t.terminal) }

// RawKeys implements term.RemoteKeys.
func (t *remoteTerminal) RawKeys(ctx context.Context) io.ReadCloser {
	keys := t.raw(func() {})
	context.AfterFunc(ctx, func() { _ = keys.Close() })
	return keys
}

// raw returns what is typed, as it is typed, until it is closed. It calls end when nothing can be typed any more.
func (t *remoteTerminal) raw(end func()) io.ReadCloser {
	keys, w := io.Pipe()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys = w; t.ended {
		_ = w.Close()
	}
	return &rawKeys{keys, t, end}
}

type rawKeys struct {
	*io.PipeReader
	t   *remoteTerminal
	end func()
}

func (k *rawKeys) Read(b []byte) (int, error) {
	n, err := k.PipeReader.Read(b)
	if err != nil {
		k.end()
	}
	return n, err
}

func (k *rawKeys) Close() error {
	k.t.mu.Lock()
	k.t.keys = nil
	k.t.mu.Unlock()
	return k.PipeReader.Close()
}

func (t *remoteTerminal) size() tea.WindowSizeMsg {
	s := t.terminal.Size()
	return tea.WindowSizeMsg{Width: s.Columns, Height: s.Rows}
}

// resizeInterval is how often a terminal gets another size at most: each has everything laid out again.
const resizeInterval = 100 * time.Millisecond

// follow sends the sizes of the terminal until ctx ends. Of a flood, what lies between is skipped.
func (t *remoteTerminal) follow(ctx context.Context, sizes chan<- tea.WindowSizeMsg) {
	for {
		select {
		case <-t.terminal.Resized:
		case <-ctx.Done():
			return
		}
		select {
		case sizes <- t.size():
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(resizeInterval):
		case <-ctx.Done():
			return
		}
	}
}
