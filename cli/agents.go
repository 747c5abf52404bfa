package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"

	"mayfly/api"
	"mayfly/internal/server"
	"mayfly/service"
)

// agents makes the clients that a service's own MCP server uses to reach its REST API over
// loopback.
type agents struct {
	transport *http.Transport // shared by all clients
	started   chan struct{}   // closed when the fields below are set
	running   *server.Server
	baseURL   string
}

func newAgents() *agents {
	return &agents{
		started: make(chan struct{}),
		// The peer is this process, whose certificate is not for localhost.
		transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
}

// start sets the service to reach.
func (a *agents) start(running *server.Server, scheme string) {
	a.running, a.baseURL = running, scheme+"://"+reachable(running.HTTPAddr())
	close(a.started)
}

// reachable is the address at which a client on this machine reaches a listener.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}

// client is a client for a key, and fails with api.ErrUnauthorized if the key is not valid.
func (a *agents) client(ctx context.Context, key string) (*api.Client, error) {
	select {
	case <-a.started:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	_, err := a.running.Service().Authenticate(ctx, key)
	switch {
	case service.ErrorCode(err) == service.Unauthorized:
		return nil, fmt.Errorf("%w: %w", api.ErrUnauthorized, err)
	case err != nil:
		return nil, err
	}
	return api.New(a.baseURL, key, api.Options{UserAgent: "mayfly-mcp/" + version(), Transport: a.transport, Insecure: true})
}
