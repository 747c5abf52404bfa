// Package local is the local service of this machine: a process of its own, which the first that
// needs it starts, and to which all others attach.
//
// Its directory has a lock and the store. The process that runs it holds the lock until it ends, however it
// ends. It answers on the admin socket of the store, where each client keeps a request open for as long
// as it needs the service, and makes its requests of the REST API. Other clients make them over TCP, with
// the key in a file. The key is new at each start, since another user may take the port of a service
// that has ended.
package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"mayfly/internal/files"
	"mayfly/internal/server"
)

// ErrNotRunning means that the local service does not run.
var ErrNotRunning = errors.New("no local service is running: start it with `mayfly up`")

// ErrStopped means that [Stop] ended the local service.
var ErrStopped = errors.New("the local service was stopped by `mayfly down`")

// Options say where the local service keeps its data, how to start it, and how it runs.
type Options struct {
	DataDir string
	LogFile string // empty: it logs nothing
	Version string // of this program

	// Args are the arguments with which this program runs [Serve].
	Args []string

	// HTTP and SMTP are addresses to listen on, a loopback IP address and a port; by default 127.0.0.1,
	// ports 8425 and 2525. Where one is taken, the service listens on the next free port above.
	HTTP, SMTP string
	Relay      server.Relay  // by which it releases messages
	Keep       bool          // run until [Stop], with or without clients
	TLS        bool          // offer STARTTLS with a certificate in the data directory, which is created once
	Linger     time.Duration // how long to run on after the last client; default: DefaultLinger
}

// storeDir is the directory of the local service's store.
func (o Options) storeDir() string { return filepath.Join(o.DataDir, "store") }

// EnvFile is where other clients of the REST API find its address and its key: variables as shells and test
// runners read them. After a kill they are of a service that has ended.
func (o Options) EnvFile() string { return filepath.Join(o.storeDir(), "service.env") }

// makeDir creates the directory. One that is there must be this user's: with another's HOME, as root has
// with some versions of sudo, the service would take over the mail of that user.
func (o Options) makeDir() error {
	return cmp.Or(o.unusable(os.MkdirAll(o.DataDir, 0o700)), o.checkDir())
}

func (o Options) checkDir() error {
	return cmp.Or(o.unusable(files.CheckOwner(o.DataDir)), files.CheckMode(o.DataDir))
}

func (o Options) unusable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the local service cannot keep its data in %s: %w; set HOME or XDG_DATA_HOME to a directory of yours", o.DataDir, err)
}

func (o Options) lock() *flock.Flock {
	return flock.New(filepath.Join(o.DataDir, "lock"), flock.SetPermissions(0o600))
}

// AttachOrStart attaches to the local service, and starts it if it does not run. If several processes start it
// at once, they all attach to the same.
func AttachOrStart(ctx context.Context, o Options) (*Session, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	return o.retry(ctx, func(limit context.Context) (*Session, error) {
		s, err := o.attach(limit, "attach?keep="+strconv.FormatBool(o.Keep))
		if errors.Is(err, ErrNotRunning) {
			err = cmp.Or(o.start(ctx), errNoAnswer)
		}
		return s, err
	})
}

// Attach attaches to the local service, and fails with [ErrNotRunning] if it does not run.
func Attach(ctx context.Context, o Options) (*Session, error) {
	if err := o.checkDir(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return o.retry(ctx, func(limit context.Context) (*Session, error) { return o.attach(limit, "attach") })
}

// Stop stops the local service, even if it has clients, and waits until its process has exited. It
// fails with [ErrNotRunning] if it does not run.
func Stop(ctx context.Context, o Options) error {
	ran := false
	_, err := o.retry(ctx, func(limit context.Context) (*Session, error) {
		_, err := o.ask(limit, "stop")
		ran = ran || err == nil
		return nil, cmp.Or(err, errNoAnswer) // until its process has exited
	})
	if ran && errors.Is(err, ErrNotRunning) {
		return nil
	}
	return err
}

// noAnswerError returns the error for a service that does not answer: [ErrNotRunning], or errNoAnswer if a process that is starting or
// stopping holds the lock.
func (o Options) noAnswerError() error {
	lock := o.lock()
	if _, err := os.Stat(lock.Path()); err != nil {
		return ErrNotRunning
	}
	free, err := lock.TryRLock() // shared, so that several can ask at once
	if err != nil {
		return o.unusable(err)
	}
	if !free {
		return errNoAnswer
	}
	return cmp.Or(lock.Unlock(), ErrNotRunning)
}

const (
	// answerTimeout bounds the wait for a process that is starting or about to end.
	answerTimeout = 2 * shutdownTimeout
	// retryInterval is the pause between two attempts.
	retryInterval = 5 * time.Millisecond
)

// errNoAnswer means that the process that runs the service has not started yet, or is about to end.
var errNoAnswer = errors.New("the process that runs the local service does not answer: end `mayfly local-service` and try again")

// retry calls try until it returns anything but errNoAnswer, for at most answerTimeout, with which
// the context of try ends.
func (o Options) retry(ctx context.Context, try func(context.Context) (*Session, error)) (*Session, error) {
	limit, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	tick := time.NewTicker(retryInterval)
	defer tick.Stop()
	for {
		s, err := try(limit)
		switch {
		case !errors.Is(err, errNoAnswer):
			return s, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case limit.Err() != nil:
			return nil, errNoAnswer
		}
		select {
		case <-tick.C:
		case <-limit.Done():
		}
	}
}

// State is what the local service says of itself.
type State struct {
	BaseURL  string `json:"base_url"` // of the REST API
	Key      string `json:"key"`      // API key, which has no limits
	SMTPAddr string `json:"smtp"`     // host:port
	PID      int    `json:"pid"`
	Version  string `json:"version"`
	LogFile  string `json:"log"`            // empty: it logs nothing
	Kept     bool   `json:"kept"`           // it runs until it is stopped
	CertFile string `json:"cert,omitempty"` // of SMTP for STARTTLS
	Clients  int    `json:"clients"`

	// HTTPTaken and SMTPTaken are the ports that it should listen on, if they were taken; else empty.
	HTTPTaken string `json:"http_taken,omitempty"`
	SMTPTaken string `json:"smtp_taken,omitempty"`

	// Stopped is set in what it says last, to those that are attached when [Stop] ends it.
	Stopped bool `json:"stopped,omitempty"`
}

// API is the base URL for people, with the port that was taken if it listens on another.
func (s State) API() string { return s.BaseURL + portNote(s.HTTPTaken) }

// SMTP is the SMTP address for people, as [State.API] is.
func (s State) SMTP() string { return s.SMTPAddr + portNote(s.SMTPTaken) }

// portNote returns a note for a port that was in use, such as " (2525 was taken)", or "".
func portNote(port string) string {
	if port == "" {
		return ""
	}
	return " (" + port + " was taken)"
}

// Session is an attachment to the local service, which does not end by itself while there is one. As an
// [http.RoundTripper] it makes requests of the REST API over the socket, at which no other user can listen.
type Session struct {
	State   // as it was at the start
	options Options
	client  *http.Client
	detach  context.CancelFunc
	done    chan struct{}
	err     error // why the service stopped
}

// Done is closed when the service has stopped, or the session is closed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is [ErrStopped] if the service stopped because it was asked to. It is valid once Done is
// closed.
func (s *Session) Err() error { return s.err }

// Now returns the present state of the service, with this session among its clients.
func (s *Session) Now(ctx context.Context) (State, error) { return s.options.ask(ctx, "state") }

// Close ends the session.
func (s *Session) Close() {
	s.detach()
	<-s.done
}

// RoundTrip implements [http.RoundTripper]. The key is that of the session, whatever the request has.
func (s *Session) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-s.done:
		return nil, cmp.Or(s.err, ErrNotRunning) // the next service has another key
	default:
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", s.Key)
	return s.client.Transport.RoundTrip(r)
}

// attach makes the request that is open as long as the session. Its answer is the state, and once
// more if [Stop] stops the service. The context bounds only the wait for the first.
func (o Options) attach(ctx context.Context, request string) (*Session, error) {
	life, detach := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, detach)()
	answer, err := o.request(life, request)
	if err != nil {
		detach()
		return nil, err
	}
	s := &Session{options: o, client: server.ControlClient(o.storeDir()), detach: detach, done: make(chan struct{})}
	states := json.NewDecoder(answer)
	if states.Decode(&s.State) != nil {
		detach()
		return nil, errors.Join(errNoAnswer, answer.Close())
	}
	go func() {
		defer close(s.done)
		defer s.client.CloseIdleConnections() // for which the service would wait
		defer answer.Close()
		var last State
		if states.Decode(&last) == nil && last.Stopped {
			s.err = ErrStopped
		}
	}()
	return s, nil
}

// ask makes a request to the service and returns its state then.
func (o Options) ask(ctx context.Context, request string) (s State, err error) {
	answer, err := o.request(ctx, request)
	if err != nil {
		return s, err
	}
	defer answer.Close()
	if json.NewDecoder(answer).Decode(&s) != nil {
		return s, errNoAnswer
	}
	return s, nil
}

// request makes a request to the service. It fails with [ErrNotRunning], or with errNoAnswer if the service starts, ends or refuses.
func (o Options) request(ctx context.Context, request string) (answer io.ReadCloser, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin"+controlPath+request, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true
	resp, err := server.ControlClient(o.storeDir()).Do(req)
	switch {
	case errors.Is(err, server.ErrOtherUser):
		return nil, errors.Unwrap(err) // without the request
	case err != nil:
		return nil, o.noAnswerError()
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	_ = resp.Body.Close() // only its status counts
	if resp.StatusCode == http.StatusNotFound {
		return nil, errors.New("another version of mayfly runs the local service: quit it and try again")
	}
	return nil, o.noAnswerError()
}
