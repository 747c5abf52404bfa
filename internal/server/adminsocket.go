package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mayfly/internal/files"
	"mayfly/service"
)

const (
	socketName = "sock"
	// socketDir is the private directory, in that of the store, in which the socket is created: a system gives
	// a new socket a mode that others may be able to use.
	socketDir = "admin"
	// socketPathName is the name of a file with the path of the socket, if that in the store's
	// directory is too long.
	socketPathName = "admin.path"
	// maxSocketPath is the longest path that all systems accept: on macOS 104 bytes with the final
	// zero.
	maxSocketPath = 103
	maxQuestion   = 64 << 10 // bytes
)

// adminSocket serves an Admin as HTTP and JSON on a Unix socket in the store's directory. Only the
// owner of the directory, who could also open the store, can connect to it.
type adminSocket struct {
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc // ends the requests that Config.Control serves
	remove   []string           // files and directories to remove at the end
}

// listenAdmin opens the socket of a store that this process owns, and replaces one that a previous
// owner left behind. With control, it serves that and the REST API, too.
func listenAdmin(store string, admin *Admin, control, rest http.Handler, log *slog.Logger) (*adminSocket, error) {
	stopping, stop := context.WithCancel(context.Background())
	a := &adminSocket{stop: stop}
	path, err := a.makeDir(store)
	if err == nil {
		a.listener, err = net.Listen("unix", path)
	}
	if err == nil {
		err = cmp.Or(os.Chmod(path, 0o600), checkSocket(store, path))
	}
	if err != nil {
		a.close()
		return nil, fmt.Errorf("opening the admin socket: %w", err)
	}
	a.http = &http.Server{
		Handler:           adminHandler(stopping, admin, control, rest),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return a, nil
}

// makeDir creates a directory that only this user can enter, and returns the path of the socket in it.
func (a *adminSocket) makeDir(store string) (path string, err error) {
	dir := filepath.Join(store, socketDir)
	path = filepath.Join(dir, socketName)
	if len(path) <= maxSocketPath {
		a.remove = []string{path, dir}
		err = os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			err = os.Chmod(dir, 0o700)
		}
		if removed := os.Remove(path); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
		return path, err
	}
	base := os.TempDir()
	if len(filepath.Join(base, "mayfly-0123456789", socketName)) > maxSocketPath {
		base = "/tmp"
	}
	if dir, err = os.MkdirTemp(base, "mayfly-"); err != nil { // mode 0700
		return "", fmt.Errorf("%w: set TMPDIR to a directory of yours with a short name", err)
	}
	path = filepath.Join(dir, socketName)
	note := filepath.Join(store, socketPathName)
	a.remove = []string{note, path, dir}
	return path, os.WriteFile(note, []byte(path), 0o600)
}

func (a *adminSocket) serve() error { return ignoreClosed(a.http.Serve(a.listener)) }

// shutdown ends what control serves, and lets operations complete.
func (a *adminSocket) shutdown(ctx context.Context) error {
	a.stop()
	if err := a.http.Shutdown(ctx); err != nil {
		return errors.Join(err, a.http.Close())
	}
	return nil
}

func (a *adminSocket) close() {
	a.stop()
	if a.listener != nil {
		_ = a.listener.Close() // it is already closed if it was served
	}
	for _, name := range a.remove {
		_ = os.Remove(name) // the next owner replaces what is left
	}
}

type adminError struct {
	Code    service.Code `json:"code"`
	Message string       `json:"message"`
}

// adminHandler serves the operations of an Admin with JSON, by 200 and the result or 400 and an
// adminError, and if control is not nil that below /control/, and the REST API.
func adminHandler(stopping context.Context, admin *Admin, control, rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /admin/{operation}", answer(func(r *http.Request, in adminRequest) (any, error) {
		return admin.carryOut(r.Context(), r.PathValue("operation"), in)
	}))
	if control != nil {
		mux.HandleFunc("/control/", func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(stopping, cancel)()
			control.ServeHTTP(w, r.WithContext(ctx))
		})
		mux.Handle("/v1/", rest)
	}
	return mux
}

// answer answers a question in JSON with 200 and the result, or 400 and an adminError.
func answer[Q any](ask func(*http.Request, Q) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var question Q
		var result any
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion)).Decode(&question)
		if err == nil {
			result, err = ask(r, question)
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			result = adminError{service.ErrorCode(err), err.Error()}
		}
		_ = json.NewEncoder(w).Encode(result) // it fails when the client has left
	}
}

// ErrOtherUser means that another user may answer at the admin socket of a store.
var ErrOtherUser = errors.New("the store's directory is not this user's alone")

// checkSocket returns an error if the socket of a store is not there, and [ErrOtherUser] if anyone but this
// user and root may have made it.
func checkSocket(store, path string) error {
	dir := filepath.Dir(path)
	err := cmp.Or(files.CheckMode(store), files.CheckOwner(dir), files.CheckMode(dir), files.CheckOwner(path))
	if unseen := (&fs.PathError{}); err == nil || errors.As(err, &unseen) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOtherUser, err)
}

func dialSocket(ctx context.Context, store string) (net.Conn, error) {
	path := filepath.Join(store, socketDir, socketName)
	if len(path) > maxSocketPath {
		note, _, err := files.Read(filepath.Join(store, socketPathName), 4<<10)
		if err != nil {
			return nil, err
		}
		path = strings.TrimSpace(string(note))
	}
	if err := checkSocket(store, path); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// ask has another process of the service answer a question.
func ask(ctx context.Context, client *http.Client, url string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("calling the process that owns the store: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return json.NewDecoder(resp.Body).Decode(out)
	}
	var e adminError
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		return fmt.Errorf("the process that owns the store answered %s: is it another version?", resp.Status)
	}
	return &service.Error{Code: e.Code, Message: e.Message}
}

// ControlClient returns a client for what the process that owns the store in a directory serves as
// [Config].Control, at http://admin/control/, and for its REST API. Requests fail if no process owns the store.
func ControlClient(store string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 32,
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, store) },
	}}
}
