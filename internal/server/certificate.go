package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// certificate is a TLS certificate on disk. It is read again when its files change, so that a
// renewal needs no restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	unreadable        rate.Sometimes // limits how often it is logged

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]fileState
}

// fileState identifies a version of a file.
type fileState struct {
	modified time.Time
	size     int64
}

// loadCertificate reads a certificate. The files must exist and match.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, unreadable: rate.Sometimes{Interval: time.Minute}}
	if err := c.reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// config returns the TLS configuration of a listener with this certificate.
func (c *certificate) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		c.unreadable.Do(func() {
			c.log.Warn("the changed TLS certificate cannot be used, the previous one still is", "error", err)
		})
	}
	return c.current, nil
}

// reload reads the files if they have changed. Files that do not match, as in the middle of a
// renewal, change nothing.
func (c *certificate) reload() error {
	var now [2]fileState
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		now[i] = fileState{info.ModTime(), info.Size()}
	}
	if now == c.read {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("TLS certificate %s: %w", c.certFile, err)
	}
	c.current, c.read = &pair, now
	return nil
}
