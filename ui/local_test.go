package ui

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/ui/session"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/config"
	"mayfly/internal/local"
	"mayfly/internal/registry"
)

// rig is the application on the real local service: real SMTP, real HTTP, a real store on disk.
type rig struct {
	*harness
	client *api.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{harness: &harness{t: t, msgs: make(chan tea.Msg, 4096)}}
	o := local.Options{DataDir: filepath.Join(dir, "data"), HTTP: "127.0.0.1:0", SMTP: "127.0.0.1:0"}
	serve(t, o)
	connect := func(ctx context.Context, _ session.Target) (*session.Service, error) {
		s, err := local.Attach(ctx, o)
		if err != nil {
			return nil, err
		}
		if r.client, err = api.New(s.BaseURL, s.Key, api.Options{}); err != nil {
			return nil, err
		}
		return &session.Service{
			Client: r.client, Registry: registry.Open(filepath.Join(dir, "registry"), "local", s.BaseURL), Name: "local",
			Profile: "local", Local: true, SMTP: func() (address, note string) { return s.SMTPAddr, "" },
			Close: func(context.Context) error { s.Close(); return nil },
		}, nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.app = newApp(ctx, Options{Services: session.Options{Connect: connect}, Config: config.Default()}, r.machine(dir))
	t.Cleanup(func() {
		cancel()
		if err := r.app.close(); err != nil {
			t.Error(err)
		}
	})
	r.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	r.run(r.app.Init())
	return r
}

// serve runs the local service in this process until the test ends.
func serve(t *testing.T, o local.Options) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	reports, report := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- local.Serve(ctx, o, report) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	if _, err := bufio.NewReader(reports).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// until takes what comes until every text stands on the screen.
func (r *rig) until(texts ...string) {
	r.t.Helper()
	const failAfter = 20 * time.Second // nothing waits for it to pass
	timeout := time.NewTimer(failAfter)
	defer timeout.Stop()
	for slices.ContainsFunc(texts, func(text string) bool { return !r.shows(text) }) {
		select {
		case msg := <-r.msgs:
			r.send(msg)
		case <-timeout.C:
			r.t.Fatalf("the screen never said %q:\n%s", texts, strings.Join(r.text(), "\n"))
		}
	}
}

func (r *rig) hit(keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		r.send(keyPress(k))
	}
}

func TestOnTheLocalService(t *testing.T) {
	r := newRig(t)
	r.until("@mayfly.test", "SMTP 127.0.0.1:", "● live")
	r.hit("n")
	r.until("copied ", "(OSC 52, clipboard)")
	r.hit("t")
	r.until("Acme", "Confirm your e-mail address", "after you copied the address", "Welcome, Ada", "Confirm e-mail")
	r.hit("c")
	r.until("copied 482913 from Acme (OSC 52, clipboard)")
	if code := r.copied[len(r.copied)-1]; code != "482913" {
		t.Errorf("the code in the clipboard is %q", code)
	}
	r.hit("o")
	r.until("Open this link?", "→ app.acme.example")
	r.hit("o")
	r.until("opened app.acme.example")
	if want := "https://app.acme.example/confirm?token=5b1f9a"; len(r.opened) != 1 || r.opened[0] != want {
		t.Errorf("opened %q, want %q", r.opened, want)
	}
	r.hit("5")
	r.until("--part")
	r.hit("4")
	r.until("MIME-Version")
	r.hit("6", "3", "2")
	r.until("Enter this code to finish signing up:")

	id := r.app.inbox().ID
	r.hit("d", "y")
	r.until("deleted ")
	if _, err := r.client.Inbox(t.Context(), id); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("the inbox that was deleted: %v", err)
	}
}
