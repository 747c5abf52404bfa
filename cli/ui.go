package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"mayfly/internal/config"
	"mayfly/internal/term"
	"mayfly/keys"
	"mayfly/ui"
	"mayfly/ui/session"
)

const useWatch = "`mayfly watch` follows mail line by line"

func (a *app) runUI(cmd *cobra.Command, _ []string) error {
	if !term.Is(a.env.Stdin) || !term.Is(a.env.Stdout) {
		return withNext(usagef("the terminal application needs a terminal"), useWatch)
	}
	if a.env.Environ.Dumb() {
		return withNext(usagef("the terminal application needs a terminal that can move its cursor, and TERM is %q", a.env.Getenv("TERM")), useWatch)
	}
	if err := term.AwaitForeground(a.env.Stdin); err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	a.showsProblems, a.usualKeys, a.maxWait = true, ui.DefaultKeys(), session.MaxWait
	start, err := a.endpoint()
	if err != nil {
		return err
	}
	logPath := ""
	if a.debug {
		path, file, err := a.openDebugLog()
		if err != nil {
			return err
		}
		defer file.Close()
		logPath = path
	}
	if a.env.Getenv("GOGC") == "" {
		// Collect the garbage of opening a large message sooner; frames leave little.
		debug.SetGCPercent(50)
	}
	a.graceful.Store(true) // to restore the terminal
	a.signals.catchCrashes()
	err = ui.Run(cmd.Context(), ui.Options{
		Services: session.Options{
			Start: session.Profile{Name: start.profile, BaseURL: start.baseURL},
			Connect: func(ctx context.Context, t session.Target) (*session.Service, error) {
				return a.connectUI(ctx, a.targeted(start, t), t.Key)
			},
			Profiles:    uiProfiles(a.config()),
			SaveProfile: a.saveProfile,
		},
		Config:    a.config(),
		ThemePath: filepath.Join(a.stateDir(), "theme.toml"),
		Log:       a.log,
		LogPath:   logPath,
		Release:   a.signals.ignoreInterrupts,
		NoColor:   a.color == "never",
	})
	if text := a.exitNotice.Load(); text != nil {
		fmt.Fprintln(a.env.Stderr, *text)
	}
	return err
}

// targeted is the service that t means; start is the one that the program was started for.
func (a *app) targeted(start endpoint, t session.Target) endpoint {
	switch {
	case t.Profile == "" && t.BaseURL == "":
		return start
	case t.BaseURL == "" && t.Profile != localName:
		p := a.config().Profiles[t.Profile]
		return endpoint{t.Profile, p.BaseURL, a.insecure || p.Insecure}
	}
	p := a.config().Profiles[t.Profile]
	return endpoint{t.Profile, t.BaseURL, a.insecure || p.Insecure && p.BaseURL == t.BaseURL}
}

func uiProfiles(conf config.Config) []session.Profile {
	profiles := []session.Profile{{Name: localName}}
	for _, name := range slices.Sorted(maps.Keys(conf.Profiles)) {
		if p := conf.Profiles[name]; name != localName && p.BaseURL != "" {
			profiles = append(profiles, session.Profile{Name: name, BaseURL: p.BaseURL})
		}
	}
	return profiles
}

// connectUI connects to a service, with the key that was typed, if any. It starts the local service
// if none is running.
func (a *app) connectUI(ctx context.Context, p endpoint, typed string) (*session.Service, error) {
	if p.local() {
		return a.openLocal(ctx, p)
	}
	if typed == "" {
		key, err := a.key(ctx, p)
		if err != nil {
			return nil, err
		}
		typed = key.Secret.Reveal()
	}
	s, err := a.connection(p, typed)
	if err != nil {
		return nil, err
	}
	name := p.profile
	if address, err := url.Parse(p.baseURL); name == "" && err == nil {
		name = address.Host
	}
	forget := func(context.Context) error { a.exitNotice.Store(nil); return nil }
	return &session.Service{Client: s.client, Registry: s.known, Name: name, Profile: p.profile, Rules: s.rules, Close: forget}, nil
}

// saveProfile adds a profile to config.toml, and stores its key, if any.
func (a *app) saveProfile(ctx context.Context, p session.Profile, key string, where keys.Place) error {
	if err := config.AddProfile(a.configFile(), p.Name, p.BaseURL); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	err := a.keys().Set(ctx, p.BaseURL, key, where)
	if errors.Is(err, keys.ErrNoKeyring) {
		return fmt.Errorf("%w: set %s, or mayfly key set --file --profile %s", keys.ErrNoKeyring, keys.Variable, p.Name)
	}
	return err
}
