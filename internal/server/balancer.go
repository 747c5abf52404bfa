package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
	"golang.org/x/time/rate"
)

// headerTimeout bounds how long a connection from a balancer can take to say whose it is.
const headerTimeout = 5 * time.Second

// parseNetworks parses the networks of balancers. A single address is a network.
func parseNetworks(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	var faults []error
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			a, err = netip.ParseAddr(text)
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("the balancer %q is neither an IP address nor a network such as 10.0.0.0/8", text))
		}
		all = append(all, p.Masked())
	}
	return all, errors.Join(faults...)
}

// proxyProtocolListener makes the connections that come from balancers those of the clients that the PROXY
// protocol names. Under the policy REQUIRE each of them has to, under USE it may.
func proxyProtocolListener(l net.Listener, balancers []netip.Prefix, policy proxyproto.Policy, log *slog.Logger) net.Listener {
	if len(balancers) == 0 {
		return l
	}
	listener := &proxyproto.Listener{
		Listener: l,
		ConnPolicy: func(o proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
			if tcp, ok := o.Upstream.(*net.TCPAddr); ok {
				from := tcp.AddrPort().Addr().Unmap()
				if slices.ContainsFunc(balancers, func(p netip.Prefix) bool { return p.Contains(from) }) {
					return policy, nil
				}
			}
			return proxyproto.SKIP, nil
		},
		ReadHeaderTimeout: headerTimeout,
	}
	return balancedListener{listener, log, &rate.Sometimes{Interval: time.Minute}}
}

type balancedListener struct {
	*proxyproto.Listener
	log    *slog.Logger
	logged *rate.Sometimes // limits how often a balancer that names no clients is
}

// Accept implements net.Listener.
func (l balancedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if p, ok := c.(*proxyproto.Conn); ok {
		return balancedConn{p, l}, err
	}
	return c, err
}

// balancedConn can close one direction, like a TCP connection, and logs if it names no client.
type balancedConn struct {
	*proxyproto.Conn
	listener balancedListener
}

// Read implements net.Conn.
func (c balancedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.logged(err)
}

// Write implements net.Conn.
func (c balancedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.logged(err)
}

func (c balancedConn) logged(err error) error {
	if errors.Is(err, proxyproto.ErrNoProxyProtocol) {
		c.listener.logged.Do(func() {
			c.listener.log.Warn("connection closed: it comes from a balancer, but does not begin with the PROXY protocol; have the balancer send it, or remove it from --balancers",
				"balancer", c.Raw().RemoteAddr().String())
		})
	}
	return err
}

// CloseWrite ends what is sent.
func (c balancedConn) CloseWrite() error {
	if tcp, ok := c.TCPConn(); ok {
		return tcp.CloseWrite()
	}
	return nil
}
