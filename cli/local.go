package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/local"
	"mayfly/internal/server"
	"mayfly/mcp"
	"mayfly/render"
	"mayfly/ui/session"
)

// localCommand is the hidden command that is the local service.
const localCommand = "local-service"

func (a *app) localOptions() local.Options {
	conf := a.config()
	return local.Options{
		DataDir: filepath.Join(a.dataDir(), "local"),
		LogFile: filepath.Join(a.stateDir(), "local.log"),
		Version: version(),
		Args:    []string{localCommand},
		HTTP:    conf.Local.HTTP, SMTP: conf.Local.SMTP, Keep: conf.Local.Keep, TLS: conf.Local.TLS,
		Relay: server.Relay(conf.Relay),
	}
}

func (a *app) localServiceCommand() *cobra.Command {
	return &cobra.Command{
		Use:     localCommand,
		Short:   "Run the local service in this process",
		Example: "mayfly " + localCommand,
		Hidden:  true, // commands that need it start it
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.graceful.Store(true)
			signal.Ignore(syscall.SIGPIPE) // the program that started it may have ended
			if a.env.Getenv("GOGC") == "" {
				debug.SetGCPercent(50)
			}
			return local.Serve(cmd.Context(), a.localOptions(), a.env.Stdout)
		},
	}
}

func (a *app) upCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Keep the local service running",
		Long: "Start the local service, unless it is running, and keep it running until `mayfly down`. Print the addresses that it listens on. " +
			"Otherwise it stops ten seconds after the last client exits.",
		Example: "mayfly up\nmayfly new\nmayfly down",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := a.localOptions()
			o.Keep = true
			s, err := local.AttachOrStart(cmd.Context(), o)
			if err != nil {
				return err
			}
			defer s.Close()
			if s.SMTPTaken+s.HTTPTaken != "" {
				fmt.Fprintf(a.env.Stderr, "mayfly: SMTP is at %s, the API at %s\n", s.SMTP(), s.API())
			}
			for _, notice := range a.notices(s.State) {
				fmt.Fprintln(a.env.Stderr, errorLine(errors.New(notice)))
			}
			if s.CertFile != "" {
				fmt.Fprintf(a.env.Stderr, "mayfly: SMTP offers STARTTLS, for clients that trust %s\n", render.Clean(s.CertFile))
			}
			_, err = fmt.Fprintf(a.env.Stdout, "SMTP  %s\nAPI   %s\n", s.SMTPAddr, s.BaseURL)
			return err
		},
	}
}

func (a *app) downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the local service",
		Long: "Stop the local service, even if an application uses it, and wait until it has stopped. Its inboxes are kept. " +
			"If it is not running, this does nothing.",
		Example: "mayfly down",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := "stopped"
			err := local.Stop(cmd.Context(), a.localOptions())
			if errors.Is(err, local.ErrNotRunning) {
				text, err = "not running", nil
			}
			if err != nil {
				return fmt.Errorf("stopping the local service: %w", err)
			}
			_, err = fmt.Fprintln(a.env.Stdout, text)
			return err
		},
	}
}

// notices are notes about the local service for the user, a line each.
func (a *app) notices(s local.State) []string {
	var lines []string
	conf := a.config().Local
	if s.SMTPTaken == "" && conf.SMTP != "" && conf.SMTP != s.SMTPAddr || s.HTTPTaken == "" && conf.HTTP != "" && "http://"+conf.HTTP != s.BaseURL {
		lines = append(lines, "the local service does not use the addresses in config.toml: restart it with `mayfly down`, then `mayfly up`")
	}
	if s.Version != version() {
		lines = append(lines, fmt.Sprintf("the local service is version %s, this is %s: `mayfly down` stops it", s.Version, version()))
	}
	return lines
}

// heartbeatTimeout is how long the local service may take to say that it is there.
const heartbeatTimeout = 2 * time.Second

// openLocal connects the application to the local service, which it starts if it does not run.
func (a *app) openLocal(ctx context.Context, p endpoint) (*session.Service, error) {
	c, err := a.connectLocal(ctx, p, local.AttachOrStart)
	if err != nil {
		return nil, err
	}
	notice := ""
	if notices := a.notices(c.session.last.Load().State); notices != nil {
		notice = a.config().ProblemSummary(notices...) // an error in config.toml is reported first
	}
	return &session.Service{
		Client: c.client, Registry: c.known, Name: localName, Profile: p.profile, Local: true,
		Rules: c.rules, Notice: notice,
		SMTP: func() (address, note string) {
			s := c.session.last.Load()
			return s.SMTPAddr, strings.TrimPrefix(s.SMTP(), s.SMTPAddr)
		},
		Answers: func(ctx context.Context) error {
			s, err := c.session.attached(ctx)
			if err == nil {
				ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
				defer cancel()
				_, err = s.Now(ctx)
			}
			if err != nil {
				return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
			}
			return nil
		},
		Close: func(ctx context.Context) error {
			s := c.session.last.Load()
			text := exitNotice(ctx, s, c.client)
			a.exitNotice.Store(&text)
			s.Close()
			return nil
		},
	}, nil
}

// exitNotice is what the application says of the local service when it is left.
func exitNotice(ctx context.Context, s *local.Session, client *api.Client) string {
	now, err := s.Now(ctx)
	if err != nil {
		return "SMTP stopped"
	}
	text := "SMTP stops in " + english.Plural(int(local.DefaultLinger/time.Second), "second", "")
	if now.Kept || now.Clients > 1 {
		text = "still running: mayfly down"
	}
	list, err := client.PollInboxes(ctx, api.Poll{Limit: 1})
	if err != nil {
		return text
	}
	return english.Plural(list.Total, "inbox", "inboxes") + " kept; " + text
}

// localSession is attached to the local service where it runs now: when one has ended, the next request finds the
// next as the first was found. So one that was killed is started again where it was started, and one that the user
// ended is attached to once it runs again.
type localSession struct {
	app  *app
	find findLocal

	mu   sync.Mutex // held while it attaches
	last atomic.Pointer[local.Session]
}

// attached returns the session with the service that runs now.
func (s *localSession) attached(ctx context.Context) (*local.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last.Load()
	select {
	case <-last.Done():
	default:
		return last, nil
	}
	find := s.find
	if last.Err() != nil {
		find = local.Attach
	}
	next, err := find(ctx, s.app.localOptions())
	if err != nil {
		return nil, cmp.Or(last.Err(), err)
	}
	s.last.Store(next)
	return next, nil
}

func (s *localSession) RoundTrip(r *http.Request) (*http.Response, error) {
	now, err := s.attached(r.Context())
	if err != nil {
		return nil, err
	}
	return now.RoundTrip(r)
}

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve inboxes to agents over the Model Context Protocol",
		Long: "Serve inboxes to an agent over the Model Context Protocol, on standard input and output. " +
			"The service and the API key are selected as for every other command: set them with MAYFLY_BASE_URL and MAYFLY_API_KEY. " +
			"The local service is started if it is not running. See `mayfly help mcp` for the setup of the agent's client.",
		Example: `mayfly mcp
MAYFLY_BASE_URL=https://api.example MAYFLY_API_KEY=… mayfly mcp`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connectBy(cmd.Context(), local.AttachOrStart)
			if err != nil {
				return err
			}
			smtp := func(string) string { return a.smtp(c) }
			log := slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			server := mcp.New(c.client, mcp.Options{Version: version(), Known: c.known, SMTP: smtp, Rules: c.rules, Log: log})
			return mcp.ServeStdio(cmd.Context(), server, io.NopCloser(a.env.Stdin), nopCloser{a.env.Stdout})
		},
	}
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
