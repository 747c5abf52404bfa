package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a TLS certificate on disk, read again when its files change, so that a renewal needs no restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]fileState
}

// fileState tells versions of a file apart.
type fileState struct {
	modified time.Time
	size     int64
}

// loadCertificate reads a certificate; the files must be there and fit together.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// config is the TLS configuration of a listener with this certificate.
func (c *certificate) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		c.log.Warn("the changed TLS certificate cannot be used, the one before still is", "error", err)
	}
	return c.current, nil
}

// reload reads the files if they changed. A pair that does not fit, as in the middle of a renewal, changes nothing.
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
