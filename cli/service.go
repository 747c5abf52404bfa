package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/config"
	"mayfly/internal/local"
	"mayfly/internal/registry"
	"mayfly/internal/server"
	"mayfly/internal/sockets"
	"mayfly/internal/term"
	"mayfly/keys"
	"mayfly/render/check"
)

// localName is the profile of the local service.
const localName = "local"

// endpoint is the service to use.
type endpoint struct {
	profile  string // "" for an address without a name
	baseURL  string // "" for the local service
	insecure bool
}

func (p endpoint) local() bool { return p.baseURL == "" }

// endpoint decides which service to use, and refuses an address that cannot be one.
func (a *app) endpoint() (endpoint, error) {
	p, err := a.namedEndpoint(a.baseURL, a.profile)
	if err == nil && !p.local() {
		if invalid := api.CheckBaseURL(p.baseURL); invalid != nil {
			err = usagef("%w", invalid) // which does not repeat the address: it may have a password
		}
	}
	return p, err
}

// namedEndpoint is the service that is named: the flags --base-url and --profile come before the environment,
// which comes before config.toml; without any of them it is the local service.
func (a *app) namedEndpoint(baseURL, profile string) (endpoint, error) {
	conf := a.config()
	if profile == "" {
		baseURL = cmp.Or(baseURL, a.env.Getenv("MAYFLY_BASE_URL"))
	}
	if baseURL != "" {
		return endpoint{cmp.Or(profile, a.env.Getenv("MAYFLY_PROFILE")), baseURL, a.insecure}, nil
	}
	name, err := a.profileName(conf, profile)
	if err != nil {
		return endpoint{}, err
	}
	p, ok := conf.Profiles[name]
	switch {
	case !ok && name == localName:
		return endpoint{profile: localName}, nil
	case !ok:
		known := slices.Sorted(maps.Keys(conf.Profiles))
		return endpoint{}, &failure{statusUsage, fmt.Errorf("%s has no profile %q", a.configFile(), name),
			"it has " + strings.Join(append(known, localName), ", ")}
	case p.BaseURL == "" && name != localName:
		return endpoint{}, fmt.Errorf("profile %q of %s has no base_url", name, a.configFile())
	}
	return endpoint{name, p.BaseURL, a.insecure || p.Insecure}, nil
}

// meant is the base URL of the one service that MAYFLY_API_KEY and MAYFLY_SMTP are for: the service that is named
// without flags, or that of the flags where that is the local one, which needs neither. While it is not clear which
// that is, it is none.
func (a *app) meant() string {
	p, err := a.namedEndpoint("", "")
	if err == nil && p.local() {
		p, err = a.namedEndpoint(a.baseURL, a.profile)
	}
	if err != nil {
		return ""
	}
	return p.baseURL
}

func (a *app) profileName(conf config.Config, profile string) (string, error) {
	name := cmp.Or(profile, a.env.Getenv("MAYFLY_PROFILE"), conf.Profile)
	if name != "" {
		return name, nil
	}
	// A command must not act on a service the user did not choose.
	unclear := func(p config.Problem) bool { return p.Setting == "profile" || p.Setting == "" && p.Line == 0 }
	if !a.showsProblems && slices.ContainsFunc(conf.Problems, unclear) {
		return "", withNext(errors.New("it is not clear which service to use"),
			"correct the profile in config.toml, or name one with --profile or --base-url")
	}
	return localName, nil
}

// connection is a service that can be called, and the inboxes known of it.
type connection struct {
	endpoint
	session *localSession // of the local service, else nil
	client  *api.Client
	known   *registry.Registry
	rules   check.Rules // of the checks of its messages
}

// smtp is where mail to the inboxes of c is sent, with the port that was taken if it is another; "" if
// that is unknown.
func (a *app) smtp(c *connection) string {
	if c.session != nil {
		return c.session.last.Load().SMTP()
	}
	if a.visit != nil {
		return a.visit.SMTPShown
	}
	if keys.SameService(c.baseURL, a.meant()) {
		return a.env.Getenv("MAYFLY_SMTP")
	}
	return ""
}

// connect finds the service that the settings name, and the key to it. The user at a terminal is told
// if it does not answer.
func (a *app) connect(ctx context.Context) (*connection, error) {
	if a.visit != nil {
		return a.connectVisit()
	}
	a.saysSlow = term.Is(a.env.Stderr)
	return a.connectBy(ctx, local.Attach)
}

// connected is the function of a command that needs a service.
func (a *app) connected(run func(ctx context.Context, s *connection, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		return run(cmd.Context(), s, args)
	}
}

// connectBy connects as connect does, but finds the local service in some way.
func (a *app) connectBy(ctx context.Context, find findLocal) (*connection, error) {
	p, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	if p.local() {
		return a.connectLocal(ctx, p, find)
	}
	key, err := a.key(ctx, p)
	if err != nil {
		return nil, err
	}
	return a.connection(p, key.Secret.Reveal(), a.transport)
}

// connectLocal connects to the local service, found in some way.
func (a *app) connectLocal(ctx context.Context, p endpoint, find findLocal) (*connection, error) {
	s, err := find(ctx, a.localOptions())
	if err != nil {
		return nil, err
	}
	session := &localSession{app: a, find: find}
	session.last.Store(s)
	p.baseURL = s.BaseURL
	c, err := a.connection(p, s.Key, session)
	if err == nil {
		c.session = session
	}
	return c, err
}

// findLocal is [local.Attach] or [local.AttachOrStart].
type findLocal func(context.Context, local.Options) (*local.Session, error)

// connection is with a service, through the network if nothing else is named.
func (a *app) connection(p endpoint, key string, through http.RoundTripper) (*connection, error) {
	if a.saysSlow {
		through = slowWarner{cmp.Or[http.RoundTripper](through, api.NewTransport()), a.env.Stderr}
	}
	client, err := api.New(p.baseURL, key, api.Options{
		Insecure: p.insecure, UserAgent: "mayfly/" + version(), Transport: through, Trace: a.trace(), MaxWait: a.maxWait,
	})
	if err != nil {
		f := &failure{status: statusUsage, err: err}
		if _, err := api.New(p.baseURL, key, api.Options{Insecure: true}); err == nil {
			f.next = "--insecure allows it"
		}
		return nil, f
	}
	rules := a.rules()
	if u, err := url.Parse(p.baseURL); err == nil {
		rules.Local = sockets.IsLoopback(u.Hostname())
	}
	return &connection{endpoint: p, client: client, known: a.registry(p, client), rules: rules}, nil
}

func (a *app) registry(p endpoint, c *api.Client) *registry.Registry {
	switch {
	case a.visit != nil:
		return a.visit.key.registry(c)
	case p.profile == localName:
		return registry.Open(a.stateDir(), p.profile, "") // its port may change
	}
	return registry.Open(a.stateDir(), p.profile, p.baseURL).KeptBy(c)
}

func (a *app) keys() *keys.Store { return keys.New(a.configDir(), a.env.Getenv, a.meant()) }

func (a *app) key(ctx context.Context, p endpoint) (keys.Key, error) {
	key, err := a.keys().Resolve(ctx, p.baseURL)
	if errors.Is(err, keys.ErrNone) {
		file := ""
		if errors.Is(err, keys.ErrNoKeyring) {
			file = " --file"
		}
		next := "run `mayfly key set" + file + p.flag() + "`"
		if keys.SameService(p.baseURL, a.meant()) {
			next += " or set MAYFLY_API_KEY"
		}
		return key, withNext(err, next)
	}
	if err != nil {
		return key, fmt.Errorf("looking for the API key: %w", err)
	}
	return key, nil
}

// flag names the service on a command line.
func (p endpoint) flag() string {
	if p.profile != "" {
		return " --profile " + p.profile
	}
	return " --base-url " + p.baseURL
}

func (a *app) configDir() string { return a.dir("XDG_CONFIG_HOME", xdg.ConfigHome) }
func (a *app) dataDir() string   { return a.dir("XDG_DATA_HOME", xdg.DataHome) }

func (a *app) stateDir() string {
	return cmp.Or(a.env.Getenv(stateVariable), a.dir("XDG_STATE_HOME", xdg.StateHome))
}

func (a *app) configFile() string { return filepath.Join(a.configDir(), "config.toml") }

// dir is Mayfly's directory within the one that the environment variable names, or within fallback
// when that is not an absolute path.
func (a *app) dir(variable, fallback string) string {
	base := a.env.Getenv(variable)
	if !filepath.IsAbs(base) {
		base = fallback
	}
	return filepath.Join(base, "mayfly")
}

// rules are those of config.toml for the checks.
func (a *app) rules() check.Rules {
	c := a.config().Checks
	return check.Rules{Ignore: c.Ignore, Clients: c.Clients}
}

// config reads config.toml, once. What is wrong in it goes to stderr, except where it is of the application
// or the command shows it itself.
func (a *app) config() config.Config {
	a.configOnce.Do(func() {
		if a.visit != nil {
			a.conf = config.Default()
			return
		}
		a.conf = config.Read(a.configFile(), a.usualKeys)
		a.checkRelay()
		if a.showsProblems {
			return
		}
		for _, p := range a.conf.Problems {
			if !p.UIOnly() {
				fmt.Fprintln(a.env.Stderr, errorLine(errors.New(p.String())))
			}
		}
	})
	return a.conf
}

// checkRelay finds the file with the relay's password, from the directory of config.toml, and leaves
// out a relay that cannot work, so that the local service runs without.
func (a *app) checkRelay() {
	r := &a.conf.Relay
	if rest, ok := strings.CutPrefix(r.PasswordFile, "~/"); ok {
		r.PasswordFile = filepath.Join(xdg.Home, rest)
	} else if r.PasswordFile != "" && !filepath.IsAbs(r.PasswordFile) {
		r.PasswordFile = filepath.Join(filepath.Dir(a.configFile()), r.PasswordFile)
	}
	err := server.Relay(*r).Check([]string{server.Domain})
	if err == nil {
		return
	}
	for fault := range strings.Lines(err.Error()) {
		a.conf.Problems = append(a.conf.Problems, config.Problem{File: a.configFile(), Setting: "relay", Text: strings.TrimSpace(fault)})
	}
	*r = config.Relay{}
}
