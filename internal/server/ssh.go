package server

import (
	"cmp"
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
	"syscall"
	"time"

	"mayfly/service/limits"
	"mayfly/service/rest"
	"mayfly/service/ssh"
)

// SSHLimits are the limits of sessions over SSH; zero stands for their defaults.
type SSHLimits struct {
	ssh.Limits
	Memory int64 // bytes, of all sessions; default 1 GiB
}

// leastSessionMemory is the least for all sessions, in bytes: with less, the process that serves them may end the first.
const leastSessionMemory = 64 << 20

// SessionSettings is what the process that serves the sessions is told. It has no secrets.
type SessionSettings struct {
	SSHLimits
	HostKey   []byte   // public, ed25519
	Balancers []string // see [Config]
	SMTP      string   // where mail is sent; "" if that is unknown
	SMTPShown string   // as users are told
	Name      string   // of the service
	Debug     bool     // what it logs
	MaxMail   int64    // bytes of a message
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
	command  func(ctx context.Context, settings string) *exec.Cmd
	settings SessionSettings
	hostKey  ed25519.PrivateKey
	api      *http.Server
	log      *slog.Logger

	stopping context.Context
	stop     context.CancelFunc
	ended    chan struct{} // closed when Serve returns
}

// newSessions returns what serves SSH, with the host key, which is created with the store.
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
		Name: s.config.Name, Debug: s.log.Enabled(context.Background(), slog.LevelDebug), MaxMail: cmp.Or(s.config.MaxMessageBytes, 25<<20)}
	if len(s.config.Balancers) == 0 {
		p.settings.SMTP, p.settings.SMTPShown = Reachable(s.SMTPAddr(), "localhost"), Reachable(s.SMTPAddr(), s.config.Name)
	}
	p.stopping, p.stop = context.WithCancel(context.Background())
	p.api = &http.Server{Handler: s.sessionAPI(p, api, guesses), Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	p.api.Protocols.SetUnencryptedHTTP2(true)
	return p, nil
}

// maxStreams is how many requests of sessions are under way at a time: each session has a few long polls.
const maxStreams = 16 << 10

// Reachable returns the address of a listener as a client names it, which knows its machine as host.
func Reachable(addr, host string) string {
	name, port, err := net.SplitHostPort(addr)
	if err == nil && (name == "" || net.ParseIP(name).IsUnspecified()) {
		return net.JoinHostPort(host, port)
	}
	return addr
}

// authentication is what the process of sessions asks about a public key, and the answer.
type authentication struct {
	Fingerprint string // empty for a connection whose keys were all wrong
	Remote      string // of the client, host:port; empty for a public key that was right before
	KeyID       string
}

// sessionAPI is what the process of sessions can ask for.
func (s *Server) sessionAPI(p *sessions, api *rest.Server, guesses *limits.Guesses) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /authenticate", answer(func(r *http.Request, a authentication) (any, error) {
		if a.Fingerprint == "" {
			guesses.RecordFailure(limits.ParsePrefix(a.Remote))
			return a, nil
		}
		if a.Remote != "" && guesses.Exceeded(limits.ParsePrefix(a.Remote), a.Fingerprint) {
			return a, limits.ErrGuesses
		}
		k, err := s.service.AuthenticateSSH(r.Context(), a.Fingerprint)
		if err == nil && a.Remote != "" {
			guesses.RecordSuccess(limits.ParsePrefix(a.Remote), a.Fingerprint)
		}
		a.KeyID = k.ID
		return a, err
	}))
	mux.HandleFunc("POST /sign", answer(func(_ *http.Request, message []byte) (any, error) {
		return p.hostKey.Sign(nil, message, crypto.Hash(0))
	}))
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = r.Header.Get(clientHeader)
		api.ServeSSH(w, r, r.Header.Get(fingerprintHeader))
	})
	return mux
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
			p.log.Error("the process of the SSH sessions has exited, and closed its sessions: another one is started", "error", err)
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
	cmd := p.command(p.stopping, settings)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, failureTimeout // to tell its sessions
	half := max(1, runtime.GOMAXPROCS(0)/2)                                                                 // the others are for mail
	cmd.Env = []string{"TZ=" + os.Getenv("TZ"), "GOTRACEBACK=single", fmt.Sprint("GOMAXPROCS=", half)}      // none of this process's secrets
	cmd.ExtraFiles = []*os.File{theirs, listener}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	err = cmd.Start()
	_ = theirs.Close()
	if err == nil {
		served := make(oneConn, 1)
		served <- ours
		go func() { _ = p.api.Serve(served) }()
		err = cmd.Wait()
		close(served)
	}
	_ = ours.Close() // the API may have done so
	return err
}

// Shutdown has the process tell its sessions, and end.
func (p *sessions) Shutdown(context.Context) error {
	p.stop()
	<-p.ended
	return p.api.Close()
}

// oneConn is a listener with one connection, until it is closed.
type oneConn chan net.Conn

func (l oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, io.EOF
}

func (oneConn) Close() error   { return nil }
func (oneConn) Addr() net.Addr { return nil }
