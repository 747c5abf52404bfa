package rest

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// isLocalRequest reports whether a request names this machine as its host, and as its origin if it
// has one. A web page whose name was made to lead here (DNS rebinding) sends its own name.
func isLocalRequest(r *http.Request) bool {
	for _, origin := range r.Header["Origin"] {
		u, err := url.Parse(origin)
		if err != nil || !isLocalHost(u.Host) {
			return false
		}
	}
	return isLocalHost(r.Host)
}

// isLocalHost reports whether a host, with or without a port, is localhost, a name in it (RFC 6761)
// or a loopback address.
func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
