package local

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"mayfly/internal/files"
)

// A certificate is valid for as long as Apple's systems accept one, and replaced a month before that is over.
const (
	certificateLife = 825 * 24 * time.Hour
	certificateLeft = 30 * 24 * time.Hour
)

// certificate returns the files with the certificate of the local service for STARTTLS and its key, which it creates
// unless they are there. A client that has to trust it is given the first.
func (o Options) certificate() (certFile, keyFile string, err error) {
	certFile, keyFile = filepath.Join(o.DataDir, "cert.pem"), filepath.Join(o.DataDir, "cert-key.pem")
	now := time.Now()
	if pair, err := tls.LoadX509KeyPair(certFile, keyFile); err == nil && now.Add(certificateLeft).Before(pair.Leaf.NotAfter) {
		return certFile, keyFile, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "Mayfly on this machine"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    now.Add(-time.Hour), NotAfter: now.Add(certificateLife - time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature, // not a CA: whoever trusts it trusts nothing else
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return "", "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	err = errors.Join(files.Write(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		files.Write(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	if err != nil {
		err = fmt.Errorf("saving the certificate for SMTP: %w", err)
	}
	return certFile, keyFile, err
}
