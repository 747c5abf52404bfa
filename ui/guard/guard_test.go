package guard

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// panics is a message whose handling, command or frame panics.
type panics struct{ where string }

// app is an application that does as such a message says.
type app struct{ view string }

func (a *app) Init() tea.Cmd { return nil }

func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p, _ := msg.(panics)
	switch p.where {
	case "update":
		panic("on purpose")
	case "command":
		return a, tea.Batch(func() tea.Msg { return nil }, func() tea.Msg { panic("on purpose") })
	}
	a.view = p.where
	return a, nil
}

func (a *app) View() tea.View {
	if a.view == "view" {
		panic("on purpose")
	}
	v := tea.NewView("a frame")
	v.AltScreen = true
	return v
}

func TestAPanicGivesTheTerminalBack(t *testing.T) {
	for _, where := range []string{"update", "command", "view"} {
		t.Run(where, func(t *testing.T) {
			crash := filepath.Join(t.TempDir(), "crash.log")
			out := &terminal{shown: make(chan struct{})}
			err := run(t, out, crash, panics{where})
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

// terminal takes what is written, and says when the first frame was.
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

// run runs the application on a terminal that is not one, and sends it a message.
func run(t *testing.T, out *terminal, crash string, msg tea.Msg) error {
	t.Helper()
	g := &Guard{App: &app{}, CrashPath: crash}
	p := tea.NewProgram(g, tea.WithInput(nil), tea.WithOutput(out), tea.WithoutCatchPanics(), tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
	var sending sync.WaitGroup
	defer sending.Wait()
	g.Stop = func() { sending.Go(p.Quit) }
	sending.Go(func() {
		<-out.shown
		p.Send(msg)
	})
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	return g.Crash()
}
