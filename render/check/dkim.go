package check

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/emersion/go-msgauth/dkim"

	"mayfly/internal/clean"
	"mayfly/internal/mail"
	"mayfly/render/link"
)

// Bounds on what is verified.
const (
	maxSignatures = 3
	maxSigned     = 64 << 10 // bytes of the header
	maxKey        = 4096     // bits
)

// signatures verifies the DKIM signatures (RFC 6376) without the network: the hash of the body by itself, the rest by
// the key of the rules.
func signatures(in Input, r *report) {
	header, body := mail.Split(in.Raw)
	size, at := 0, []int{}
	for i, l := range header {
		if size += len(l.Raw); l.Is("DKIM-Signature") {
			at = append(at, i)
		}
	}
	key := in.Rules.DKIMKey
	switch {
	case len(at) == 0 && key != "":
		r.add("dkim-signature", Warning, "header", "The message has no DKIM signature")
	case len(at) > 0 && size > maxSigned:
		r.add("dkim-signature", Warning, "header", "The header is too large for its DKIM signature to be verified")
		return
	}
	var intact []*dkim.Verification // as far as it can be told without the key
	verified := false
	for _, i := range at[:min(len(at), maxSignatures)] {
		v, by := verify(header, i, body, key)
		switch domain := cut(clean.Line(v.Domain)); {
		case v.Err == nil || says(v.Err, "signature did not verify"):
			intact = append(intact, v)
			verified = verified || v.Err == nil && by == key
		case says(v.Err, "body hash did not verify"):
			r.add("dkim-body", Warning, "header", "The body does not match the DKIM signature of %q: it was changed after signing", domain)
		case says(v.Err, "message contains an insecure body length tag"):
			r.add("dkim-signature", Warning, "header", "The DKIM signature of %q covers only the start of the body (l=): anybody can append to it, and receivers may ignore it", domain)
		case says(v.Err, "signature has expired") && in.ReceivedAt.Before(v.Expiration):
			// It had not when the message arrived, and the library compares it with the time of this machine.
		default:
			r.add("dkim-signature", Warning, "header", "The DKIM signature of %q is invalid: %s", domain, cut(clean.Line(strings.TrimPrefix(v.Err.Error(), "dkim: "))))
		}
	}
	if len(intact) == 0 {
		return
	}
	switch {
	case key == "":
		r.add("dkim-key", Note, "header", "Only the body hash of the DKIM signature was checked: verify the rest with --dkim-key FILE")
	case !verified:
		r.add("dkim-signature", Warning, "header", "No DKIM signature matches the public key: a signed field was changed, or the private key is another one")
	}
	covered(in, r, intact)
}

// covered checks that one of the signatures is of the sender's domain, and that they include what one-click unsubscribe needs.
func covered(in Input, r *report, intact []*dkim.Verification) {
	from := ""
	for _, a := range mail.Addresses(value(in, "From")) {
		_, from, _ = strings.Cut(strings.ToLower(a.Addr), "@")
	}
	aligned := func(v *dkim.Verification) bool { return link.Domain(strings.ToLower(v.Domain)) == link.Domain(from) }
	if from != "" && !slices.ContainsFunc(intact, aligned) {
		r.add("dkim-alignment", Warning, "header", "The DKIM signature is of %q, not of %q as From: it does not count for DMARC", cut(clean.Line(intact[0].Domain)), cut(from))
	}
	for _, name := range []string{"List-Unsubscribe", "List-Unsubscribe-Post"} {
		signed := func(v *dkim.Verification) bool {
			return slices.ContainsFunc(v.HeaderKeys, func(key string) bool { return strings.EqualFold(key, name) })
		}
		if value(in, "List-Unsubscribe-Post") != "" && !slices.ContainsFunc(intact, signed) {
			r.add("dkim-unsubscribe", Warning, "header", "DKIM does not sign %s: Gmail and Yahoo then ignore one-click unsubscribe", name)
		}
	}
}

// verify verifies the signature in a line of the header by a key, or else by one of its kind, and returns by which. Those
// above it were added later, and are left out.
func verify(header []mail.Line, at int, body []byte, key string) (v *dkim.Verification, by string) {
	var text bytes.Buffer
	for i, l := range header {
		if l.Name != nil && (i >= at || !l.Is("DKIM-Signature")) {
			text.Write(l.Raw)
			text.WriteString("\r\n")
		}
	}
	text.WriteString("\r\n")
	for _, by = range []string{key, noRSA, noEd25519} {
		if by == "" {
			continue
		}
		all, err := dkim.VerifyWithOptions(io.MultiReader(bytes.NewReader(text.Bytes()), bytes.NewReader(body)), &dkim.VerifyOptions{
			LookupTXT: func(string) ([]string, error) { return []string{by}, nil }, MaxVerifications: 1,
		})
		if len(all) == 0 {
			return &dkim.Verification{Err: err}, by
		}
		if v = all[0]; !says(v.Err, "inappropriate key algorithm") {
			break
		}
	}
	return v, by
}

func says(err error, what string) bool {
	return err != nil && strings.HasPrefix(err.Error(), "dkim: "+what)
}

// Records of keys that are nobody's: the hash of the body is compared before. A signature that was made for them means nothing.
var (
	noRSA     = record("rsa", x509.MarshalPKCS1PublicKey(&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 2047, 1), E: 65537}))
	noEd25519 = record("ed25519", make([]byte, ed25519.PublicKeySize))
)

func record(kind string, key []byte) string {
	return "v=DKIM1; k=" + kind + "; p=" + base64.StdEncoding.EncodeToString(key)
}

// DKIMKey reads a public key: the text of a TXT record, also as zone files quote it, or PEM. It returns the record.
func DKIMKey(text string) (string, error) {
	var der []byte
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der = block.Bytes
	} else {
		if quoted := strings.Split(text, `"`); len(quoted) > 2 {
			text = ""
			for i := 1; i < len(quoted); i += 2 {
				text += quoted[i]
			}
		}
		_, p, _ := strings.Cut(strings.Join(strings.Fields(text), ""), "p=")
		p, _, _ = strings.Cut(p, ";")
		der, _ = base64.StdEncoding.DecodeString(p)
		if strings.Contains(text, "ed25519") && len(der) == ed25519.PublicKeySize {
			return record("ed25519", der), nil
		}
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		key, err = x509.ParsePKCS1PublicKey(der)
	}
	switch key := key.(type) {
	case ed25519.PublicKey:
		return record("ed25519", key), nil
	case *rsa.PublicKey:
		if err == nil && key.N.BitLen() >= 1024 && key.N.BitLen() <= maxKey {
			return record("rsa", x509.MarshalPKCS1PublicKey(key)), nil
		}
	}
	return "", errors.New("no public key: must be a TXT record (v=DKIM1; k=rsa; p=…) or PEM, for RSA of 1024 to 4096 bits")
}
