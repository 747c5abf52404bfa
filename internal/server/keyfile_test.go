package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"mayfly/internal/server"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), mode))
}

// Whatever is wrong with a key file, it is left as it is.
func TestKeyFileIsNeverChanged(t *testing.T) {
	t.Parallel()
	secret := strings.Repeat("secret-of-another-store.", 2)
	for name, test := range map[string]struct{ text, want string }{
		"unknown to the store": {secret + "\n", "mayfly admin key create --plan enterprise --secret-file "},
		"empty":                {"", "is empty"},
		"blank":                {" \n", "is empty"},
		"something else":       {"[settings]\nkey = 1\n", "has no API key in it"},
		"large":                {strings.Repeat("x", 1<<20), "has no API key in it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.KeyFile = filepath.Join(t.TempDir(), "key")
			write(t, c.KeyFile, test.text, 0o600)
			s, err := server.Start(t.Context(), c)
			if err == nil {
				t.Error(s.Shutdown(t.Context()))
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("%v", err)
			}
			if left, err := os.ReadFile(c.KeyFile); err != nil || string(left) != test.text {
				t.Errorf("the file has %q now, %v", left, err)
			}
			if keys, err := openAdmin(t, c.Store).Keys(t.Context()); err != nil || len(keys) != 0 {
				t.Errorf("keys %+v, %v", keys, err)
			}
		})
	}
}

// The key that is added with the secret in the file is the one that the service then has.
func TestKeyFileWithAPresetKey(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.KeyFile, c.CatchAll = filepath.Join(t.TempDir(), "key"), true
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	const secret = "preset-by-those-who-compose-0123"
	write(t, c.KeyFile, secret+"\n", 0o644)
	a, err := server.OpenAdmin(t.Context(), c.Store, nil)
	must(t, err)
	key, err := a.CreateKey(t.Context(), "", "dev", secret)
	must(t, errors.Join(err, a.Close()))

	s := start(t, c)
	if s.Key() != secret {
		t.Errorf("the key is %q", s.Key())
	}
	must(t, send(s.SMTPAddr(), "anyone@mail.test", "hello"))
	owner, err := s.Service().Key(t.Context(), key.ID)
	must(t, err)
	if list, err := s.Service().Inboxes(t.Context(), owner, service.Page{}); err != nil || len(list.Inboxes) != 1 {
		t.Errorf("the key has the inboxes %+v, %v", list, err)
	}
	if warned := strings.Contains(log.String(), "every user of this machine can read"); warned != (runtime.GOOS != "windows") || strings.Contains(log.String(), secret) {
		t.Errorf("the log has %s", &log)
	}

	_, err = openAdmin(t, c.Store).RevokeKey(t.Context(), key.ID)
	must(t, errors.Join(err, s.Shutdown(t.Context())))
	if _, err := server.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), key.ID+", is revoked") {
		t.Errorf("with a revoked key: %v", err)
	}
}

// Without the folder of the file no key is created.
func TestKeyFileThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.KeyFile = filepath.Join(t.TempDir(), "none", "key")
	if _, err := server.Start(t.Context(), c); err == nil || strings.Contains(err.Error(), "mayfly-key") {
		t.Errorf("%v", err)
	}
	if keys, err := openAdmin(t, c.Store).Keys(t.Context()); err != nil || len(keys) != 0 {
		t.Errorf("keys %+v, %v", keys, err)
	}
}

// Processes that share a database and a file agree on one key.
func TestKeyFileSharedByProcesses(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	c := config(t)
	c.Store, c.KeyFile = db, filepath.Join(t.TempDir(), "key")
	const processes = 4
	keys := make([]string, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			s, err := server.Start(t.Context(), c)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = s.Key()
			if err := s.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, key := range keys {
		if key != keys[0] || key == "" {
			t.Errorf("the processes have the keys %q", keys)
		}
	}
	list, err := openAdmin(t, db).Keys(t.Context())
	must(t, err)
	active := 0
	for _, k := range list {
		if k.RevokedAt.IsZero() {
			active++
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(c.KeyFile), ".*")); err != nil || len(left) != 0 || active != 1 {
		t.Errorf("%d keys are active, left behind are %q, %v", active, left, err)
	}
}
