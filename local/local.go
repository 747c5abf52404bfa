// Package local is the embedded service of this machine: one process owns and serves it, others attach to it.
//
// The folder of the service holds a lock, which its owner has for as long as it lives and the system releases when it
// dies, however it dies; a file that tells others where it listens; and the store. The lock alone decides who owns:
// a file that an owner left behind is noticed, because nobody holds the lock.
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

// ErrNotRunning says that no process of this machine serves the embedded service.
var ErrNotRunning = errors.New("no local service is running: start one with `mayfly`")

// Domain is the default domain of the embedded service's addresses (RFC 6761 keeps .test out of the DNS).
const Domain = "mayfly.test"

// Options says where the embedded service is. The zero value is the one of this user.
type Options struct {
	DataDir string       // folder of its store and files; default: mayfly/local in the user's data folder
	HTTP    string       // loopback address of its REST API when it is free, else a free port; default 127.0.0.1:8425
	SMTP    string       // likewise of its SMTP door; default 127.0.0.1:2525
	Log     *slog.Logger // of the server, when this process becomes its owner; default: nothing is logged
}

// StoreDir is the directory of the embedded service's store, for [server.OpenAdmin].
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
	// attachTimeout is how long an owner may take to start or to end before others give up on it.
	attachTimeout = 10 * time.Second
	// retryInterval is how often they look.
	retryInterval = 5 * time.Millisecond
)

// endpoint is what an owner tells the others.
type endpoint struct {
	BaseURL  string `json:"base_url"`
	Key      string `json:"key"`
	SMTPAddr string `json:"smtp"`
	PID      int    `json:"pid"`
}

// Session is access to the embedded service.
type Session struct {
	BaseURL  string // of the REST API
	Key      string // API key
	SMTPAddr string // host:port
	PID      int    // process that serves it
	Owner    bool   // it is this one

	server *server.Server // of the owner
	lock   *flock.Flock   // of the owner
	file   string         // endpoint file of the owner
	done   <-chan struct{}
	detach context.CancelFunc // of others
}

// Open attaches to the embedded service, or starts it in this process when none runs. Of several processes that open
// at once, one becomes the owner.
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

// Find attaches to the embedded service of another process. Without one it fails with [ErrNotRunning].
func Find(ctx context.Context, o Options) (*Session, error) {
	return o.retry(ctx, func() (*Session, error) {
		if _, err := os.Stat(o.lock().Path()); err != nil {
			return nil, ErrNotRunning
		}
		// Shared, so that those who only look do not take each other for the owner.
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

// errNotNow says that there is an owner that has not started yet, or is about to end.
var errNotNow = errors.New("the process that runs the local service does not answer")

// retry tries again while there is an owner that does not answer.
func (o Options) retry(ctx context.Context, try func() (*Session, error)) (*Session, error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	tick := time.NewTicker(retryInterval)
	defer tick.Stop()
	for {
		s, err := try()
		if !errors.Is(err, errNotNow) {
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: end it and try again", errNotNow)
		}
	}
}

// attach gives access to the service of another process that holds the lock. The order matters: an owner removes the
// file of the one before it, then serves the socket, then writes its file. So a file that is read after the socket
// has answered is the file of whoever answered.
func (o Options) attach(ctx context.Context) (*Session, error) {
	life, detach := context.WithCancel(context.WithoutCancel(ctx))
	gone, err := server.Alive(life, o.StoreDir())
	if err != nil {
		detach()
		return nil, errNotNow
	}
	var e endpoint
	content, err := os.ReadFile(o.endpointFile())
	if err == nil {
		err = json.Unmarshal(content, &e)
	}
	if err != nil {
		detach()
		return nil, errNotNow
	}
	return &Session{BaseURL: e.BaseURL, Key: e.Key, SMTPAddr: e.SMTPAddr, PID: e.PID, done: gone, detach: detach}, nil
}

// own serves the embedded service in this process, which has the lock.
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

// listen listens on an address, or on a free port of the same host when something else has it.
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
	return fmt.Errorf("the local service cannot keep its data in %s: %w; set XDG_DATA_HOME to a folder that can be written to", o.dir(), err)
}

// Done is closed when the service is gone because its owner ended. [Open] then attaches to the next owner or becomes
// it; the addresses can be others.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close ends access; the owner stops the service, which takes no longer than the context.
func (s *Session) Close(ctx context.Context) error {
	if !s.Owner {
		s.detach()
		<-s.done
		return nil
	}
	// The file goes first: whoever finds the lock taken and no file tries again.
	err := os.Remove(s.file)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, s.server.Shutdown(ctx), s.lock.Unlock())
}
