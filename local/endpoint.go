package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// endpoint is the content of a file that says who serves where, or did last.
type endpoint struct {
	HTTP string `json:"http"`
	SMTP string `json:"smtp"`
	PID  int    `json:"pid"`
}

func (o Options) endpointFile() string { return filepath.Join(o.dir(), "endpoint.json") }

// lastEndpoint is the zero value if nothing is known.
func (o Options) lastEndpoint() (e endpoint) {
	content, err := os.ReadFile(o.endpointFile())
	if err != nil || json.Unmarshal(content, &e) != nil {
		return endpoint{}
	}
	return e
}

func (o Options) saveEndpoint(e endpoint) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return maybe.WriteFile(o.endpointFile(), append(content, '\n'), 0o600)
}

// listen listens on the first address that can be had, else on any port of the same host. Empty
// addresses do not count. moved says why it is not the first.
func listen(addresses ...string) (l net.Listener, moved string, err error) {
	host := ""
	for _, addr := range addresses {
		if addr == "" {
			continue
		}
		if err := checkLoopback(addr); err != nil {
			return nil, "", err
		}
		if l, err = net.Listen("tcp", addr); err == nil {
			return l, moved, nil
		}
		if host == "" {
			host, _, _ = net.SplitHostPort(addr) // it was checked
			moved = addr + ": " + cause(err).Error()
		}
	}
	if l, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, "", fmt.Errorf("listening for the local service: %w", err)
	}
	return l, moved, nil
}

func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("the address %q is not host:port", addr)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("the local service listens on loopback only, not on %s", host)
	}
	return nil
}

// cause is what the system says, without the operation and the address.
func cause(err error) error {
	if call := (&os.SyscallError{}); errors.As(err, &call) {
		return call.Err
	}
	return err
}
