// Package server makes a running process of the store, the domain and its doors: it opens the store, listens, and
// stops so that nothing accepted is lost.
package server

import (
	"context"
	"errors"
)

// Server is a running service.
type Server struct {
	done chan struct{}
}

// Start checks the configuration, opens the store and serves until [Server.Shutdown]. The context bounds the start
// only.
func Start(ctx context.Context, c Config) (*Server, error) {
	return nil, errors.New("server: not started")
}

// HTTPAddr is the address that the REST API listens on, host:port.
func (s *Server) HTTPAddr() string { return "" }

// SMTPAddr is the address that the SMTP door listens on, host:port.
func (s *Server) SMTPAddr() string { return "" }

// MetricsAddr is the address that the metrics listen on, host:port; empty without.
func (s *Server) MetricsAddr() string { return "" }

// Done is closed when the server has stopped, be it by Shutdown or by a failure, which [Server.Err] tells.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err is what made the server stop, nil after Shutdown.
func (s *Server) Err() error { return nil }

// Shutdown stops the server: no new connections, held requests are answered at once, SMTP sessions end after the
// message they are receiving, and the store is closed. When the context ends first, connections are cut.
func (s *Server) Shutdown(ctx context.Context) error { return nil }
