package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

const (
	secretPrefix         = "whsec_"
	minSecret, maxSecret = 24, 64 // bytes
)

// NewSecret returns a random secret: whsec_ and the base64 of 32 bytes.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// ParseSecrets reads one or more secrets with white space between them: while a receiver changes from
// one to another, requests are signed with both. Errors do not contain a secret.
func ParseSecrets(text string) ([][]byte, error) {
	var secrets [][]byte
	for word := range strings.FieldsSeq(text) {
		encoded, ok := strings.CutPrefix(word, secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(secret) < minSecret || len(secret) > maxSecret {
			return nil, errors.New("a webhook secret is whsec_ and the base64 of 24 to 64 random bytes, one on each line")
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// sign returns the field webhook-signature, with a signature for each secret.
func sign(secrets [][]byte, id, timestamp string, body []byte) string {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// CheckURL returns what is wrong with a URL for webhooks. The error does not contain the URL, which may
// have a secret in it.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("the URL for webhooks is not one: want https://host/path, or http:// within a network that you trust")
	case u.User != nil:
		return errors.New("the URL for webhooks has a user in it: remove that, since the signature says who sends the request")
	}
	return nil
}
