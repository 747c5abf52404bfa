package cli

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"mayfly/api"
	"mayfly/server"
)

// agents makes the clients with which a service's own MCP server works on its REST API, over the loopback interface.
type agents struct {
	transport *http.Transport // what all of them share
	started   chan struct{}   // closed when the fields below are set
	running   *server.Server
	baseURL   string
}

func newAgents() *agents {
	return &agents{
		started: make(chan struct{}),
		// The peer is this process, and its certificate is for another name than localhost.
		transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
}

// start tells where the service is reached.
func (a *agents) start(running *server.Server, scheme string) {
	a.running, a.baseURL = running, scheme+"://"+reachable(running.HTTPAddr())
	close(a.started)
}

// reachable is a listening address as a client of this machine dials it.
func reachable(listening string) string {
	host, port, err := net.SplitHostPort(listening)
	if ip := net.ParseIP(host); err == nil && (ip == nil || ip.IsUnspecified()) {
		return net.JoinHostPort("localhost", port)
	}
	return listening
}

// client is a client for a valid key.
func (a *agents) client(ctx context.Context, key string) (*api.Client, error) {
	select {
	case <-a.started:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if _, err := a.running.Service().Authenticate(ctx, key); err != nil {
		return nil, err
	}
	return api.New(a.baseURL, key, api.Options{UserAgent: "mayfly-mcp/" + version(), Transport: a.transport, Insecure: true})
}
