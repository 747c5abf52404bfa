package api

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"mayfly/internal/sockets"
)

// inWords says why the network gave no answer, without the terms of the system's calls.
func inWords(err error) string {
	var dns *net.DNSError
	var notTLS tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host " + dns.Name
	case errors.As(err, &dns):
		return "the host " + dns.Name + " could not be looked up"
	case sockets.IsError(err, syscall.ECONNREFUSED):
		return dialed(err) + " refused the connection"
	case sockets.IsError(err, syscall.ECONNRESET):
		return "the connection was reset"
	case sockets.IsError(err, syscall.EHOSTUNREACH), sockets.IsError(err, syscall.ENETUNREACH):
		return "the network has no route to " + dialed(err)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &notTLS):
		return "it does not speak TLS; is its address http://?"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "it does not speak HTTP; is the port right?"
	case errors.As(err, &timeout) && timeout.Timeout():
		return errSilent.Error()
	}
	return certificateInWords(err)
}

// certificateInWords says why the certificate of a service is not accepted.
func certificateInWords(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	switch {
	case errors.As(err, &authority):
		return "its certificate is not signed by an authority that this machine trusts; SSL_CERT_FILE names a file with others"
	case errors.As(err, &name):
		return "its certificate is not for " + name.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &alert):
		return fmt.Sprintf("it refused the TLS connection (%v)", alert)
	}
	return err.Error()
}

// dialed is the address that a connection could not be made to.
func dialed(err error) string {
	if op := (&net.OpError{}); errors.As(err, &op) && op.Addr != nil {
		return op.Addr.String()
	}
	return "the host"
}
