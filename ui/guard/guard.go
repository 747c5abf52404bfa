// Package guard wraps a Bubble Tea application: a panic restores the terminal, writes a crash file
// and ends the program in an orderly way.
package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Guard is a [tea.Model] around another: a panic in a method or a command of App ends the program.
type Guard struct {
	App       tea.Model
	CrashPath string // file for the details of a panic; empty for none
	LogPath   string // of the log, as shown to the user; empty when nothing is logged
	Stop      func() // ends the program; called once, after a panic

	mu    sync.Mutex
	cause error
}

// Init calls App.Init.
func (g *Guard) Init() (cmd tea.Cmd) {
	defer g.recover(func() { cmd = tea.Quit })
	return g.wrap(g.App.Init())
}

// Update calls App.Update.
func (g *Guard) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	if g.Crash() != nil {
		return g, tea.Quit
	}
	defer g.recover(func() { m, cmd = g, tea.Quit })
	_, cmd = g.App.Update(msg)
	return g, g.wrap(cmd)
}

// View calls App.View; after a panic it is empty.
func (g *Guard) View() (v tea.View) {
	if g.Crash() != nil {
		return tea.View{}
	}
	defer g.recover(func() { v = tea.View{} })
	return g.App.View()
}

// wrap guards a command, and each command of a batch.
func (g *Guard) wrap(cmd tea.Cmd) tea.Cmd {
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

func (g *Guard) recover(then func()) {
	if r := recover(); r != nil {
		g.note(r, debug.Stack())
		then()
	}
}

// note records the first panic.
func (g *Guard) note(r any, stack []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cause != nil {
		return
	}
	defer g.Stop()
	g.cause = fmt.Errorf("mayfly crashed: %v", r)
	if g.CrashPath == "" {
		return
	}
	text := fmt.Sprintf("%s\n%v\n\n%s", time.Now().Format(time.RFC3339), r, stack)
	err := os.MkdirAll(filepath.Dir(g.CrashPath), 0o700)
	if err == nil {
		err = os.WriteFile(g.CrashPath, []byte(text), 0o600)
	}
	if err != nil {
		g.cause = fmt.Errorf("mayfly crashed: %v (the details could not be saved: %w)", r, err)
		return
	}
	g.cause = fmt.Errorf("mayfly crashed; the details are in %s", g.CrashPath)
	if g.LogPath != "" {
		g.cause = fmt.Errorf("%w, and the log is in %s", g.cause, g.LogPath)
	}
}

// Crash is the panic as one line for the user, nil if there was none.
func (g *Guard) Crash() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cause
}
