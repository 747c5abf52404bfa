package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"mayfly/internal/files"
)

// endpoint is the content of a file that says who serves where, or did last.
type endpoint struct {
	HTTP string `json:"http"`
	SMTP string `json:"smtp"`
	PID  int    `json:"pid"`
}

func (o Options) endpointFile() string { return filepath.Join(o.DataDir, "endpoint.json") }

// lastEndpoint has no addresses if none are known.
func (o Options) lastEndpoint() (e endpoint) {
	content, err := os.ReadFile(o.endpointFile())
	if err != nil || json.Unmarshal(content, &e) != nil || !loopback(e.HTTP) || !loopback(e.SMTP) {
		return endpoint{PID: e.PID}
	}
	return e
}

func (o Options) saveEndpoint(e endpoint) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return files.Write(o.endpointFile(), append(content, '\n'))
}

// listen listens on the first address that can be had, else on any port of this machine. Empty
// addresses do not count. moved says why it is not the first.
func listen(addresses ...string) (l net.Listener, moved string, err error) {
	for _, addr := range append(addresses, "127.0.0.1:0") {
		switch {
		case addr == "":
			continue
		case !loopback(addr):
			return nil, "", fmt.Errorf("the local service listens on loopback only, not on %s", addr)
		}
		if l, err = net.Listen("tcp", addr); err == nil {
			return l, moved, nil
		}
		if moved == "" {
			moved = addr + ": " + cause(err).Error()
		}
	}
	return nil, "", fmt.Errorf("listening for the local service: %w", err)
}

func loopback(addr string) bool {
	a, err := netip.ParseAddrPort(addr)
	return err == nil && a.Addr().IsLoopback()
}

// cause is what the system says, without the operation and the address.
func cause(err error) error {
	if call := (&os.SyscallError{}); errors.As(err, &call) {
		return call.Err
	}
	return err
}
