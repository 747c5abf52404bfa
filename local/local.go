// Package local runs the local service: one process owns and serves it, others attach to it.
//
// Its data directory has a lock file, an endpoint file and the store. The owner holds the lock
// until it exits, when the system releases it, even after a crash. The endpoint file says where the
// owner listens; one left behind by a crash is ignored, because nobody holds the lock.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"mayfly/server"
)

// ErrNotRunning means that no process on this machine runs the local service.
var ErrNotRunning = errors.New("no local service is running: start one with `mayfly`")

// Domain is the domain of the local service's addresses (RFC 6761 keeps .test out of the DNS).
const Domain = "mayfly.test"

// Options say where the local service keeps its data and listens. The zero value is the current
// user's service. An address is a loopback host and a port; a free port is used when it is taken.
type Options struct {
	DataDir string       // default: mayfly/local in the user's data directory
	HTTP    string       // address of the REST API; default: 127.0.0.1:8425
	SMTP    string       // address of the SMTP server; default: 127.0.0.1:2525
	Log     *slog.Logger // used when this process becomes the owner; default: no logging
}

// StoreDir is the directory of the local service's store, for [server.OpenAdmin].
func (o Options) StoreDir() string { return filepath.Join(o.dir(), "store") }

func (o Options) dir() string {
	if o.DataDir == "" {
		return filepath.Join(xdg.DataHome, "mayfly", "local")
	}
	return o.DataDir
}

func (o Options) lock() *flock.Flock {
	return flock.New(filepath.Join(o.dir(), "lock"), flock.SetPermissions(0o600))
}

func (o Options) endpointFile() string { return filepath.Join(o.dir(), "endpoint.json") }

const (
	// attachTimeout bounds the wait for an owner that is starting or shutting down.
	attachTimeout = 10 * time.Second
	// retryInterval is the pause between two attempts to attach.
	retryInterval = 5 * time.Millisecond
)

// endpoint is the content of the endpoint file.
type endpoint struct {
	BaseURL  string `json:"base_url"`
	Key      string `json:"key"`
	SMTPAddr string `json:"smtp"`
	PID      int    `json:"pid"`
}

// Session is access to the local service.
type Session struct {
	BaseURL  string // of the REST API
	Key      string // API key
	SMTPAddr string // host:port
	PID      int    // of the owner
	Owner    bool   // this process is the owner

	server *server.Server // of the owner
	lock   *flock.Flock   // of the owner
	file   string         // endpoint file of the owner
	done   <-chan struct{}
	detach context.CancelFunc // of others
}

// Open attaches to the local service, or starts it in this process when it is not running. If
// several processes open it at once, one becomes the owner. An owner that does not answer is an
// error after 10 seconds.
func Open(ctx context.Context, o Options) (*Session, error) {
	if err := os.MkdirAll(o.dir(), 0o700); err != nil {
		return nil, unusable(o, err)
	}
	return o.retry(ctx, func() (*Session, error) {
		lock := o.lock()
		owner, err := lock.TryLock()
		if err != nil {
			return nil, unusable(o, err)
		}
		if owner {
			s, err := o.own(ctx, lock)
			if err != nil {
				return nil, errors.Join(err, lock.Unlock())
			}
			return s, nil
		}
		return o.attach(ctx)
	})
}

// Find attaches to the local service if another process runs it, and fails with [ErrNotRunning] if
// none does.
func Find(ctx context.Context, o Options) (*Session, error) {
	return o.retry(ctx, func() (*Session, error) {
		if _, err := os.Stat(o.lock().Path()); err != nil {
			return nil, ErrNotRunning
		}
		// A shared lock, so that concurrent calls do not mistake each other for the owner.
		lock := o.lock()
		free, err := lock.TryRLock()
		if err != nil {
			return nil, unusable(o, err)
		}
		if free {
			return nil, errors.Join(ErrNotRunning, lock.Unlock())
		}
		return o.attach(ctx)
	})
}

// errNoAnswer means that the owner has not started yet, or is shutting down.
var errNoAnswer = errors.New("the process that runs the local service does not answer")

// retry calls try until it returns anything but errNoAnswer, for at most attachTimeout.
func (o Options) retry(ctx context.Context, try func() (*Session, error)) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	tick := time.NewTicker(retryInterval)
	defer tick.Stop()
	for {
		s, err := try()
		if !errors.Is(err, errNoAnswer) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: end it and try again", errNoAnswer)
		}
	}
}

// attach connects to the process that holds the lock. The order matters: an owner removes its
// predecessor's endpoint file, then opens its socket, then writes its own file. So a file read
// after the socket answered was written by the process that answered.
func (o Options) attach(ctx context.Context) (*Session, error) {
	life, detach := context.WithCancel(context.WithoutCancel(ctx))
	gone, err := server.Alive(life, o.StoreDir())
	if err != nil {
		detach()
		return nil, errNoAnswer
	}
	var e endpoint
	content, err := os.ReadFile(o.endpointFile())
	if err == nil {
		err = json.Unmarshal(content, &e)
	}
	if err != nil {
		detach()
		return nil, errNoAnswer
	}
	return &Session{BaseURL: e.BaseURL, Key: e.Key, SMTPAddr: e.SMTPAddr, PID: e.PID, done: gone, detach: detach}, nil
}

// own runs the local service in this process, which holds the lock.
func (o Options) own(ctx context.Context, lock *flock.Flock) (*Session, error) {
	if err := os.Remove(o.endpointFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, unusable(o, err)
	}
	http, err := listen(o.HTTP, "127.0.0.1:8425")
	if err != nil {
		return nil, err
	}
	smtp, err := listen(o.SMTP, "127.0.0.1:2525")
	if err != nil {
		return nil, errors.Join(err, http.Close())
	}
	s, err := server.Start(ctx, server.Config{
		HTTPListener: http,
		SMTPListener: smtp,
		Store:        o.StoreDir(),
		StoreMemory:  16 << 20, // bursts on one machine need no more
		Domains:      []string{Domain},
		CatchAll:     true,
		KeyFile:      filepath.Join(o.StoreDir(), "api-key"),
		SMTPAuthAny:  true,
		Log:          o.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the local service: %w", err)
	}
	e := endpoint{BaseURL: "http://" + s.HTTPAddr(), Key: s.Key(), SMTPAddr: s.SMTPAddr(), PID: os.Getpid()}
	if err := os.WriteFile(o.endpointFile(), e.json(), 0o600); err != nil {
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	return &Session{BaseURL: e.BaseURL, Key: e.Key, SMTPAddr: e.SMTPAddr, PID: e.PID, Owner: true,
		server: s, lock: lock, file: o.endpointFile(), done: s.Done()}, nil
}

func (e endpoint) json() []byte {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err) // strings and a number are always JSON
	}
	return append(b, '\n')
}

// listen listens on an address, or on a free port of the same host when it is taken.
func listen(addr, preferred string) (net.Listener, error) {
	if addr == "" {
		addr = preferred
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("the address %q is not host:port", addr)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("the local service listens on loopback only, not on %s", host)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("listening for the local service: %w", err)
	}
	return l, nil
}

func unusable(o Options, err error) error {
	return fmt.Errorf("the local service cannot keep its data in %s: %w; set XDG_DATA_HOME to a writable folder", o.dir(), err)
}

// Done is closed when the owner has stopped the service or died. [Open] then attaches to the next
// owner or becomes it, possibly at other addresses.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close ends the session. In the owner it stops the service, for which ctx bounds the time.
func (s *Session) Close(ctx context.Context) error {
	if !s.Owner {
		s.detach()
		<-s.done
		return nil
	}
	// Remove the file first: a process that finds the lock taken and no file tries again.
	err := os.Remove(s.file)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.server.Shutdown(ctx), s.lock.Unlock())
}
