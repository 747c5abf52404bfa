package ssh

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// minRSA is the least length of an RSA key, in bits.
const minRSA = 2048

// ParseKey returns the fingerprint and the comment of a public key, a line of an id_….pub or authorized_keys file.
func ParseKey(line []byte) (fingerprint, comment string, err error) {
	key, comment, options, rest, err := ssh.ParseAuthorizedKey(line)
	switch {
	case strings.Contains(string(line), "PRIVATE KEY"):
		return "", "", errors.New("it is a private key, which must stay secret: name the file that ends in .pub")
	case err != nil:
		return "", "", errors.New("it is not a public key of SSH, a line such as `ssh-ed25519 AAAA… name`")
	case len(options) > 0 || strings.TrimSpace(string(rest)) != "":
		return "", "", errors.New("a line must be one public key of SSH, without options before it")
	}
	if err := checkKey(key); err != nil {
		return "", "", err
	}
	return ssh.FingerprintSHA256(key), comment, nil
}

// checkKey rejects certificates, whose authority nothing here knows, and weak keys.
func checkKey(key ssh.PublicKey) error {
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("certificates of SSH are not supported: use the public key")
	}
	if key.Type() == "ssh-dss" { // RFC 4253, 6.6
		return errors.New("DSA keys are not supported: create another with ssh-keygen -t ed25519")
	}
	if k, ok := key.(ssh.CryptoPublicKey); ok {
		if r, ok := k.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < minRSA {
			return fmt.Errorf("an RSA key of %d bits is too weak: create another with ssh-keygen -t ed25519", r.N.BitLen())
		}
	}
	return nil
}
