package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// guard stands between the program and the application: a panic in either of its methods or in a command
// becomes an orderly end, which gives the terminal back, and a file that says what happened.
type guard struct {
	app       *app
	crashPath string
	logPath   string // of the log, for people; empty when nothing is logged
	stop      func() // ends the program; called once, after a panic

	mu    sync.Mutex
	cause error
}

// Init is the application's, guarded.
func (g *guard) Init() (cmd tea.Cmd) {
	defer g.recover(func() { cmd = tea.Quit })
	return g.wrap(g.app.Init())
}

// Update is the application's, guarded.
func (g *guard) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	if g.crash() != nil {
		return g, tea.Quit
	}
	defer g.recover(func() { m, cmd = g, tea.Quit })
	_, cmd = g.app.Update(msg)
	return g, g.wrap(cmd)
}

// View is the application's, guarded; after a panic it is empty.
func (g *guard) View() (v tea.View) {
	if g.crash() != nil {
		return tea.View{}
	}
	defer g.recover(func() { v = tea.View{} })
	return g.app.View()
}

// wrap guards a command, and those it is a batch of.
func (g *guard) wrap(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer g.recover(func() { msg = tea.Quit() })
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			wrapped := make(tea.BatchMsg, len(batch))
			for i, c := range batch {
				wrapped[i] = g.wrap(c)
			}
			return wrapped
		}
		return msg
	}
}

func (g *guard) recover(then func()) {
	if r := recover(); r != nil {
		g.note(r, debug.Stack())
		then()
	}
}

// note writes down the first panic.
func (g *guard) note(r any, stack []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return
	}
	defer g.stop()
	g.cause = fmt.Errorf("mayfly failed: %v", r)
	if g.crashPath == "" {
		return
	}
	text := fmt.Sprintf("%s\n%v\n\n%s", time.Now().Format(time.RFC3339), r, stack)
	err := os.MkdirAll(filepath.Dir(g.crashPath), 0o700)
	if err == nil {
		err = os.WriteFile(g.crashPath, []byte(text), 0o600)
	}
	if err != nil {
		g.cause = fmt.Errorf("mayfly failed: %v (and what is known about it could not be written: %w)", r, err)
		return
	}
	g.cause = fmt.Errorf("mayfly failed; what is known about it is in %s", g.crashPath)
	if g.logPath != "" {
		g.cause = fmt.Errorf("%w, and what came before in %s", g.cause, g.logPath)
	}
}

func (g *guard) crash() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}
