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

// agentClients returns a function that makes the clients with which a service's own MCP server reaches its
// REST API over loopback, for a key. It waits until start has set the service, and fails with
// api.ErrUnauthorized if the key is not valid.
func agentClients(scheme string) (client func(ctx context.Context, key string) (*api.Client, error), start func(*server.Server)) {
	var running *server.Server
	started := make(chan struct{})
	// The peer is this process, whose certificate is not for localhost.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	client = func(ctx context.Context, key string) (*api.Client, error) {
		select {
		case <-started:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch _, err := running.Service().Authenticate(ctx, key); {
		case service.ErrorCode(err) == service.Unauthorized:
			return nil, fmt.Errorf("%w: %w", api.ErrUnauthorized, err)
		case err != nil:
			return nil, err
		}
		return api.New(scheme+"://"+reachable(running.HTTPAddr()), key, api.Options{UserAgent: "mayfly-mcp/" + version(), Transport: transport, Insecure: true})
	}
	return client, func(s *server.Server) {
		running = s
		close(started)
	}
}

// reachable is the address at which a client on this machine reaches a listener.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}
