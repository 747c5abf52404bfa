package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/internal/files"
	"mayfly/internal/near"
	"mayfly/internal/server"
	"mayfly/internal/systemd"
	"mayfly/mcp"
)

// shutdownTimeout is how long a service that stops waits for mail that it is receiving.
const shutdownTimeout = 20 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var file string
	s := &serveSettings{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service: mail in over SMTP, out over REST",
		Long: "Run the service until SIGINT or SIGTERM. On a PostgreSQL database, any number of processes can serve one store.\n\n" +
			"Every flag can also be set by an environment variable, MAYFLY_SERVE_ and the flag's name (MAYFLY_SERVE_MAX_MESSAGE_SIZE), or in the TOML " +
			"file of --config (max_message_size, or message_size in the table [max]). A flag overrides a variable, and a variable overrides the file.\n\n" +
			"Every user of a machine can see its command lines: put a URL with a password in MAYFLY_SERVE_STORE or in the file, or the password in PGPASSFILE.",
		Example: `# A directory, and a key for it
mayfly serve --store /var/lib/mayfly --domains inbox.example
mayfly admin key create --plan dev --store /var/lib/mayfly

# For a test: free ports, a store of its own
mayfly serve --http 127.0.0.1:0 --smtp 127.0.0.1:0 --store ./store

# With settings from a file
mayfly serve --config /etc/mayfly/serve.toml

# On a database
mayfly serve --store postgres://mayfly@db.example/mayfly`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), a.loadServeSettings(cmd.Flags(), file))
		},
	}
	flags := cmd.Flags()
	s.flags(flags)
	flags.StringVar(&file, "config", "", "TOML `file` with settings")
	groupFlags(flags, "settings")
	return cmd
}

// serveSettings holds the settings of the service.
type serveSettings struct {
	app       *app
	config    server.Config
	mcp       bool // also serve /mcp
	logFormat string
	logLevel  string
}

// defaultHTTP is where `mayfly serve` serves the REST API.
const defaultHTTP = "127.0.0.1:8425"

func (s *serveSettings) flags(f *pflag.FlagSet) {
	c := &s.config
	f.StringVar(&c.HTTP, "http", defaultHTTP, "`address` of the REST API")
	f.StringVar(&c.SMTP, "smtp", "127.0.0.1:2525", "`address` that accepts mail")
	f.StringVar(&c.SMTPS, "smtps", "", "`address` that accepts mail over TLS from the start (default: none)")
	f.StringVar(&c.POP3, "pop3", "", "`address` where clients fetch mail over POP3 (default: none)")
	f.StringVar(&c.SSH, "ssh", "", "`address` where teams use the application and the command line over SSH (default: none)")
	f.StringSliceVar(&c.Balancers, "balancers", nil, "`list` of trusted proxy networks, which name the client with the PROXY protocol or (REST API) X-Forwarded-For (default: none)")
	f.StringVar(&c.Metrics, "metrics", "", "`address` of the Prometheus metrics (default: none)")
	f.BoolVar(&s.mcp, "mcp", false, "also serve the Model Context Protocol, at /mcp")
	groupFlags(f, "addresses")

	s.app.storeFlag(f, &c.Store)
	f.StringVar(&c.KeyFile, "key-file", "", "`file` with an API key, created if it does not exist")
	groupFlags(f, "store and keys")

	f.StringSliceVar(&c.Domains, "domains", []string{server.Domain}, "`list` of domains, separated by commas; an inbox gets the first unless another is requested")
	f.StringVar(&c.Hostname, "hostname", "", "`name` of the SMTP server (default: the machine's)")
	f.BoolVar(&c.CatchAll, "catch-all", false, "create an inbox when mail arrives for an unknown address")
	f.StringVar(&c.CatchAllKey, "catch-all-key", "", "`ID` of the API key that owns these inboxes")
	f.Var((*duration)(&c.CatchAllTTL), "catch-all-ttl", "lifetime of these inboxes (default 1 day)")
	f.BoolVar(&c.AuthAny, "smtp-auth-any", false, "accept any SMTP login; then no API key logs in to its own mailbox")
	f.BoolVar(&c.InsecureLogins, "insecure-logins", false, "let API keys log in to SMTP from other machines without TLS")
	chaosFlag(f, &c.Chaos)
	groupFlags(f, "mail")

	f.StringVar(&c.Relay.Host, "relay-host", "", "`address` of the relay, the mail server for released messages (default: none)")
	f.StringVar(&c.Relay.TLS, "relay-tls", "starttls", "`how` to encrypt the connection: starttls, tls (from the start) or none")
	f.StringVar(&c.Relay.User, "relay-user", "", "`name` to log in with (default: no login)")
	f.StringVar(&c.Relay.PasswordFile, "relay-password-file", "", "`file` with the password")
	f.StringVar(&c.Relay.From, "relay-from", "", "`address` that released messages are sent from")
	f.StringSliceVar(&c.Relay.Allow, "relay-allow", nil, "`list` of addresses that messages can be released to; *@domain allows those of a domain with only letters, digits and . _ + - before the @")
	groupFlags(f, "relay")

	f.StringVar(&c.WebhookURL, "webhook-url", "", "`URL` that gets a request for each message that arrives (default: none)")
	f.StringVar(&c.WebhookSecretFile, "webhook-secret-file", "", "`file` with the secret that signs webhooks, created if it does not exist")
	groupFlags(f, "webhooks")

	f.StringVar(&c.HTTPCert, "http-cert", "", "PEM `file` with the certificate of the REST API")
	f.StringVar(&c.HTTPKey, "http-key", "", "PEM `file` with the private key of that certificate")
	f.StringVar(&c.SMTPCert, "smtp-cert", "", "PEM `file` with the certificate for STARTTLS, --smtps and --pop3")
	f.StringVar(&c.SMTPKey, "smtp-key", "", "PEM `file` with the private key of that certificate")
	groupFlags(f, "TLS")

	f.Var((*size)(&c.MaxMessageBytes), "max-message-size", "largest message accepted (default 25 MiB)")
	f.IntVar(&c.MaxRecipients, "max-recipients", 0, "recipients of a message (default 100)")
	f.IntVar(&c.MaxCommandLine, "max-command-line", 0, "bytes in a command (default 2048)")
	f.IntVar(&c.MaxTextLine, "max-text-line", 0, "bytes in a line of a message (default 1 MiB)")
	f.IntVar(&c.MaxErrors, "max-errors", 0, "bad commands in a session (default 20)")
	f.IntVar(&c.MaxGuesses, "max-guesses", 300, "unknown recipients, and wrong API keys, from one address in a minute; 0 for no limit")
	f.IntVar(&c.MaxMessages, "max-messages", 0, "messages in a session (default 50000)")
	f.IntVar(&c.MaxConnections, "max-connections", 0, "concurrent connections (default 2048, at most a quarter of the open files)")
	f.IntVar(&c.MaxConnectionsPerAddress, "max-connections-per-address", 0, "connections from one address (default 256)")
	f.Var((*size)(&c.MaxInFlightBytes), "max-in-flight", "memory for messages being received (default 256 MiB)")
	f.Var((*duration)(&c.IdleTimeout), "idle-timeout", "longest silence of a client (default 5m)")
	f.Var((*duration)(&c.SessionTimeout), "session-timeout", "longest session (default 1h)")
	groupFlags(f, "SMTP limits")

	f.IntVar(&c.MaxHTTPConnections, "max-http-connections", 0, "concurrent connections (default 65536, at most half of the open files)")
	f.IntVar(&c.MaxHTTPConnectionsPerAddress, "max-http-connections-per-address", 0, "connections from one address (default: half of all)")
	f.IntVar(&c.MaxLongPolls, "max-long-polls", 0, "concurrent long polls (default 20000)")
	f.Var((*duration)(&c.MaxWait), "max-wait", "longest time that a long poll waits (default 1m)")
	groupFlags(f, "REST API limits")

	f.IntVar(&c.SSHLimits.MaxSessions, "ssh-max-sessions", 0, "concurrent sessions (default 256)")
	f.IntVar(&c.SSHLimits.MaxSessionsPerKey, "ssh-max-sessions-per-key", 0, "concurrent sessions of an API key (default 32)")
	f.Var((*duration)(&c.SSHLimits.IdleTimeout), "ssh-idle-timeout", "longest time without a key pressed (default 12h)")
	f.Var((*size)(&c.SSHLimits.Memory), "ssh-memory", "memory for all sessions (default 1 GiB)")
	groupFlags(f, "SSH limits")

	f.StringVar(&s.logFormat, "log-format", "text", "`format` of the log: text or json")
	f.StringVar(&s.logLevel, "log-level", "info", "minimum log `level`: debug, info, warn or error")
	groupFlags(f, "logging")
}

func chaosFlag(f *pflag.FlagSet, rules *string) {
	f.StringVar(rules, "chaos", "", "inject faults into SMTP, by `rules` such as rcpt=451:5%,data=slow:2s (default: none)")
}

func (a *app) storeFlag(f *pflag.FlagSet, store *string) {
	f.StringVar(store, "store", a.defaultStore(), "`directory` of the store, or postgres://user@host/database (default: serve in the data directory)")
	f.Lookup("store").DefValue = "" // it may have a password, and it is this machine's
}

// defaultStore is the store without --store.
func (a *app) defaultStore() string {
	if store := a.env.Getenv("MAYFLY_SERVE_STORE"); store != "" {
		return store
	}
	return filepath.Join(a.dataDir(), "serve")
}

// run runs the service, unless there are errors in its settings, which are reported with those found here.
func (s *serveSettings) run(ctx context.Context, mistakes error) error {
	log, err := s.logger()
	s.config.Log = log
	if err = errors.Join(mistakes, err); err == nil {
		err = s.adoptSockets()
	}
	if err := errors.Join(err, s.config.Check()); err != nil {
		return s.app.usageErrors(err)
	}
	slog.SetDefault(log)
	s.app.graceful.Store(true)
	signal.Ignore(syscall.SIGPIPE) // a log that nobody reads must not stop the service

	if s.mcp {
		s.config.MCP = func(addr string) server.MCP {
			return mcp.Handler(mcp.Options{Version: version(), SMTP: func(host string) string {
				if len(s.config.Balancers) > 0 { // they have addresses of their own
					return ""
				}
				return server.Reachable(addr, cmp.Or(s.config.Hostname, host))
			}})
		}
	}
	if s.app.env.Getenv("GOGC") == "" {
		// Ten thousand long polls take a sixth less memory; mail is accepted as fast, since it
		// leaves little garbage.
		debug.SetGCPercent(50)
	}
	machine, _ := os.Hostname() // "" if it has none
	s.config.Name = cmp.Or(s.config.Hostname, machine, "mayfly")
	s.config.Sessions = sessionsProcess
	running, err := server.Start(ctx, s.config)
	switch {
	case err != nil && ctx.Err() != nil: // while it waited for its database
		return nil
	case err != nil:
		return err
	}
	s.announce(running)
	for protocol, l := range running.Sockets() {
		s.tellSystemd(systemd.Keep(kept+protocol, l))
	}
	s.tellSystemd(systemd.Notify("READY=1"))
	select {
	case <-running.Done():
		return running.Err()
	case <-ctx.Done():
	}
	s.tellSystemd(systemd.Notify("STOPPING=1"))
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := running.Shutdown(stopping); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}

// kept begins the names of sockets that systemd keeps for the next start. They serve while the settings have their address.
const kept = "kept-"

// adoptSockets takes over the sockets that systemd passes on.
func (s *serveSettings) adoptSockets() error {
	sockets, err := systemd.Sockets()
	for _, socket := range sockets {
		if s.config.Adopt(socket.Name, socket.Listener) {
			continue
		}
		_ = socket.Close() // it is ours only
		if strings.HasPrefix(socket.Name, kept) {
			s.tellSystemd(systemd.Notify("FDSTOREREMOVE=1\nFDNAME=" + socket.Name))
			continue
		}
		err = errors.Join(err, fmt.Errorf("systemd passes on a socket at %s, but no setting has this address: name it http, smtp, smtps, pop3, ssh or metrics (FileDescriptorName=)", socket.Addr()))
	}
	return err
}

// tellSystemd logs why systemd could not be told.
func (s *serveSettings) tellSystemd(err error) {
	if err != nil {
		s.config.Log.Warn("systemd", "error", err)
	}
}

// announce prints the addresses, on one line of stderr.
func (s *serveSettings) announce(running *server.Server) {
	rest := "http://" + running.HTTPAddr()
	if s.config.HTTPCert != "" {
		rest = "https://" + running.HTTPAddr()
	}
	if s.logFormat == "json" {
		s.config.Log.Info("serving", "rest", rest, "smtp", running.SMTPAddr(), "smtps", running.Addr("SMTPS"), "pop3", running.Addr("POP3"), "ssh", running.Addr("SSH"), "store", server.StoreName(s.config.Store))
		return
	}
	more := ""
	for _, protocol := range []string{"SMTPS", "POP3", "SSH"} {
		if addr := running.Addr(protocol); addr != "" {
			more += ", " + protocol + " on " + addr
		}
	}
	fmt.Fprintf(s.app.env.Stderr, "mayfly serves REST on %s and SMTP on %s%s, store %s\n", rest, running.SMTPAddr(), more, server.StoreName(s.config.Store))
}

func (s *serveSettings) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %q: must be debug, info, warn or error", s.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch s.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(s.app.env.Stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(s.app.env.Stderr, options)), nil
	}
	return nil, fmt.Errorf("--log-format %q: must be text or json", s.logFormat)
}

// usageErrors prints each of the errors that err joins, a line each.
func (a *app) usageErrors(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && strings.Contains(err.Error(), "\n") {
		for _, err := range joined.Unwrap() {
			_ = a.usageErrors(err)
		}
	} else {
		fmt.Fprintln(a.env.Stderr, errorLine(err))
	}
	return reportedError{statusUsage}
}

// size is a flag's value: bytes, or with a unit such as 25MB or 64KiB.
type size int64

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > 1<<62 {
		return errors.New("must be a size such as 25MB")
	}
	*s = size(n)
	return nil
}

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*s))
}

func (s *size) Type() string { return "size" }

// loadServeSettings sets the flags that are not on the command line, from the environment or else
// from a TOML file, where a table's name and that of a setting in it are the flag's. It reports
// everything that is wrong.
func (a *app) loadServeSettings(flags *pflag.FlagSet, file string) error {
	file = cmp.Or(file, a.env.Getenv(serveVariable+"CONFIG"))
	tables, settings := map[string]any{}, map[string]any{}
	var errs []error
	if file != "" {
		text, err := files.ReadNamed(file, 1<<20)
		if err != nil {
			return err
		}
		if err := toml.Unmarshal(text, &tables); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	var flatten func(prefix string, table map[string]any)
	flatten = func(prefix string, table map[string]any) {
		for name, value := range table {
			name = prefix + name
			if inner, ok := value.(map[string]any); ok {
				flatten(name+"_", inner)
			} else if _, twice := settings[name]; twice {
				errs = append(errs, fmt.Errorf("%s: %s is set twice", file, name))
			} else {
				settings[name] = value
			}
		}
	}
	flatten("", tables)
	set := func(f *pflag.Flag, source, value string) {
		err := flags.Set(f.Name, value)
		if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
			err = invalidValue(invalid)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %w", source, err))
		}
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		name := strings.ReplaceAll(f.Name, "-", "_")
		variable := serveVariable + strings.ToUpper(name)
		known = append(known, variable)
		if name == "config" {
			return // it names the file
		}
		setting, inFile := settings[name]
		delete(settings, name)
		if f.Changed {
			return
		}
		if value := a.env.Getenv(variable); value != "" {
			set(f, variable, value)
		} else if inFile {
			set(f, file+": "+name, settingText(setting))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		errs = append(errs, fmt.Errorf("%s: unknown setting %s", file, name))
	}
	for _, v := range a.env.Environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, serveVariable) || value == "" || slices.Contains(known, name) {
			continue
		}
		meant := ""
		if near := near.Names(name, known); len(near) > 0 {
			meant = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		errs = append(errs, fmt.Errorf("unknown setting %s%s", name, meant))
	}
	return errors.Join(errs...)
}

// serveVariable begins the names of the variables that set flags of serve.
const serveVariable = "MAYFLY_SERVE_"

// settingText formats a value of the file as on the command line.
func settingText(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ",")
}
