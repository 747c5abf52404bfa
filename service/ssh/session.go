package ssh

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"mayfly/service"
)

// Session is what a client asks for.
type Session struct {
	KeyID, Fingerprint string
	Remote             string   // host:port
	Args               []string // empty for the application
	Environ            []string // what describes the client's terminal
	Stdin              io.Reader
	Stdout, Stderr     io.Writer
	Terminal           *Terminal    // nil for streams
	Largest            atomic.Int64 // bytes of the largest answer it has read from its service, or of its input, by which its memory goes
}

// Size is that of a terminal, in cells.
type Size struct{ Columns, Rows int }

// Terminal is the client's terminal.
type Terminal struct {
	Resized <-chan struct{} // has an element after a change

	mu   sync.Mutex
	size Size
}

// Size returns the size of the terminal now.
func (t *Terminal) Size() Size {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// Exit statuses, as those of the command line.
const (
	statusError     = 1
	statusUsage     = 2
	statusKey       = 4
	statusRateLimit = 6
)

const (
	// These bound a terminal: a client can claim any size, and each cell takes memory, 100 bytes or more.
	maxColumns, maxRows, maxCells = 1000, 500, 100_000
	maxTerm                       = 64 // bytes of the name of a terminal
	maxValue                      = 256
	maxCommand                    = 64 << 10
)

// variables are those of the client's environment that describe its terminal and its user's habits.
var variables = []string{"COLORTERM", "LANG", "NO_COLOR", "TZ"}

// session serves a channel. What runs in it ends with the channel at the latest.
func (c *connection) session(ch ssh.Channel, requests <-chan *ssh.Request) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	s := &Session{KeyID: c.keyID, Fingerprint: c.fingerprint, Remote: c.conn.RemoteAddr().String(), Stdin: ch, Stdout: ch, Stderr: ch.Stderr()}
	resized := make(chan struct{}, 1)
	started := make(chan string, 1) // the command line
	go func() {
		defer cancel(nil) // the channel is closed, or the client is gone
		environ, running := map[string]bool{}, false
		for r := range requests {
			ok := false
			switch r.Type {
			case "env":
				var v struct{ Name, Value string }
				ok = !running && ssh.Unmarshal(r.Payload, &v) == nil && slices.Contains(variables, v.Name) && !environ[v.Name] && len(v.Value) <= maxValue
				if ok {
					environ[v.Name] = true
					s.Environ = append(s.Environ, v.Name+"="+v.Value)
				}
			case "pty-req":
				var p struct {
					Term                         string
					Columns, Rows, Width, Height uint32
					Modes                        string
				}
				if ok = !running && s.Terminal == nil && ssh.Unmarshal(r.Payload, &p) == nil && len(p.Term) <= maxTerm; ok {
					s.Environ = append(s.Environ, "TERM="+p.Term)
					s.Terminal = &Terminal{Resized: resized, size: sizeOf(p.Columns, p.Rows)}
				}
			case "window-change":
				var w struct{ Columns, Rows, Width, Height uint32 }
				if ok = s.Terminal != nil && ssh.Unmarshal(r.Payload, &w) == nil; ok {
					s.Terminal.mu.Lock()
					s.Terminal.size = sizeOf(w.Columns, w.Rows)
					s.Terminal.mu.Unlock()
					select {
					case resized <- struct{}{}:
					default: // one is still to be seen
					}
				}
			case "shell", "exec":
				var command struct{ Line string }
				if r.Type == "exec" && (ssh.Unmarshal(r.Payload, &command) != nil || len(command.Line) > maxCommand) {
					break
				}
				if ok = !running; ok {
					running = true
					_ = r.Reply(true, nil)
					started <- command.Line
					continue
				}
			} // others are refused: subsystem, x11-req, auth-agent-req@openssh.com, signal
			_ = r.Reply(ok, nil)
		}
	}()
	select {
	case line := <-started:
		if c.server.begin() {
			defer c.server.running.Done()
			status := c.run(ctx, cancel, s, line)
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		}
	case <-ctx.Done():
	}
	_ = ch.Close()
}

// begin counts a session that runs, unless the server is stopping.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Err() != nil {
		return false
	}
	s.running.Add(1)
	return true
}

// sizeOf bounds what a client says. A terminal that does not say its size has that of a VT100.
func sizeOf(columns, rows uint32) Size {
	if columns == 0 || rows == 0 {
		return Size{80, 24}
	}
	columns = min(columns, maxColumns)
	return Size{int(columns), int(min(rows, maxRows, maxCells/columns))}
}

// run runs a session, and returns its exit status. A panic ends nothing else.
func (c *connection) run(ctx context.Context, cancel context.CancelCauseFunc, s *Session, line string) (status int) {
	server := c.server
	if s.Terminal != nil {
		w := &newlines{w: s.Stdout}
		s.Stdout, s.Stderr = w, w
	}
	refuse := func(status int, err error) int {
		fmt.Fprintf(s.Stderr, "mayfly: %s\n", err)
		return status
	}
	if keyID, err := server.options.Gate.Authenticate(ctx, c.fingerprint, ""); err != nil || keyID != c.keyID {
		if err != nil && service.ErrorCode(err) != service.Unauthorized {
			return refuse(statusError, err)
		}
		return refuse(statusKey, errRevoked)
	}
	var err error
	if s.Args, err = Words(line); err != nil {
		return refuse(statusUsage, err)
	}
	if !server.sessions.Acquire(c.keyID) {
		return refuse(statusRateLimit, fmt.Errorf("too many sessions are open: close one, or try again later"))
	}
	defer server.sessions.Release(c.keyID)
	if s.Terminal != nil {
		limit := server.options.IdleTimeout
		idle := time.AfterFunc(limit, func() { cancel(errIdle) })
		defer idle.Stop()
		s.Stdin = watched{s.Stdin, func() { idle.Reset(limit) }}
	}
	server.mu.Lock()
	server.live[s] = cancel
	server.mu.Unlock()
	ended := make(chan struct{})
	defer func() {
		close(ended)
		server.mu.Lock()
		delete(server.live, s)
		server.mu.Unlock()
	}()
	context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(drainTimeout): // it waits for a client that reads nothing
			c.close()
		}
	})
	defer func() {
		if p := recover(); p != nil {
			server.options.Log.Error("a session panicked", "key", c.keyID, "panic", p, "stack", string(debug.Stack()))
			status = refuse(statusError, fmt.Errorf("it failed: the log of the service has the reason"))
		}
	}()
	server.options.Log.Debug("session", "key", c.keyID, "peer", s.Remote, "terminal", s.Terminal != nil, "args", len(s.Args))
	return server.options.Run(ctx, s)
}

// watched calls seen for what is read.
type watched struct {
	io.Reader
	seen func()
}

func (w watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.seen()
	}
	return n, err
}

// newlines writes to a terminal whose lines end in CR LF: no kernel does that for one elsewhere.
type newlines struct {
	mu sync.Mutex
	w  io.Writer
}

func (n *newlines) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]byte, 0, len(b)+len(b)/16)
	for i, c := range b {
		if c == '\n' && (i == 0 || b[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	if _, err := n.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
