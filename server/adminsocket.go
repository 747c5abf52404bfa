package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mayfly/service"
)

const (
	socketName = "admin.sock"
	// socketPathName is the name of a file with the path of the socket, if that in the store's
	// folder is too long.
	socketPathName = "admin.path"
	// maxSocketPath is the longest path that all systems accept: on macOS 104 bytes with the final
	// zero.
	maxSocketPath = 103
	maxAdminBody  = 64 << 10 // bytes
)

// adminSocket serves operations as HTTP and JSON on a Unix socket in the store's folder. Only the
// owner of the folder, who could also open the store, can connect to it.
type adminSocket struct {
	listener net.Listener
	http     *http.Server
	stop     context.CancelFunc // ends the requests that Config.Control serves
	remove   []string           // files and folders to remove at the end
}

// listenAdmin opens the socket of a store that this process owns, and replaces one that a previous
// owner left behind. It passes on to control what is no operation.
func listenAdmin(store string, o operations, control http.Handler, log *slog.Logger) (*adminSocket, error) {
	stopping, stop := context.WithCancel(context.Background())
	a := &adminSocket{stop: stop}
	path := filepath.Join(store, socketName)
	if len(path) > maxSocketPath {
		dir, err := os.MkdirTemp("", "mayfly-") // mode 0700
		if err != nil {
			return nil, fmt.Errorf("creating a folder for the admin socket: %w", err)
		}
		path = filepath.Join(dir, socketName)
		note := filepath.Join(store, socketPathName)
		a.remove = []string{note, path, dir}
		if len(path) > maxSocketPath {
			a.close()
			return nil, fmt.Errorf("the admin socket needs a path of at most %d bytes: set TMPDIR to a folder with a shorter name", maxSocketPath)
		}
		if err := os.WriteFile(note, []byte(path), 0o600); err != nil {
			a.close()
			return nil, err
		}
	} else {
		a.remove = []string{path}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("replacing the admin socket: %w", err)
		}
	}
	var err error
	if a.listener, err = net.Listen("unix", path); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		a.close()
		return nil, fmt.Errorf("opening the admin socket: %w", err)
	}
	a.http = &http.Server{
		Handler:           adminHandler(stopping, o, control),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    4 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return a, nil
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

type keyRequest struct {
	Name   string `json:"name"`
	Plan   string `json:"plan"`
	Secret string `json:"secret,omitempty"` // "" for a new one
}

type backupRequest struct {
	Dir string `json:"dir"`
}

type adminError struct {
	Code    service.Code `json:"code"`
	Message string       `json:"message"`
}

// adminHandler serves operations, and control below /control/ if it is not nil. Operations answer
// with JSON: 200 and the result, or 400 and an adminError.
func adminHandler(stopping context.Context, o operations, control http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		keys, err := o.keys(r.Context())
		answerAdmin(w, keys, err)
	})
	mux.HandleFunc("POST /keys", func(w http.ResponseWriter, r *http.Request) {
		var in keyRequest
		if err := readAdmin(w, r, &in); err != nil {
			answerAdmin(w, nil, err)
			return
		}
		k, err := o.createKey(r.Context(), in)
		answerAdmin(w, k, err)
	})
	mux.HandleFunc("POST /keys/{id}/revoke", func(w http.ResponseWriter, r *http.Request) {
		k, err := o.revokeKey(r.Context(), r.PathValue("id"))
		answerAdmin(w, k, err)
	})
	mux.HandleFunc("POST /keys/{id}/rotate", func(w http.ResponseWriter, r *http.Request) {
		k, err := o.rotateKey(r.Context(), r.PathValue("id"))
		answerAdmin(w, k, err)
	})
	mux.HandleFunc("POST /keys/{id}/plan", func(w http.ResponseWriter, r *http.Request) {
		var in keyRequest
		if err := readAdmin(w, r, &in); err != nil {
			answerAdmin(w, nil, err)
			return
		}
		k, err := o.setPlan(r.Context(), r.PathValue("id"), in.Plan)
		answerAdmin(w, k, err)
	})
	mux.HandleFunc("GET /postmaster", func(w http.ResponseWriter, r *http.Request) {
		list, err := o.postmaster(r.Context())
		answerAdmin(w, list, err)
	})
	mux.HandleFunc("GET /postmaster/{id}", func(w http.ResponseWriter, r *http.Request) {
		raw, err := o.postmasterRaw(r.Context(), r.PathValue("id"))
		answerAdmin(w, raw, err)
	})
	mux.HandleFunc("POST /backup", func(w http.ResponseWriter, r *http.Request) {
		var in backupRequest
		if err := readAdmin(w, r, &in); err != nil {
			answerAdmin(w, nil, err)
			return
		}
		answerAdmin(w, struct{}{}, o.backup(r.Context(), in.Dir))
	})
	if control != nil {
		mux.HandleFunc("/control/", func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(stopping, cancel)()
			control.ServeHTTP(w, r.WithContext(ctx))
		})
	}
	return mux
}

func readAdmin(w http.ResponseWriter, r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return service.Errorf(service.Invalid, "the request is malformed")
	}
	return nil
}

func answerAdmin(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		v = adminError{service.ErrorCode(err), err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v) // it fails when the client has left
}

// remote does operations over the socket of the process that owns the store.
type remote struct{ client *http.Client }

// dialAdmin connects to the socket of a store, and fails if no process owns the store.
func dialAdmin(ctx context.Context, store string) (remote, error) {
	c, err := dialSocket(ctx, store)
	if err != nil {
		return remote{}, err
	}
	_ = c.Close() // it only tested whether there is a server
	return remote{ControlClient(store)}, nil
}

func dialSocket(ctx context.Context, store string) (net.Conn, error) {
	path := filepath.Join(store, socketName)
	if len(path) > maxSocketPath {
		note, err := os.ReadFile(filepath.Join(store, socketPathName))
		if err != nil {
			return nil, err
		}
		path = strings.TrimSpace(string(note))
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// do makes a request and decodes its result.
func (r remote) do(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://admin"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("calling the process that owns the store: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var e adminError
		if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
			return fmt.Errorf("the process that owns the store answered %s: is it another version?", resp.Status)
		}
		return &service.Error{Code: e.Code, Message: e.Message}
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func (r remote) createKey(ctx context.Context, in keyRequest) (k NewKey, err error) {
	err = r.do(ctx, "POST", "/keys", in, &k)
	return k, err
}

func (r remote) keys(ctx context.Context) (keys []Key, err error) {
	err = r.do(ctx, "GET", "/keys", nil, &keys)
	return keys, err
}

func (r remote) revokeKey(ctx context.Context, id string) (k Key, err error) {
	err = r.do(ctx, "POST", "/keys/"+url.PathEscape(id)+"/revoke", nil, &k)
	return k, err
}

func (r remote) rotateKey(ctx context.Context, id string) (k NewKey, err error) {
	err = r.do(ctx, "POST", "/keys/"+url.PathEscape(id)+"/rotate", nil, &k)
	return k, err
}

func (r remote) setPlan(ctx context.Context, id, plan string) (k Key, err error) {
	err = r.do(ctx, "POST", "/keys/"+url.PathEscape(id)+"/plan", keyRequest{Plan: plan}, &k)
	return k, err
}

func (r remote) postmaster(ctx context.Context) (list []PostmasterMessage, err error) {
	err = r.do(ctx, "GET", "/postmaster", nil, &list)
	return list, err
}

func (r remote) postmasterRaw(ctx context.Context, id string) (raw []byte, err error) {
	err = r.do(ctx, "GET", "/postmaster/"+url.PathEscape(id), nil, &raw)
	return raw, err
}

func (r remote) backup(ctx context.Context, dir string) error {
	return r.do(ctx, "POST", "/backup", backupRequest{dir}, &struct{}{})
}

func (r remote) close() error {
	r.client.CloseIdleConnections()
	return nil
}

// ControlClient returns a client for what the process that owns the store in a directory serves as
// [Config].Control, at http://admin/control/. Requests fail if no process owns the store.
func ControlClient(store string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, store) },
	}}
}
