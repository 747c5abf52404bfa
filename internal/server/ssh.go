package server

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"mayfly/service/limits"
	"mayfly/service/rest"
)

// SSHLimits are the limits of sessions over SSH; zero stands for their defaults.
type SSHLimits struct {
	MaxSessions, MaxSessionsPerKey           int
	MaxConnections, MaxConnectionsPerAddress int
	IdleTimeout                              time.Duration
	Memory                                   int64 // bytes, of all sessions; default 1 GiB
}

// SessionSettings is what the process that serves the sessions is told. It has no secrets.
type SessionSettings struct {
	SSHLimits
	HostKey   []byte   // public, ed25519
	Balancers []string // see [Config]
	SMTP      string   // where mail is sent; "" if that is unknown
	SMTPShown string   // as users are told
	Name      string   // of the service
	Debug     bool     // what it logs
}

// hostKeyName is the name of the host key among the secrets of the store, which all processes on one database share.
const hostKeyName = "ssh host key"

// The header fields by which a session's process names the public key and the client of a request. They mean something on its
// socket only.
const (
	fingerprintHeader = "Mayfly-Fingerprint"
	clientHeader      = "Mayfly-Client"
)

// restartDelay is how long a new process for sessions waits after one that ended by itself.
const restartDelay = time.Second

// sessions runs the process that serves SSH: a hostile message, or a fault, ends sessions and no mail. That process has neither
// the store nor a secret; it reaches the API by a socket that it inherits, on which alone a public key can be named by its
// fingerprint.
type sessions struct {
	command  func(settings string) *exec.Cmd
	settings SessionSettings
	hostKey  ed25519.PrivateKey
	api      *http.Server
	log      *slog.Logger

	stopping context.Context
	stop     context.CancelFunc
	ended    chan struct{} // closed when Serve returns
	mu       sync.Mutex
	process  *os.Process // nil while there is none
}

// newSessions returns what serves SSH, with the host key, which is made with the store.
func (s *Server) newSessions(api *rest.Server, guesses *limits.Guesses) (*sessions, error) {
	_, fresh, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	seed, err := s.service.Secret(context.Background(), hostKeyName, fresh.Seed())
	if err != nil {
		return nil, fmt.Errorf("the host key of SSH: %w", err)
	}
	if len(seed) != ed25519.SeedSize {
		return nil, errors.New("the host key of SSH is damaged")
	}
	p := &sessions{command: s.config.Sessions, hostKey: ed25519.NewKeyFromSeed(seed), log: s.log, ended: make(chan struct{})}
	p.settings = SessionSettings{SSHLimits: s.config.SSHLimits, HostKey: p.hostKey.Public().(ed25519.PublicKey), Balancers: s.config.Balancers,
		Name: s.config.Name, Debug: s.log.Enabled(context.Background(), slog.LevelDebug)}
	if len(s.config.Balancers) == 0 {
		p.settings.SMTP, p.settings.SMTPShown = reachable(s.SMTPAddr(), "localhost"), reachable(s.SMTPAddr(), s.config.Name)
	}
	p.stopping, p.stop = context.WithCancel(context.Background())
	p.api = &http.Server{Handler: s.sessionAPI(p, api, guesses), Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	p.api.Protocols.SetUnencryptedHTTP2(true)
	return p, nil
}

// maxStreams is how many requests of sessions are under way at a time: each session has a few long polls.
const maxStreams = 16 << 10

// reachable returns the address of a listener as a client names it, which knows its machine as host.
func reachable(addr, host string) string {
	name, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(name); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort(host, port)
	}
	return addr
}

// authentication is what the process of sessions asks about a public key, and the answer.
type authentication struct {
	Fingerprint string
	Remote      string // of the client, host:port; empty for a public key that was right before
	KeyID       string
}

// sessionAPI is what the process of sessions can ask for.
func (s *Server) sessionAPI(p *sessions, api *rest.Server, guesses *limits.Guesses) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /authenticate", answer(func(ctx context.Context, a authentication) (authentication, error) {
		if a.Remote != "" && guesses.Exceeded(limits.ParsePrefix(a.Remote), a.Fingerprint) {
			return a, limits.ErrGuesses
		}
		k, err := s.service.AuthenticateSSH(ctx, a.Fingerprint)
		if err == nil && a.Remote != "" {
			guesses.RecordSuccess(limits.ParsePrefix(a.Remote), a.Fingerprint)
		}
		a.KeyID = k.ID
		return a, err
	}))
	mux.HandleFunc("POST /wrong", answer(func(_ context.Context, a authentication) (authentication, error) {
		guesses.RecordFailure(limits.ParsePrefix(a.Remote))
		return a, nil
	}))
	mux.HandleFunc("POST /sign", answer(func(_ context.Context, message []byte) ([]byte, error) {
		return p.hostKey.Sign(nil, message, crypto.Hash(0))
	}))
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = r.Header.Get(clientHeader)
		api.ServeSSH(w, r, r.Header.Get(fingerprintHeader))
	})
	return mux
}

// maxQuestion bounds a question in JSON, in bytes.
const maxQuestion = 64 << 10

// answer answers questions in JSON, as the admin socket does.
func answer[Q, A any](ask func(context.Context, Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var question Q
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion)).Decode(&question)
		var result any
		if err == nil {
			result, err = ask(r.Context(), question)
		}
		writeAnswer(w, result, err)
	}
}

// Serve runs the process until Shutdown, and starts another one when it ends by itself. The listener is the process's.
func (p *sessions) Serve(l net.Listener) error {
	defer close(p.ended)
	defer l.Close()
	file, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return errors.New("SSH needs a TCP listener")
	}
	listener, err := file.File()
	if err != nil {
		return err
	}
	defer listener.Close()
	settings, err := json.Marshal(p.settings)
	if err != nil {
		return err
	}
	for p.stopping.Err() == nil {
		if err := p.run(string(settings), listener); p.stopping.Err() == nil {
			p.log.Error("the process of the sessions over SSH has ended, and its sessions with it: another one is started", "error", err)
		}
		select {
		case <-p.stopping.Done():
		case <-time.After(restartDelay):
		}
	}
	return nil
}

// run runs one process until it ends.
func (p *sessions) run(settings string, listener *os.File) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	cmd := p.command(settings)
	half := max(1, runtime.GOMAXPROCS(0)/2)                                                            // the others are for mail
	cmd.Env = []string{"TZ=" + os.Getenv("TZ"), "GOTRACEBACK=single", fmt.Sprint("GOMAXPROCS=", half)} // none of this process's secrets
	cmd.ExtraFiles = []*os.File{theirs, listener}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	p.mu.Lock()
	if err = p.stopping.Err(); err == nil {
		if err = cmd.Start(); err == nil {
			p.process = cmd.Process
		}
	}
	p.mu.Unlock()
	_ = theirs.Close()
	if err != nil {
		return errors.Join(err, ours.Close())
	}
	served := make(chan struct{})
	go func() { _ = p.api.Serve(&oneConn{conn: ours, closed: make(chan struct{})}); close(served) }()
	err = cmd.Wait()
	p.mu.Lock()
	p.process = nil
	p.mu.Unlock()
	_ = ours.Close()
	<-served
	return err
}

// Shutdown has the process tell its sessions, and end.
func (p *sessions) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.stop()
	process := p.process
	if process != nil {
		_ = process.Signal(syscall.SIGTERM)
	}
	p.mu.Unlock()
	select {
	case <-p.ended:
	case <-ctx.Done():
		if process != nil {
			_ = process.Kill()
		}
		<-p.ended
	}
	return p.api.Close()
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn   net.Conn
	once   sync.Once
	given  bool
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return &closing{l.conn, l}, nil
	}
	<-l.closed
	return nil, io.EOF
}

func (l *oneConn) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// closing ends its listener when it is closed.
type closing struct {
	net.Conn
	l *oneConn
}

func (c *closing) Close() error { return errors.Join(c.l.Close(), c.Conn.Close()) }
