package keys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
)

const key = "mf_0123456789abcdef"

const service = "https://mail.example"

type fakeKeyring struct {
	keys map[string]string
	err  error
	hang chan struct{} // not nil: no call returns before it is closed
	mu   sync.Mutex
}

func (f *fakeKeyring) wait() error {
	if f.hang != nil {
		<-f.hang
	}
	return f.err
}

func (f *fakeKeyring) get(name string) (string, error) {
	if err := f.wait(); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if key, ok := f.keys[name]; ok {
		return key, nil
	}
	return "", ErrNone
}

func (f *fakeKeyring) set(name, key string) error {
	if err := f.wait(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keys[name] = key
	return nil
}

func (f *fakeKeyring) remove(name string) error {
	if _, err := f.get(name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, name)
	return nil
}

var must = fortest.Must

// store returns a store in an empty folder with a keyring and an environment.
func store(t *testing.T, k keyring, environment map[string]string) *Store {
	t.Helper()
	s := New(filepath.Join(t.TempDir(), "mayfly"), func(name string) string { return environment[name] }, service)
	s.keyring = k
	return s
}

// set stores a key, and leaves none elsewhere.
func set(t *testing.T, s *Store, service, key string, p Place) {
	t.Helper()
	if left, err := s.Set(t.Context(), service, key, p); err != nil || left != nil {
		t.Fatal(err, left)
	}
}

func TestOrder(t *testing.T) {
	environment := map[string]string{}
	s := store(t, &fakeKeyring{keys: map[string]string{}}, environment)
	ctx := t.Context()
	expect := func(secret, source string) {
		t.Helper()
		k, err := s.Resolve(ctx, service)
		if err != nil || k.Secret.Reveal() != secret || !strings.Contains(k.Source, source) {
			t.Errorf("%q from %q, %v; want %q from %s", k.Secret.Reveal(), k.Source, err, secret, source)
		}
	}
	if _, err := s.Resolve(ctx, service); !errors.Is(err, ErrNone) {
		t.Errorf("without a key: %v", err)
	}
	set(t, s, service, key+"-file\n", File)
	expect(key+"-file", "keys.json")
	set(t, s, service, "  "+key+"-keyring", Keyring)
	expect(key+"-keyring", "keyring")
	environment[Variable] = key + "-environment\r\n"
	expect(key+"-environment", Variable)
	environment[Variable] = " \n"
	expect(key+"-keyring", "keyring")
	must(t, s.TryKeyring(ctx))
	expect(key+"-keyring", "keyring")
	must(t, s.Remove(ctx, service))
	if _, err := s.Resolve(ctx, service); !errors.Is(err, ErrNone) {
		t.Errorf("after Remove: %v", err)
	}
	if err := s.Remove(ctx, service); !errors.Is(err, ErrNone) {
		t.Errorf("Remove of nothing: %v", err)
	}
}

// The key of the environment is for the service that the environment means.
func TestVariableIsOfOneService(t *testing.T) {
	s := store(t, nil, map[string]string{Variable: key})
	for base, want := range map[string]bool{service: true, service + "/": true, "https://other.example": false, service + "/v2": false, "": false} {
		k, err := s.Resolve(t.Context(), base)
		if got := k.Secret.Reveal() == key; got != want || !want && (!errors.Is(err, ErrNone) || !strings.Contains(err.Error(), Variable+" is for "+service)) {
			t.Errorf("%q: %v, %v", base, got, err)
		}
	}
}

func TestKeyBelongsToOneService(t *testing.T) {
	for _, place := range []Place{Keyring, File} {
		s := store(t, &fakeKeyring{keys: map[string]string{}}, nil)
		set(t, s, service, key, place)
		for _, same := range []string{"https://mail.example/", "HTTPS://Mail.Example", "https://mail.example:443"} {
			if k, err := s.Resolve(t.Context(), same); err != nil || k.Secret.Reveal() != key {
				t.Errorf("%s: %v", same, err)
			}
		}
		for _, other := range []string{
			"https://mail.example.evil.example", "http://mail.example", "https://mail.example:8443", "https://mail.example/v2", "",
		} {
			if _, err := s.Resolve(t.Context(), other); !errors.Is(err, ErrNone) {
				t.Errorf("%q: %v", other, err)
			}
		}
	}
}

func TestWhatIsNoKey(t *testing.T) {
	s := store(t, &fakeKeyring{keys: map[string]string{}}, map[string]string{})
	for _, bad := range []string{"", " \n", "a b", "a\x00b", "a\nb", "a\x1b[31m", "schlüssel-ä", strings.Repeat("a", 1001)} {
		for _, place := range []Place{Keyring, File} {
			_, err := s.Set(t.Context(), service, bad, place)
			if err == nil || strings.TrimSpace(bad) != "" && strings.Contains(err.Error(), bad) {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	s = store(t, nil, map[string]string{Variable: "a b"})
	if _, err := s.Resolve(t.Context(), service); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("environment: %v", err)
	}
}

func TestKeyringThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKeyring{keys: map[string]string{}, hang: make(chan struct{})}
		defer close(k.hang)
		s := store(t, k, nil)
		began := time.Now()
		_, err := s.Resolve(t.Context(), service)
		if !errors.Is(err, ErrNone) || !errors.Is(err, ErrNoKeyring) || time.Since(began) != keyringTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := s.Set(t.Context(), service, key, Keyring); !errors.Is(err, ErrNoKeyring) {
			t.Errorf("Set: %v", err)
		}
		if left, err := s.Set(t.Context(), service, key, File); err != nil || !errors.Is(left, ErrNoKeyring) {
			t.Errorf("in the file: %v, %v", err, left)
		}
		if k, err := s.Resolve(t.Context(), service); err != nil || k.Secret.Reveal() != key {
			t.Errorf("the file behind it: %v", err)
		}
		began = time.Now()
		if err := s.TryKeyring(t.Context()); err == nil || err.Error() != string(errSilent) || time.Since(began) > keyringTimeout {
			t.Errorf("TryKeyring: %v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began = time.Now()
		if _, err := s.Resolve(ctx, ""); !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("interrupted: %v after %v", err, time.Since(began))
		}
	})
}

func TestKeyringThatFails(t *testing.T) {
	for why, k := range map[string]keyring{
		"the keyring is locked":           &fakeKeyring{err: errors.New("failed to unlock correct collection '/x'")},
		"the keyring denies access":       &fakeKeyring{err: errors.New("Access is denied.")},
		"the keyring cannot be used: odd": &fakeKeyring{err: errors.New("odd.")},
		"there is no keyring":             nil,
	} {
		s := store(t, k, nil)
		if _, err := s.Resolve(t.Context(), service); !errors.Is(err, ErrNone) || !errors.Is(err, ErrNoKeyring) || !strings.Contains(err.Error(), why) {
			t.Errorf("Resolve: %v", err)
		}
		if _, err := s.Set(t.Context(), service, key, Keyring); !errors.Is(err, ErrNoKeyring) {
			t.Errorf("Set: %v", err)
		}
		if err := s.TryKeyring(t.Context()); !errors.Is(err, ErrNoKeyring) || !strings.HasPrefix(err.Error(), why) {
			t.Errorf("TryKeyring: %v", err)
		}
		if err := s.Remove(t.Context(), service); !errors.Is(err, ErrNoKeyring) && k != nil {
			t.Errorf("Remove: %v", err)
		}
	}
}

func TestFile(t *testing.T) {
	s := store(t, nil, nil)
	set(t, s, service, key, File)
	path := s.file.path()
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660} {
			must(t, os.Chmod(path, mode))
			if _, err := s.Resolve(t.Context(), service); err == nil || !strings.Contains(err.Error(), "chmod 600") {
				t.Errorf("mode %o: %v", mode, err)
			}
		}
		must(t, os.Chmod(path, 0o600))
	}
	for _, damaged := range []string{`{"` + service + `":"` + key, "null", ""} {
		must(t, os.WriteFile(path, []byte(damaged), 0o600))
		if _, err := s.Resolve(t.Context(), service); err == nil || !strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), key) {
			t.Errorf("damaged: %v", err)
		}
		if _, err := s.Set(t.Context(), service, key, File); err == nil {
			t.Error("a damaged file is overwritten, with the keys that may be in it")
		}
	}
}

func TestFileOfSeveralWriters(t *testing.T) {
	s := store(t, nil, nil)
	var writers sync.WaitGroup
	for n := range 20 {
		writers.Go(func() {
			if _, err := s.Set(t.Context(), fmt.Sprint(service, "/", n), key+fmt.Sprint(n), File); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	for n := range 20 {
		if k, err := s.Resolve(t.Context(), fmt.Sprint(service, "/", n)); err != nil || k.Secret.Reveal() != key+fmt.Sprint(n) {
			t.Errorf("service %d: %v", n, err)
		}
	}
}

func TestSecretDoesNotPrint(t *testing.T) {
	var shown strings.Builder
	k := Key{newSecret(key), "the keyring"}
	type holder struct {
		k Key
		s Secret
		p *Secret
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&shown, strings.Repeat(verb+" ", 4), k, &k, k.Secret, holder{k, k.Secret, &k.Secret})
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
		slog.New(h).Info("key", "k", k, "s", k.Secret, "h", holder{k, k.Secret, nil})
	}
	text, err := json.Marshal(k)
	if err != nil {
		t.Error(err)
	}
	shown.Write(text)
	if s := shown.String(); strings.Contains(s, key) || strings.Contains(strings.ToLower(s), fmt.Sprintf("%x", key)) {
		t.Errorf("the key shows: %s", s)
	}
	if last := k.Secret.Last4(); last != "cdef" {
		t.Errorf("the last four: %q", last)
	}
	if last := newSecret("short-key").Last4(); last != "" {
		t.Errorf("the last four of a short key: %q", last)
	}
	if (Secret{}).Reveal() != "" {
		t.Error("the zero Secret is not empty")
	}
}

func TestKeyringIsAskedOnlyWhereThereIsASessionBus(t *testing.T) {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("the keyring of this system needs no bus")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600))
	for _, c := range []struct {
		bus, dir string
		want     bool
	}{{"", "", false}, {"unix:path=/run/bus", "", true}, {"", dir, false}, {"", "/nowhere", false}} {
		environment := map[string]string{"DBUS_SESSION_BUS_ADDRESS": c.bus, "XDG_RUNTIME_DIR": c.dir}
		if got := keyringAvailable(func(name string) string { return environment[name] }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
