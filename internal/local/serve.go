package local

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"mayfly/internal/files"
	"mayfly/internal/server"
	"mayfly/internal/sockets"
)

const (
	// DefaultLinger is how long the service runs on after its last client.
	DefaultLinger = 10 * time.Second
	// shutdownTimeout is how long mail that is being received may take when the service stops.
	shutdownTimeout = 5 * time.Second
	// lockTimeout bounds the wait while others look at the lock, each for a moment.
	lockTimeout = 100 * time.Millisecond
)

// ready is what [Serve] reports once it serves.
const ready = "ready"

// errElsewhere means that another process has become the local service.
var errElsewhere = errors.New("another process runs the local service")

// start runs [Serve] in a process of its own, and returns when it serves, or another does.
func (o Options) start(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("starting the local service: %w", err)
	}
	cmd := exec.Command(program, o.Args...)
	cmd.Dir = filepath.VolumeName(o.DataDir) + string(filepath.Separator) // in nobody's way
	cmd.SysProcAttr = ownSession()
	if log, err := openLog(o.LogFile); err == nil {
		defer log.Close()
		cmd.Stderr = log.File // for a panic
	}
	reports, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("starting the local service: %w", err)
	}
	lines := make(chan string, 1)
	go func() { // until the service stops, or this process
		line, _ := bufio.NewReader(reports).ReadString('\n') // without one it has crashed
		lines <- strings.TrimSpace(line)
		_ = cmd.Wait() // its log says how it ended
	}()
	select {
	case line := <-lines:
		switch line {
		case ready, errElsewhere.Error():
			return nil
		case "":
			return fmt.Errorf("the local service stopped as it started: see %s", cmp.Or(o.LogFile, "its log"))
		}
		return errors.New(line)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Serve runs the local service in this process, until ctx ends, [Stop] is called or, unless it is
// kept, nobody needs it. It reports in one line that it serves, or why it cannot. If another process
// runs the service it fails at once.
func Serve(ctx context.Context, o Options, report io.Writer) error {
	s, err := o.begin(ctx)
	if err != nil {
		fmt.Fprintln(report, strings.Join(strings.Fields(err.Error()), " "))
		return err
	}
	fmt.Fprintln(report, ready)
	return s.run(ctx)
}

// running is the service in the process that runs it.
type running struct {
	lock   *flock.Flock
	env    string  // name of the file for other clients
	file   logFile // its File is nil if there is none
	log    *slog.Logger
	life   *lifetime
	server *server.Server
}

func (o Options) begin(ctx context.Context) (*running, error) {
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	lock := o.lock()
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	switch _, err := lock.TryLockContext(waiting, retryInterval); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errElsewhere
	case err != nil:
		return nil, o.unusable(err)
	}
	s := &running{lock: lock, env: o.EnvFile(), log: slog.New(slog.DiscardHandler)}
	if file, err := openLog(o.LogFile); err == nil {
		s.file, s.log = file, slog.New(slog.NewTextHandler(file, nil))
		slog.SetDefault(s.log)
	} else {
		o.LogFile = ""
	}
	if err := s.start(ctx, o); err != nil {
		s.log.Error("not started", "error", err)
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *running) start(ctx context.Context, o Options) error {
	web, webTaken, err := listen(cmp.Or(o.HTTP, "127.0.0.1:8425"))
	if err != nil {
		return err
	}
	mail, mailTaken, err := listen(cmp.Or(o.SMTP, "127.0.0.1:2525"))
	if err != nil {
		return errors.Join(err, web.Close())
	}
	state := State{
		BaseURL: "http://" + web.Addr().String(), SMTPAddr: mail.Addr().String(), PID: os.Getpid(), Version: o.Version,
		LogFile: o.LogFile, HTTPTaken: webTaken, SMTPTaken: mailTaken, Kept: o.Keep,
	}
	c := server.InMemoryConfig()
	if o.TLS {
		if c.SMTPCert, c.SMTPKey, err = o.certificate(); err != nil {
			return errors.Join(err, web.Close(), mail.Close())
		}
		state.CertFile = c.SMTPCert
	}
	c.InMemory, c.Store = false, o.storeDir()
	c.Listeners = map[string]net.Listener{"HTTP": web, "SMTP": mail}
	c.Relay, c.Log = o.Relay, s.log
	c.Control = func(key string) http.Handler {
		state.Key = key
		s.life = newLifetime(cmp.Or(o.Linger, DefaultLinger), state)
		return s.life.handler()
	}
	if s.server, err = server.Start(ctx, c); err != nil {
		return fmt.Errorf("starting the local service: %w", err)
	}
	env := fmt.Appendf(nil, "MAYFLY_BASE_URL=%s\nMAYFLY_API_KEY=%s\nMAYFLY_SMTP=%s\n", state.BaseURL, state.Key, state.SMTPAddr)
	if err := files.Write(o.EnvFile(), env); err != nil {
		s.log.Warn("no file has the key", "error", err)
	}
	s.log.Info("serving", "version", o.Version, "process", state.PID, "api", state.API(), "smtp", state.SMTP(), "kept", o.Keep)
	return nil
}

// run serves until the end, and then ends everything.
func (s *running) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.life.end(errInterrupted) })
	defer stop()
	go s.watch()
	var failure error
	select {
	case <-s.life.ended.Done():
		s.log.Info("ending", "because", context.Cause(s.life.ended))
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		failure = s.server.Shutdown(ending)
	case <-s.server.Done():
		s.life.end(errInterrupted)
		failure = s.server.Err()
		s.log.Error("ending", "error", failure)
	}
	return errors.Join(failure, s.close())
}

// watch stops the service when its directory is removed, and perhaps created again by another one: mail would be accepted where nobody
// looks for it.
func (s *running) watch() {
	ticker := time.NewTicker(s.life.linger)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-s.life.ended.Done():
			return
		}
		own, err := s.lock.Stat()
		there, missing := os.Stat(s.lock.Path())
		if errors.Is(missing, fs.ErrNotExist) || errors.Join(err, missing) == nil && !os.SameFile(own, there) {
			s.life.end(errRemoved)
		}
	}
}

// close releases what the service has.
func (s *running) close() error {
	_ = os.Remove(s.env) // its key opens nothing any more
	err := s.lock.Unlock()
	if s.file.File != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// maxLog bounds the log file, in bytes.
const maxLog = 1 << 20

// logFile is a file for lines of text, which starts again when it would become larger than maxLog.
type logFile struct{ *os.File }

func openLog(path string) (logFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return logFile{}, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return logFile{file}, err
}

// Write implements io.Writer.
func (l logFile) Write(line []byte) (int, error) {
	// Not counted while writing, since a panic is written to the file by other ways.
	if info, err := l.Stat(); err == nil && info.Size()+int64(len(line)) > maxLog {
		// By name, since Windows does not truncate a file that was opened to append.
		if err := os.Truncate(l.Name(), 0); err != nil {
			return 0, err
		}
	}
	return l.File.Write(line)
}

// portsAbove is how many ports are tried above one that is taken.
const portsAbove = 100

// listen listens on an address of this machine, or else on the next free port above, or on any where there
// is none above. taken is the port of the address then, and else empty.
func listen(address string) (l net.Listener, taken string, err error) {
	if !sockets.IsLoopbackAddress(address) {
		return nil, "", fmt.Errorf("the local service listens on loopback only, not on %s", address)
	}
	first := netip.MustParseAddrPort(address)
	for above := range uint16(portsAbove + 1) {
		var failed error
		l, failed = net.Listen("tcp", netip.AddrPortFrom(first.Addr(), first.Port()+above).String())
		if failed == nil {
			return l, taken, nil
		}
		err, taken = cmp.Or(err, failed), strconv.Itoa(int(first.Port()))
	}
	return nil, "", fmt.Errorf("the local service cannot listen on %s, nor on the %d ports above it: %w", address, portsAbove, cause(err))
}

// cause is what the system says, without the operation and the address.
func cause(err error) error {
	if call := (&os.SyscallError{}); errors.As(err, &call) {
		return call.Err
	}
	return err
}

// controlPath is where the admin socket serves what the handler of [lifetime] does.
const controlPath = "/control/"

// lifetime decides when the service stops: some time after its last client has left, unless it is
// kept, or when it is asked to.
type lifetime struct {
	linger time.Duration
	ended  context.Context // done when the service has to end; its cause is for the log
	end    context.CancelCauseFunc

	mu    sync.Mutex
	state State
	left  time.Time // when the last client left, or when the service started
	timer *time.Timer
}

// Why the service stops.
var (
	errUnused      = errors.New("no client is left")
	errInterrupted = errors.New("its process was interrupted")
	errAsked       = errors.New("it was asked to")
	errRemoved     = errors.New("its directory was removed")
)

func newLifetime(linger time.Duration, s State) *lifetime {
	l := &lifetime{linger: linger, state: s, left: time.Now()}
	l.ended, l.end = context.WithCancelCause(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	// The process that started it has more time to attach, since the machine may be busy.
	l.timer = time.AfterFunc(max(linger, DefaultLinger), l.expire)
	return l
}

// handler answers clients with the state.
func (l *lifetime) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+controlPath+"attach", l.serve)
	mux.HandleFunc("POST "+controlPath+"state", func(w http.ResponseWriter, _ *http.Request) { l.answer(w) })
	mux.HandleFunc("POST "+controlPath+"stop", func(w http.ResponseWriter, _ *http.Request) {
		l.stop()
		l.answer(w)
	})
	return mux
}

// serve serves a client until it leaves or the service stops. It answers with the state, and again
// when the service stops.
func (l *lifetime) serve(w http.ResponseWriter, r *http.Request) {
	if !l.attach(r.FormValue("keep") == "true") {
		w.WriteHeader(http.StatusConflict)
		return
	}
	defer l.detach()
	l.answer(w)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-l.ended.Done():
		l.answer(w)
	case <-r.Context().Done():
	}
}

func (l *lifetime) answer(w http.ResponseWriter) {
	l.mu.Lock()
	s := l.state
	l.mu.Unlock()
	_ = json.NewEncoder(w).Encode(s) // it fails when the client has left
}

// attach counts a client, unless the service is about to end. With keep, the service runs until it
// is asked to end.
func (l *lifetime) attach(keep bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Err() != nil {
		return false
	}
	l.state.Clients++
	l.state.Kept = l.state.Kept || keep
	return true
}

func (l *lifetime) detach() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Clients--; l.state.Clients == 0 {
		l.left = time.Now()
		l.timer.Reset(l.linger)
	}
}

// expire stops the service if it has had no client for long enough.
func (l *lifetime) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Clients == 0 && !l.state.Kept && time.Since(l.left) >= l.linger {
		l.end(errUnused)
	}
}

// stop stops the service, even if it has clients.
func (l *lifetime) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Stopped = true
	l.end(errAsked)
}
