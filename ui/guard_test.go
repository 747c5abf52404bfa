package ui

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/config"
	"mayfly/ui/safecopy"
)

// panics is a message whose handling or command panics.
type panics struct{ where string }

func (p panics) apply(a *app) tea.Cmd {
	switch p.where {
	case "update":
		panic("on purpose")
	case "command":
		return tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic("on purpose") })
	}
	return nil
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	for _, where := range []string{"update", "command"} {
		t.Run(where, func(t *testing.T) {
			crash := filepath.Join(t.TempDir(), "crash.log")
			out := &terminal{shown: make(chan struct{})}
			err := runWith(t, out, crash, panics{where})
			if err == nil || !strings.Contains(err.Error(), crash) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("the error is %v", err)
			}
			text, readErr := os.ReadFile(crash)
			if readErr != nil || !strings.Contains(string(text), "on purpose") || !strings.Contains(string(text), "goroutine") {
				t.Errorf("the file says %q, %v", text, readErr)
			}
			if !strings.Contains(out.String(), "\x1b[?1049l") {
				t.Error("the alternate screen was not left")
			}
			if strings.Contains(out.String(), "on purpose") {
				t.Error("the panic is on the screen")
			}
		})
	}
}

// terminal takes what is written, and tells when the first frame was.
type terminal struct {
	bytes.Buffer
	shown chan struct{}
	once  sync.Once
}

func (t *terminal) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("\x1b[?1049h")) {
		t.once.Do(func() { close(t.shown) })
	}
	return t.Buffer.Write(p)
}

// runWith runs the application on a terminal that is not one, and sends it a message.
func runWith(t *testing.T, out *terminal, crash string, msg tea.Msg) error {
	t.Helper()
	o := Options{Connect: func(ctx context.Context, _ Target) (*Connection, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	w := world{copies: &safecopy.Copies{}, sessions: &sessions{}}
	g := &guard{app: newApp(ctx, o, config.Default(), w), crashPath: crash}
	p := tea.NewProgram(g, tea.WithInput(nil), tea.WithOutput(out), tea.WithoutCatchPanics(), tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
	g.stop = func() { go p.Quit() }
	go func() {
		p.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
		<-out.shown
		p.Send(msg)
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.close(); err != nil {
		t.Error(err)
	}
	return g.crash()
}
