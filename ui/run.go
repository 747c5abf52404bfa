package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/internal/config"
	"mayfly/ui/guard"
	"mayfly/ui/host"
	"mayfly/ui/session"
)

// Options are the application's settings.
type Options struct {
	Services  session.Options
	Config    config.Config // read with [Keys]
	Log       *slog.Logger  // nil for none; gets no keys and no bodies
	LogPath   string        // where Log writes, as shown to the user; empty when nothing is logged
	CrashPath string        // file for the details of a panic
	ThemePath string        // file that keeps the theme chosen on the screen; empty for none
	Lend      func() func() // called before another program gets the terminal; it returns what to call after
	NoColor   bool          // no colours, whatever the terminal supports; see NO_COLOR
}

// Run shows the application until the user quits or ctx ends. Its error is one line, fit to show
// the user.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	a := newApp(ctx, o, host.New(o.Config.UI.DownloadDir, o.Lend))
	g := &guard.Guard{App: a, CrashPath: o.CrashPath, LogPath: o.LogPath}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutCatchPanics(), tea.WithoutSignalHandler()}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(g, options...)
	var stopping sync.WaitGroup
	g.Stop = func() { stopping.Go(p.Quit) }
	_, err := p.Run()
	cancel()
	stopping.Wait()
	closed := a.close()
	switch crash := g.Crash(); {
	case crash != nil:
		return crash
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return closed
	case err != nil:
		return fmt.Errorf("the terminal was lost: %w", errors.Join(err, closed))
	}
	return closed
}

// Keys are the default keys of every action, by its ID in config.toml.
func Keys() map[string][]string { return (&app{commands: &Commands{}}).actions().Keys() }
