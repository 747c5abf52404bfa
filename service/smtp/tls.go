package smtp

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A certificate is read from two files, and again when one of them has changed. While the changed files
// do not fit together, the former certificate stays in use.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu                sync.Mutex
	cert              *tls.Certificate
	certTime, keyTime time.Time
}

// loadCertificate reads the files once, so that a mistake shows at the start.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// config is the TLS configuration of STARTTLS.
func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		c.log.Error("TLS certificate not reloaded, the former one stays in use", "error", err)
	}
	return c.cert, nil
}

// reload reads the files if they have changed since they were last read.
func (c *certificate) reload() error {
	certInfo, err := os.Stat(c.certFile)
	if err != nil {
		return fmt.Errorf("reading the TLS certificate: %w", err)
	}
	keyInfo, err := os.Stat(c.keyFile)
	if err != nil {
		return fmt.Errorf("reading the TLS key: %w", err)
	}
	if c.cert != nil && certInfo.ModTime().Equal(c.certTime) && keyInfo.ModTime().Equal(c.keyTime) {
		return nil
	}
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("reading the TLS certificate and key: %w", err)
	}
	c.cert, c.certTime, c.keyTime = &cert, certInfo.ModTime(), keyInfo.ModTime()
	return nil
}
