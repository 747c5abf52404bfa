// Package server makes a running process of the store, the domain and its doors: it opens the store, listens, and
// stops so that nothing accepted is lost.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/netutil"

	"mayfly/service"
	"mayfly/service/rest"
	"mayfly/service/smtp"
)

// Server is a running service.
type Server struct {
	config  Config
	log     *slog.Logger
	store   store
	service *service.Service
	key     string // the secret in KeyFile

	rest    *rest.Server
	smtp    *smtp.Server
	metrics *http.Server // nil without
	admin   *adminSocket // nil for a database

	httpListener, smtpListener, metricsListener net.Listener

	running  sync.WaitGroup // whatever serves
	failed   chan error     // the first failure of what serves
	stopRun  context.CancelFunc
	stopOnce sync.Once
	stopErr  error
	err      error // what made it stop
	done     chan struct{}
}

// failureTimeout is how long what works may take to end when something else has failed.
const failureTimeout = 10 * time.Second

// Start checks the configuration, opens the store and serves until [Server.Shutdown]. The context bounds the start
// only.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c.withDefaults(), log: c.Log, failed: make(chan error, 1), done: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.serve()
	return s, nil
}

// open makes everything that can fail. The ports come first: they say soonest that another process runs.
func (s *Server) open(ctx context.Context) error {
	c := s.config
	s.httpListener, s.smtpListener = c.HTTPListener, c.SMTPListener
	if err := c.Check(); err != nil {
		return err
	}
	var err error
	for _, l := range []struct {
		name, addr string
		listener   *net.Listener
	}{
		{"HTTP", c.HTTP, &s.httpListener},
		{"SMTP", c.SMTP, &s.smtpListener},
		{"metrics", c.Metrics, &s.metricsListener},
	} {
		if *l.listener != nil || l.addr == "" {
			continue
		}
		if *l.listener, err = net.Listen("tcp", l.addr); err != nil {
			return fmt.Errorf("listening for %s: %w", l.name, err)
		}
	}
	if s.store, err = openStore(ctx, c.Store, s.log); err != nil {
		return err
	}
	if d, ok := s.store.(database); ok {
		if err := d.Served(ctx); err != nil {
			return err
		}
	}
	if s.service, err = s.newService(ctx); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	s.rest = rest.New(s.service, rest.Options{MaxWait: c.MaxWait, MaxHeld: c.MaxHeld, MCP: c.MCP, Metrics: registry, Log: s.log})
	door := c.smtpOptions()
	if door.TLS, err = s.certificate(c.SMTPCert, c.SMTPKey); err != nil {
		return err
	}
	if s.smtp, err = smtp.New(s.service, door); err != nil {
		return err
	}
	httpTLS, err := s.certificate(c.HTTPCert, c.HTTPKey)
	if err != nil {
		return err
	}
	s.httpListener = netutil.LimitListener(s.httpListener, c.MaxHTTPConnections)
	if httpTLS != nil {
		s.httpListener = tls.NewListener(s.httpListener, httpTLS)
	}
	if s.metricsListener != nil {
		s.metrics = newMetricsServer(registry, s.store, s.smtp, s.log)
	}
	if !isDatabase(c.Store) { // others can open it too
		s.admin, err = listenAdmin(c.Store, direct{s.service, s.store}, s.log)
	}
	return err
}

// certificate is the TLS configuration of a door, or nil if it has none.
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

// newService makes the domain, and the key in KeyFile before it, since catch-all has to know whose the inboxes are.
func (s *Server) newService(ctx context.Context) (*service.Service, error) {
	c := s.config
	o := service.Options{Domains: c.Domains, CatchAllTTL: c.CatchAllTTL, Log: s.log}
	owner := c.CatchAllKey
	if c.KeyFile != "" {
		secret, key, err := fileKey(ctx, service.New(s.store, o), c.KeyFile)
		if err != nil {
			return nil, err
		}
		s.key = secret
		if owner == "" {
			owner = key.ID
		}
	}
	if c.CatchAll {
		if _, err := service.New(s.store, o).Key(ctx, owner); err != nil {
			return nil, fmt.Errorf("the key %s for catch-all: %w", owner, err)
		}
		o.CatchAll = owner
	}
	return service.New(s.store, o), nil
}

// serve starts whatever serves. The first to fail ends the server.
func (s *Server) serve() {
	ctx, stop := context.WithCancel(context.Background())
	s.stopRun = stop
	start := func(name string, serve func() error) {
		s.running.Go(func() {
			if err := serve(); err != nil {
				select {
				case s.failed <- fmt.Errorf("%s: %w", name, err):
				default: // only the first one counts
				}
			}
		})
	}
	start("REST API", func() error { return s.rest.Serve(s.httpListener) })
	start("SMTP", func() error { return s.smtp.Serve(s.smtpListener) })
	start("sweeper", func() error { return s.service.Run(ctx) })
	if s.admin != nil {
		start("admin socket", s.admin.serve)
	}
	if s.metrics != nil {
		start("metrics", func() error { return ignoreClosed(s.metrics.Serve(s.metricsListener)) })
	}
	go s.supervise()
	s.log.Debug("serving", "http", s.HTTPAddr(), "smtp", s.SMTPAddr(), "metrics", s.MetricsAddr(), "store", StoreName(s.config.Store))
}

// supervise ends the server when a part of it fails; it ends with the server.
func (s *Server) supervise() {
	select {
	case <-s.done:
	case err := <-s.failed:
		s.log.Error("stopping because a part failed", "error", err)
		s.err = err
		ctx, cancel := context.WithTimeout(context.Background(), failureTimeout)
		defer cancel()
		_ = s.Shutdown(ctx) // told by Err
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Service is the domain that is served.
func (s *Server) Service() *service.Service { return s.service }

// Key is the secret of the API key in KeyFile; empty without.
func (s *Server) Key() string { return s.key }

// HTTPAddr is the address that the REST API listens on, host:port.
func (s *Server) HTTPAddr() string { return s.httpListener.Addr().String() }

// SMTPAddr is the address that the SMTP door listens on, host:port.
func (s *Server) SMTPAddr() string { return s.smtpListener.Addr().String() }

// MetricsAddr is the address that the metrics listen on, host:port; empty without.
func (s *Server) MetricsAddr() string {
	if s.metricsListener == nil {
		return ""
	}
	return s.metricsListener.Addr().String()
}

// Done is closed when the server has stopped, be it by Shutdown or by a failure, which [Server.Err] tells.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is what made the server stop, nil after Shutdown. It may be asked once Done is closed.
func (s *Server) Err() error { return s.err }

// Shutdown stops the server: no new connections, held requests are answered at once, SMTP sessions end after the
// message they are receiving, and the store is closed. When the context ends first, connections are cut; what was
// accepted is kept all the same.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopErr = s.stop(ctx)
		close(s.done)
		s.log.Info("stopped")
	})
	return s.stopErr
}

func (s *Server) stop(ctx context.Context) error {
	var doors sync.WaitGroup
	var restErr, smtpErr error
	doors.Go(func() { restErr = s.rest.Shutdown(ctx) })
	doors.Go(func() { smtpErr = s.smtp.Shutdown(ctx) })
	doors.Wait()
	var metricsErr error
	if s.metrics != nil {
		metricsErr = s.metrics.Close()
	}
	s.stopRun()
	var adminErr error
	if s.admin != nil {
		adminErr = s.admin.shutdown(ctx)
	}
	s.running.Wait()
	return errors.Join(restErr, smtpErr, metricsErr, adminErr, s.close())
}

// close gives back what open got, as far as it got.
func (s *Server) close() error {
	for _, l := range []net.Listener{s.httpListener, s.smtpListener, s.metricsListener} {
		if l != nil {
			_ = l.Close() // closed already by whoever served it
		}
	}
	if s.admin != nil {
		s.admin.close()
	}
	if s.store != nil {
		return s.store.Close()
	}
	return nil
}
