// Package server runs the service: it puts the store, the domain, and the REST and SMTP servers
// together, and stops them without losing accepted mail. It also administers and restores stores.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pires/go-proxyproto"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"

	"mayfly/internal/sockets"
	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/pop3"
	"mayfly/service/providers"
	"mayfly/service/relay"
	"mayfly/service/rest"
	"mayfly/service/smtp"
	"mayfly/service/webhook"
)

// Server is a running service.
type Server struct {
	config  Config
	log     *slog.Logger
	store   store
	service *service.Service
	key     string // its own, see ownKey
	owner   string // ID of the key that owns the catch-all inboxes, or else of its own

	rest     http.Handler
	doors    []listenerServer
	webhooks *webhook.Sender // nil if there are none
	metrics  *http.Server    // nil if there are none
	admin    *adminSocket    // nil for a database

	listeners map[string]net.Listener // by protocol
	sockets   map[string]net.Listener // those that they are based on

	running  *errgroup.Group // the parts, which serve
	stopRun  context.CancelFunc
	stopOnce sync.Once
	stopErr  error
	err      error // the failure that stopped the server
	done     chan struct{}
}

// listenerServer is a server of one protocol.
type listenerServer struct {
	protocol string
	serve    func(net.Listener) error
	stop     func(context.Context) error
}

// noopStop is the stop function of a listener that is shut down elsewhere.
func noopStop(context.Context) error { return nil }

// failureTimeout bounds the shutdown after a part has failed.
const failureTimeout = 10 * time.Second

// Start checks the configuration, opens the store and serves until [Server.Shutdown]. The context
// bounds only the start.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c.withDefaults(), log: c.Log, listeners: map[string]net.Listener{}, done: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.serve()
	return s, nil
}

// open does everything that can fail. The listeners come first, since a port that is taken is the
// soonest sign of another process.
func (s *Server) open(ctx context.Context) error {
	c := s.config
	for _, a := range c.addresses() {
		if a.listener != nil {
			s.listeners[a.protocol] = a.listener
		}
	}
	if err := c.Check(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	s.sockets = maps.Clone(s.listeners)
	var err error
	if s.store, err = c.openStore(ctx, s.log); err != nil {
		return err
	}
	if s.service, err = s.newService(ctx); err != nil {
		return err
	}
	if err := s.newServers(); err != nil {
		return err
	}
	if !c.InMemory && !isDatabase(c.Store) { // other processes can open a database
		var control http.Handler
		if c.Control != nil {
			control = c.Control(s.key)
		}
		s.admin, err = listenAdmin(c.Store, &Admin{service: s.service, store: s.store, smtp: s.SMTPAddr()}, control, s.rest, s.log)
	}
	return err
}

// listen opens the listeners that the configuration does not provide.
func (s *Server) listen() error {
	for _, a := range s.config.addresses() {
		if a.listener != nil || a.addr == "" {
			continue
		}
		l, err := net.Listen("tcp", a.addr)
		if err != nil {
			return listenError(a.protocol, a.addr, err)
		}
		s.listeners[a.protocol] = l
	}
	return nil
}

// listenError wraps the error from listening on an address.
func listenError(protocol, addr string, err error) error {
	if call := (&os.SyscallError{}); errors.As(err, &call) {
		err = call.Err
	}
	switch {
	case sockets.IsError(err, syscall.EADDRINUSE):
		err = errors.New("another process listens there")
	case errors.Is(err, syscall.EACCES):
		err = errors.New("only root, or a process with CAP_NET_BIND_SERVICE, may listen on a port below 1024")
	}
	return fmt.Errorf("listening for %s at %s: %w", protocol, addr, err)
}

// newServers creates the REST, SMTP, POP3 and metrics servers.
func (s *Server) newServers() (err error) {
	c := s.config
	registry := prometheus.NewRegistry()
	large, guesses := limits.NewMemory(0), limits.NewGuesses(c.MaxGuesses, s.log, "keys")
	balancers, err := parseNetworks(c.Balancers)
	if err != nil {
		return err
	}
	c.Options.Keys, c.Options.Metrics, c.Options.Log = guesses, registry, s.log
	if c.TLS, err = s.certificate(c.SMTPCert, c.SMTPKey); err != nil {
		return err
	}
	mail, err := smtp.New(s.service, c.Options)
	if err != nil {
		return err
	}
	restOptions := rest.Options{
		Balancers: balancers, LocalOnly: c.LocalOnly, MaxWait: c.MaxWait, MaxLongPolls: c.MaxLongPolls, Guesses: guesses, Large: large, Relay: s.newRelay(), Metrics: registry, Log: s.log, Sessions: mail.Sessions,
	}
	restOptions.Providers = s.newProviders(guesses, large)
	if c.MCP != nil {
		restOptions.MCP = c.MCP(s.SMTPAddr())
	}
	api := rest.New(s.service, restOptions)
	s.rest = api
	httpTLS, err := s.certificate(c.HTTPCert, c.HTTPKey)
	if err != nil {
		return err
	}
	// A balancer's checks of the REST API need no header. SMTP and POP3 servers speak first, and so
	// have to know whether one arrives.
	for protocol, l := range s.listeners {
		switch protocol {
		case "HTTP":
			l = proxyProtocolListener(netutil.LimitListener(l, c.MaxHTTPConnections), balancers, proxyproto.USE, s.log)
			l = limits.Limit(l, c.MaxHTTPConnectionsPerAddress)
			if httpTLS != nil {
				l = tls.NewListener(l, httpTLS)
			}
		case "SMTP", "SMTPS", "POP3":
			l = proxyProtocolListener(l, balancers, proxyproto.REQUIRE, s.log)
		}
		s.listeners[protocol] = l
	}
	s.doors = []listenerServer{
		{"HTTP", api.Serve, api.Shutdown},
		{"SMTP", mail.Serve, mail.Shutdown},
		{"SMTPS", mail.ServeTLS, noopStop}, // with SMTP
	}
	if s.listeners["POP3"] != nil {
		box := pop3.New(s.service, pop3.Options{
			MaxConnections: max(1, c.MaxConnections/2), MaxConnectionsPerAddress: c.MaxConnectionsPerAddress, MaxErrors: c.MaxErrors,
			IdleTimeout: c.IdleTimeout, SessionTimeout: c.SessionTimeout, TLS: c.TLS, Guesses: guesses, Large: large, Metrics: registry, Log: s.log,
		})
		s.doors = append(s.doors, listenerServer{"POP3", box.Serve, func(ctx context.Context) error { box.Shutdown(ctx); return nil }})
	}
	if s.listeners["SSH"] != nil {
		shells, err := s.newSessions(api, guesses)
		if err != nil {
			return err
		}
		s.doors = append(s.doors, listenerServer{"SSH", shells.Serve, shells.Shutdown})
	}
	if s.listeners["metrics"] != nil {
		s.metrics = newMetricsServer(registry, s.store, s.service, s.webhooks, s.log)
		s.doors = append(s.doors, listenerServer{"metrics", func(l net.Listener) error { return ignoreClosed(s.metrics.Serve(l)) }, noopStop})
	}
	s.doors = slices.DeleteFunc(s.doors, func(d listenerServer) bool { return s.listeners[d.protocol] == nil })
	return nil
}

// Providers returns the names of the mail providers whose APIs a service has, below /providers/.
func Providers() []string { return providers.Names() }

// newProviders returns the handler that accepts mail as the APIs of mail providers do. It accepts what SMTP does.
func (s *Server) newProviders(guesses *limits.Guesses, large *limits.Memory) http.Handler {
	c := s.config
	o := providers.Options{AddressFaults: c.AddressFaults, MaxMessageBytes: c.MaxMessageBytes, MaxRecipients: c.MaxRecipients, Guesses: guesses, Large: large, Log: s.log}
	if c.AuthAny {
		o.AnyKey = s.owner
	}
	return providers.New(s.service, o)
}

// newRelay returns the relay, or nil if there is none.
func (s *Server) newRelay() rest.Relay {
	c := s.config.Relay
	if c.Host == "" {
		return nil
	}
	warnIfExposed(c.PasswordFile, "relay's password", s.log)
	return relay.New(c, s.config.Hostname)
}

// certificate returns the TLS configuration with a certificate, or nil if there is none.
func (s *Server) certificate(certFile, keyFile string) (*tls.Config, error) {
	if certFile == "" {
		return nil, nil
	}
	cert, err := loadCertificate(certFile, keyFile, s.log)
	if err != nil {
		return nil, err
	}
	return cert.config(), nil
}

// newService creates the service and, before it, the server's own key, which may be the owner of
// catch-all inboxes.
func (s *Server) newService(ctx context.Context) (*service.Service, error) {
	c := s.config
	o := service.Options{Domains: c.Domains, CatchAllTTL: c.CatchAllTTL, Logins: !c.AuthAny, Log: s.log}
	owner := c.CatchAllKey
	if c.KeyFile != "" || c.OwnKey {
		secret, key, err := ownKey(ctx, service.New(s.store, o), c)
		if err != nil {
			return nil, err
		}
		s.key = secret
		if owner == "" {
			owner = key.ID
		}
		if c.Unlimited {
			o.Unlimited = key.ID
		}
	}
	s.owner = owner
	if c.CatchAll {
		switch _, err := service.New(s.store, o).Key(ctx, owner); {
		case service.ErrorCode(err) == service.NotFound:
			return nil, fmt.Errorf("no API key %s to own the catch-all inboxes: `mayfly admin key list` lists the IDs", owner)
		case err != nil:
			return nil, fmt.Errorf("the catch-all key %s: %w", owner, err)
		}
		o.CatchAll = owner
	}
	o.Arrived = c.Arrived
	if c.WebhookURL != "" {
		secrets, err := webhookSecrets(c)
		if err != nil {
			return nil, err
		}
		s.webhooks = webhook.New(c.WebhookURL, secrets, s.log)
		o.Arrived = s.webhooks.Add
	}
	return service.New(s.store, o), nil
}

// serve starts the parts of the server. The first to fail stops them all; Err reports the failure.
func (s *Server) serve() {
	ctx, stop := context.WithCancel(context.Background())
	s.stopRun = stop
	running, failed := errgroup.WithContext(ctx)
	s.running = running
	start := func(name string, serve func() error) {
		running.Go(func() error {
			if err := serve(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	running.Go(func() error { return s.store.Wait(ctx) })
	for _, d := range s.doors {
		start(d.protocol, func() error { return d.serve(s.listeners[d.protocol]) })
	}
	if s.webhooks != nil {
		start("webhooks", s.webhooks.Run)
	}
	start("sweeper", func() error { return s.service.Run(ctx) })
	if s.admin != nil {
		start("admin socket", s.admin.serve)
	}
	context.AfterFunc(failed, func() {
		if ctx.Err() != nil { // it is being stopped
			return
		}
		s.err = context.Cause(failed)
		ctx, cancel := context.WithTimeout(context.Background(), failureTimeout)
		defer cancel()
		_ = s.Shutdown(ctx) // Err returns the cause
	})
	s.log.Debug("serving", "http", s.HTTPAddr(), "smtp", s.SMTPAddr(), "smtps", s.Addr("SMTPS"), "pop3", s.Addr("POP3"), "metrics", s.Addr("metrics"), "store", StoreName(s.config.Store))
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Service returns the service.
func (s *Server) Service() *service.Service { return s.service }

// Key returns the secret of the API key in KeyFile, or of that of OwnKey; "" if there is neither.
func (s *Server) Key() string { return s.key }

// HTTPAddr returns the address of the REST API, host:port.
func (s *Server) HTTPAddr() string { return s.Addr("HTTP") }

// SMTPAddr returns the address of the SMTP server, host:port.
func (s *Server) SMTPAddr() string { return s.Addr("SMTP") }

// Addr returns the address of a protocol, HTTP, SMTP, SMTPS, POP3, SSH or metrics, host:port, or "" if it is not
// served.
func (s *Server) Addr(protocol string) string {
	l := s.listeners[protocol]
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// Sockets returns what the server listens on, by protocol as in Addr.
func (s *Server) Sockets() map[string]net.Listener { return s.sockets }

// Done returns a channel that is closed when the server has stopped, after Shutdown or a failure.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns the failure that stopped the server, or nil after Shutdown. It is valid once Done is
// closed.
func (s *Server) Err() error { return s.err }

// Shutdown stops the server: it accepts no more connections, answers long polls at once, lets
// SMTP sessions complete the message they are receiving, and closes the store. When the context
// ends first, connections are cut, but accepted mail is kept in any case.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopErr = s.stop(ctx)
		close(s.done)
		s.log.Info("stopped")
	})
	return s.stopErr
}

func (s *Server) stop(ctx context.Context) error {
	errs := make([]error, len(s.doors))
	var stopping sync.WaitGroup
	for i, d := range s.doors {
		stopping.Go(func() { errs[i] = d.stop(ctx) })
	}
	stopping.Wait()
	if s.webhooks != nil {
		s.webhooks.Shutdown(ctx)
	}
	if s.metrics != nil {
		errs = append(errs, s.metrics.Close())
	}
	s.stopRun()
	if s.admin != nil {
		errs = append(errs, s.admin.shutdown(ctx))
	}
	_ = s.running.Wait() // Err returns its error
	return errors.Join(append(errs, s.close())...)
}

// close releases what open has opened, even if it did not complete.
func (s *Server) close() error {
	for _, l := range s.listeners {
		_ = l.Close() // it is already closed if it was served
	}
	if s.admin != nil {
		s.admin.close()
	}
	if s.store != nil {
		return s.store.Close()
	}
	return nil
}
