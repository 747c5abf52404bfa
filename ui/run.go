package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/adrg/xdg"
	"github.com/charmbracelet/colorprofile"

	"mayfly/config"
	"mayfly/term"
	"mayfly/ui/guard"
	"mayfly/ui/safecopy"
	"mayfly/ui/session"
)

type (
	// Target is what to connect to; the zero Target is what the program was started for.
	Target = session.Target
	// Connection is access to a service.
	Connection = session.Connection
	// Profile names a service. The one without a base URL is the local service.
	Profile = session.Profile
)

// Options is what the application is started with.
type Options struct {
	// Connect makes the connection. It is called beside the first frame, and again when the user
	// connects to something else or tries again. An error that is keys.ErrNone leads to the dialog
	// that asks for a key.
	Connect func(ctx context.Context, t Target) (*Connection, error)
	// Profiles are the services to switch between.
	Profiles []Profile
	// SaveProfile keeps a profile, and its key in the keyring; nil where that is not possible.
	SaveProfile func(ctx context.Context, p Profile, key string) error

	Config    config.Config // read with [Keys]
	Log       *slog.Logger  // nil for none; gets no keys and no bodies
	LogPath   string        // where Log writes, for people; empty when nothing is logged
	CrashPath string        // file for what is known about a panic
	NoColor   bool          // as NO_COLOR: no colours, whatever the terminal can do
}

// host is the machine that the application runs on; tests put their own in its place.
type host struct {
	copy      func(ctx context.Context, env term.Env, text string) (clipboards []string, err error)
	open      func(ctx context.Context, env term.Env, target string) error // with the system's opener
	copies    *safecopy.Copies
	downloads string // folder for saved messages and attachments
}

func thisHost() host {
	return host{
		copy:   func(ctx context.Context, env term.Env, text string) ([]string, error) { return env.Copy(ctx, text) },
		open:   func(ctx context.Context, env term.Env, target string) error { return env.Open(ctx, target) },
		copies: &safecopy.Copies{}, downloads: xdg.UserDirs.Download,
	}
}

// Run shows the application until the user quits. Its error is one line for people.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	a := newApp(ctx, o, thisHost())
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

// Keys are the usual keys of every action, by the name that config.toml knows it by.
func Keys() map[string][]string { return (&app{}).actions().Keys() }
