package keys

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// scene names the session bus that a test process was started on.
const scene = "MAYFLY_TEST_SESSION_BUS"

// onSessionBus runs the calling test again in a process on a session bus of
// its own, with an empty home, after it has started a keyring, if any.
func onSessionBus(t *testing.T, name, prepare string, arguments ...string) {
	t.Helper()
	needed := []string{"dbus-run-session", "bash"}
	if prepare != "" {
		needed = append(needed, "gnome-keyring-daemon")
	}
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: apt-get install -y --no-install-recommends dbus gnome-keyring", program)
		}
	}
	home, err := os.MkdirTemp("", "keys") // short: the names of sockets are
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	run := filepath.Join(home, "run")
	must(t, os.Mkdir(run, 0o700))
	arguments = append(arguments, "--", "bash", "-euc", prepare+"\n"+`exec "$0" -test.run="$1" -test.v`, os.Args[0], "^"+t.Name()+"$")
	c := exec.CommandContext(t.Context(), "dbus-run-session", arguments...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + run, "LANG=C.UTF-8", scene + "=" + name}
	c.WaitDelay = 10 * time.Second // for a keyring that has yet to see the end of its bus
	output, err := c.CombinedOutput()
	t.Logf("%s", output)
	must(t, err)
}

func TestSecretService(t *testing.T) {
	if os.Getenv(scene) == "" {
		onSessionBus(t, "unlocked", "echo -n pw | gnome-keyring-daemon --unlock --components=secrets --daemonize")
		return
	}
	s := New(t.TempDir(), os.Getenv, service)
	if s.keyring == nil {
		t.Fatal("the keyring is not used")
	}
	ctx := t.Context()
	if _, err := s.Resolve(ctx, service); !errors.Is(err, ErrNone) || errors.Is(err, ErrNoKeyring) {
		t.Fatalf("before Set: %v", err)
	}
	if err := s.TryKeyring(ctx); err != nil {
		t.Errorf("TryKeyring: %v", err)
	}
	for _, value := range []string{key, key + "-changed"} {
		set(t, s, service, value, Keyring)
		if k, err := s.Resolve(ctx, service); err != nil || k.Secret.Reveal() != value || k.Source != "the keyring" {
			t.Errorf("Resolve: %v, %v", k, err)
		}
	}
	if _, err := s.Resolve(ctx, "https://elsewhere.example"); !errors.Is(err, ErrNone) {
		t.Errorf("for another service: %v", err)
	}
	if err := s.Remove(ctx, service); err != nil {
		t.Errorf("removing: %v", err)
	}
	if _, err := s.Resolve(ctx, service); !errors.Is(err, ErrNone) {
		t.Errorf("after Remove: %v", err)
	}
}

// expectNoKeyring checks that the keyring fails in time, and says why.
func expectNoKeyring(t *testing.T, why string) {
	t.Helper()
	s := New(t.TempDir(), os.Getenv, service)
	if s.keyring == nil {
		t.Fatal("the keyring is not asked")
	}
	if err := s.TryKeyring(t.Context()); !errors.Is(err, ErrNoKeyring) || !strings.HasSuffix(err.Error(), why) {
		t.Errorf("TryKeyring: %v, want %q", err, why)
	}
	began := time.Now()
	if _, err := s.Set(t.Context(), service, key, Keyring); !errors.Is(err, ErrNoKeyring) {
		t.Errorf("Set: %v", err)
	}
	if _, err := s.Resolve(t.Context(), service); !errors.Is(err, ErrNone) {
		t.Errorf("Resolve: %v", err)
	}
	if took := time.Since(began); took > 2*keyringTimeout+time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestLockedSecretService(t *testing.T) {
	if os.Getenv(scene) == "" {
		onSessionBus(t, "locked", "gnome-keyring-daemon --start --components=secrets --daemonize")
		return
	}
	expectNoKeyring(t, string(errLocked))
}

func TestSessionBusWithoutSecretService(t *testing.T) {
	if os.Getenv(scene) == "" {
		config := filepath.Join(t.TempDir(), "bus.conf")
		const text = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
		must(t, os.WriteFile(config, []byte(text), 0o600))
		onSessionBus(t, "empty", "", "--config-file="+config)
		return
	}
	expectNoKeyring(t, string(errAbsent))
}
