package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/internal/config"
	"mayfly/ui/host"
	"mayfly/ui/session"
)

// Options are the application's settings.
type Options struct {
	Services  session.Options
	Config    config.Config // read with [DefaultKeys]
	Log       *slog.Logger  // nil for none; gets no keys and no bodies
	LogPath   string        // where Log writes, as shown to the user; empty when nothing is logged
	ThemePath string        // file that keeps the theme chosen on the screen; empty for none
	Release   func() func() // called before another program gets the terminal; it returns what to call after
	NoColor   bool          // no colours, whatever the terminal supports; see NO_COLOR
}

// Run shows the application until the user quits or ctx ends. Its error is one line, fit to show
// the user.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	a := newApp(ctx, o, host.New(o.Config.UI.DownloadDir, o.Release))
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(a, options...).Run()
	ended := ctx.Err() != nil
	cancel()
	closed := a.close()
	switch {
	case errors.Is(err, tea.ErrProgramPanic): // Bubble Tea has given the terminal back and shown the details
		return errors.New("crashed: the lines above say where")
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ended:
		return closed
	case err != nil:
		return fmt.Errorf("the terminal was lost: %w", errors.Join(err, closed))
	}
	return closed
}
