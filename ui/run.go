package ui

import (
	"context"
	"errors"
	"fmt"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/ui/config"
)

// Run shows the application until the user quits. Its error is one line for people.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	w := realWorld()
	cfg := config.Read(o.ConfigPath, usualKeys())
	g := &guard{app: newApp(ctx, o, cfg, w), crashPath: o.CrashPath, logPath: o.LogPath}
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutCatchPanics(), tea.WithoutSignalHandler()}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	p := tea.NewProgram(g, options...)
	var stopping sync.WaitGroup
	g.stop = func() { stopping.Go(p.Quit) }
	_, err := p.Run()
	cancel()
	stopping.Wait()
	closed := w.close()
	switch crash := g.crash(); {
	case crash != nil:
		return crash
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return closed
	case err != nil:
		return fmt.Errorf("the terminal was lost: %w", errors.Join(err, closed))
	}
	return closed
}
