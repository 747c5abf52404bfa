package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/internal/server"
	"mayfly/service"
	"mayfly/service/pebble"
)

func openAdmin(t *testing.T, store string) *server.Admin {
	t.Helper()
	a, err := server.OpenAdmin(t.Context(), store, nil)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	return a
}

// Administration is the same whether or not a server has the store open.
func TestAdministration(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"running": true, "not running": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			if running {
				start(t, c)
			}
			a := openAdmin(t, c.Store)
			ctx := t.Context()

			made, err := a.CreateKey(ctx, "ci", "dev", "")
			must(t, err)
			if made.Secret == "" || made.Plan != "dev" || made.Name != "ci" || !made.RevokedAt.IsZero() {
				t.Fatalf("made %+v, %v", made, err)
			}
			const secret = "0123456789-given-by-the-operator"
			given, err := a.CreateKey(ctx, "given", "dev", secret)
			must(t, err)
			if again, err := a.CreateKey(ctx, "given", "dev", secret); err != nil || again != given || given.Name != "given" {
				t.Errorf("with the same secret %+v, %v; want %+v", again, err, given)
			}
			if _, err := a.CreateKey(ctx, "given", "startup", secret); service.ErrorCode(err) != service.Taken || strings.Contains(err.Error(), secret) {
				t.Errorf("with another plan: %v", err)
			}
			if k, err := a.SetPlan(ctx, made.ID, "startup"); err != nil || k.Plan != "startup" {
				t.Errorf("plan %+v, %v", k, err)
			}
			rotated, err := a.RotateKey(ctx, made.ID, 0)
			if err != nil || rotated.ID != made.ID || rotated.Secret == made.Secret || rotated.Secret == "" {
				t.Errorf("rotated %+v, %v", rotated, err)
			}
			if k, err := a.RevokeKey(ctx, made.ID); err != nil || k.RevokedAt.IsZero() {
				t.Errorf("revoked %+v, %v", k, err)
			}
			keys, err := a.Keys(ctx)
			must(t, err)
			i := slices.IndexFunc(keys, func(k server.Key) bool { return k.ID == made.ID })
			if len(keys) != 2 || i < 0 || keys[i].Plan != "startup" || keys[i].RevokedAt.IsZero() {
				t.Errorf("keys %+v", keys)
			}
			wantAdminErrors(t, a, made.ID)
		})
	}
}

// wantAdminErrors makes bad requests, some of them for a key that is revoked.
func wantAdminErrors(t *testing.T, a *server.Admin, revoked string) {
	t.Helper()
	ctx := t.Context()
	for name, err := range map[string]error{
		"plan":     fortest.Failure(a.CreateKey(ctx, "", "gold", "")),
		"new plan": fortest.Failure(a.SetPlan(ctx, revoked, "gold")),
		"revoked":  fortest.Failure(a.RotateKey(ctx, revoked, 0)),
	} {
		if service.ErrorCode(err) != service.Invalid || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []string{"key_none", "../keys", "a/b", "%2f"} {
		if _, err := a.RevokeKey(ctx, id); service.ErrorCode(err) != service.NotFound {
			t.Errorf("revoking %q: %v", id, err)
		}
	}
}

// A server that is starting has the store but no socket yet. Administration waits for it.
func TestAdministrationWhileAServerStarts(t *testing.T) {
	t.Parallel()
	c := config(t)
	must(t, os.Mkdir(c.Store, 0o700))
	starting, err := pebble.Open(c.Store, pebble.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := server.OpenAdmin(expired, c.Store, nil); !errors.Is(err, pebble.ErrInUse) {
		t.Errorf("a store that another process has open: %v", err)
	}
	opened := make(chan error)
	go func() {
		a, err := server.OpenAdmin(t.Context(), c.Store, nil)
		if err == nil {
			err = a.Close()
		}
		opened <- err
	}()
	must(t, starting.Close())
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestSocketOfAStoreWithALongPath(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Store = filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	s := start(t, c)
	a := openAdmin(t, c.Store)
	k, err := a.CreateKey(t.Context(), "", "dev", "")
	must(t, err)
	if _, err := s.Service().Authenticate(t.Context(), k.Secret); err != nil {
		t.Errorf("the server does not know the key: %v", err)
	}
	note, err := os.ReadFile(filepath.Join(c.Store, "admin.path"))
	must(t, err)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Dir(string(note)))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("its folder: %v, %v", info.Mode(), err)
		}
	}
	must(t, s.Shutdown(t.Context()))
	if _, err := os.Stat(filepath.Dir(string(note))); err == nil {
		t.Error("the folder of the socket is left behind")
	}
}

// systemd gives a service a /tmp of its own, which goes with it.
func TestBackupThatNobodyFinds(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(store, "admin"), 0o700))
	l, err := net.Listen("unix", filepath.Join(store, "admin", "sock"))
	must(t, err)
	owner := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	owner.Listener.Close()
	owner.Listener = l
	owner.Start()
	defer owner.Close()
	if err := openAdmin(t, store).Backup(t.Context(), filepath.Join(t.TempDir(), "backup")); err == nil {
		t.Error("a backup that is not there succeeded")
	}
}

// A backup is a store with everything that was accepted before it.
func TestBackupOfALiveStore(t *testing.T) {
	t.Parallel()
	c := config(t)
	s := start(t, c)
	k, in := newInbox(t, s)
	must(t, send(s.SMTPAddr(), in.Address, "kept"))
	dir := filepath.Join(t.TempDir(), "backup")
	a := openAdmin(t, c.Store)
	must(t, a.Backup(t.Context(), dir))
	if err := a.Backup(t.Context(), dir); err == nil {
		t.Error("a backup went over another")
	}
	must(t, send(s.SMTPAddr(), in.Address, "later"))
	must(t, s.Shutdown(t.Context()))

	if err := server.Restore(t.Context(), dir, c.Store); err == nil {
		t.Error("a backup was restored over a store")
	}
	restored := filepath.Join(t.TempDir(), "restored") + string(filepath.Separator)
	if err := server.Restore(t.Context(), t.TempDir(), restored); err == nil {
		t.Error("restored from an empty folder")
	}
	none := filepath.Join(t.TempDir(), "none")
	must(t, os.MkdirAll(none, 0o700))
	must(t, os.WriteFile(filepath.Join(none, "file"), nil, 0o600))
	if err := server.Restore(t.Context(), none, restored); err == nil {
		t.Error("restored from something that is not a backup")
	}
	must(t, os.Mkdir(filepath.Join(none, "admin"), 0o700))
	if err := server.Restore(t.Context(), none, restored); err == nil || !strings.Contains(err.Error(), "is it a store in use?") {
		t.Errorf("restored from a directory with another in it: %v", err)
	}
	if left, err := filepath.Glob(restored + "*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	must(t, os.Mkdir(restored, 0o700)) // as a mount point, or below a directory of another user
	before, err := os.Stat(restored)
	must(t, err)
	must(t, server.Restore(t.Context(), dir, restored))
	if after, err := os.Stat(restored); err != nil || !os.SameFile(before, after) {
		t.Errorf("the directory of the store was replaced: %v", err)
	}
	c.Store = restored
	list, err := start(t, c).Service().Messages(t.Context(), k, in.ID, service.Page{})
	if err != nil || list.Total != 1 || list.Messages[0].Subject != "kept" {
		t.Errorf("restored %+v, %v", list, err)
	}
}
