package cli

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"mayfly/api"
	"mayfly/internal/server"
	"mayfly/mcp"
	"mayfly/service"
)

// agentHandler serves the Model Context Protocol for a service, whose REST API it reaches over loopback with the
// key of each agent.
func agentHandler(running *server.Server, scheme string, log *slog.Logger) http.Handler {
	// The peer is this process, whose certificate is not for localhost.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return mcp.Handler(func(ctx context.Context, key string) (*api.Client, error) {
		switch _, err := running.Service().Authenticate(ctx, key); {
		case service.ErrorCode(err) == service.Unauthorized:
			return nil, fmt.Errorf("%w: %w", api.ErrUnauthorized, err)
		case err != nil:
			return nil, err
		}
		return api.New(scheme+"://"+reachable(running.HTTPAddr()), key, api.Options{UserAgent: "mayfly-mcp/" + version(), Transport: transport, Insecure: true})
	}, mcp.Options{Version: version(), Log: log})
}

// reachable is the address at which a client on this machine reaches a listener.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}
