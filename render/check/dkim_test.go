package check_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"

	"mayfly/internal/mail"
	"mayfly/render/check"
)

// TestDKIM: what a signature covers, with and without the key that will be published, of mail as it is received.
func TestDKIM(t *testing.T) {
	private, _ := rsa.GenerateKey(rand.Reader, 1024)
	spki, _ := x509.MarshalPKIXPublicKey(&private.PublicKey)
	txt := base64.StdEncoding.EncodeToString(spki)
	key := func(text string) string {
		t.Helper()
		record, err := check.DKIMKey(text)
		if err != nil {
			t.Fatal(err)
		}
		return record
	}
	_, edwards, _ := ed25519.GenerateKey(rand.Reader)
	public := key("v=DKIM1; k=rsa; p=" + txt)
	other := key("v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(edwards.Public().(ed25519.PublicKey)))
	for _, text := range []string{
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki})),
		"s1._domainkey IN TXT ( \"v=DKIM1; h=sha256; k=rsa; \"\n\t\"p=" + txt[:99] + "\"\n\t\"" + txt[99:] + "\" ) ; key of s1",
	} {
		if key(text) != public {
			t.Errorf("%q is another key", text)
		}
	}
	large, _ := rsa.GenerateKey(rand.Reader, 1024)
	large.N.Lsh(large.N, 4096)
	for _, text := range []string{"", "v=DKIM1; p=", "v=DKIM1; k=rsa; p=AAAA", "p=" + base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PublicKey(&large.PublicKey))} {
		if record, err := check.DKIMKey(text); err == nil {
			t.Errorf("%.40q is the key %.40q", text, record)
		}
	}
	const plain = "From: Acme <news@mail.acme.example>\r\nTo: a@mayfly.test\r\nSubject: Hello\r\nList-Unsubscribe: <https://acme.example/u>\r\n" +
		"List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\r\nHello Ada\r\n"
	sign := func(domain string, with crypto.Signer, fields ...string) string {
		var out bytes.Buffer
		err := dkim.Sign(&out, strings.NewReader(plain), &dkim.SignOptions{Domain: domain, Selector: "s1", Signer: with, HeaderKeys: append(fields, "From", "Subject")})
		if err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const expiring = "DKIM-Signature: v=1; a=rsa-sha256; d=acme.example; s=x; h=from; x=1000000000; bh=AAAA; b=AAAA\r\n" + plain
	whole := sign("acme.example", private, "List-Unsubscribe", "List-Unsubscribe-Post")
	for name, c := range map[string]struct{ raw, key, want string }{
		"not signed":             {plain, "", ""},
		"not signed, with a key": {plain, public, "dkim-signature"},
		"whole":                  {whole, public, ""},
		"whole, without a key":   {whole, "", "dkim-key"},
		"as received, by lines":  {strings.ReplaceAll("Received: from a by b; Sat, 28 Nov 2026 10:00:00 +0000\r\n"+whole, "\r\n", "\n"), public, ""},
		"another body":           {strings.Replace(whole, "Ada", "Eve", 1), "", "dkim-body"},
		"another subject":        {strings.Replace(whole, "Subject: Hello", "Subject: Hullo", 1), public, "dkim-signature"},
		"another key":            {whole, other, "dkim-signature"},
		"made up":                {"DKIM-Signature: v=1; a=rsa-sha256; d=acme.example; s=x; h=from; bh=AAAA; b=AAAA\r\n" + plain, "", "dkim-body"},
		"no tags":                {"DKIM-Signature: hello\r\n" + plain, "", "dkim-signature"},
		"too weak":               {strings.Replace(whole, "rsa-sha256", "rsa-sha1", 1), "", "dkim-signature"},
		"of somebody else":       {sign("esp.example", private, "List-Unsubscribe", "List-Unsubscribe-Post"), public, "dkim-alignment"},
		"without one-click":      {sign("acme.example", private, "List-Unsubscribe"), public, "dkim-unsubscribe"},
		"by Ed25519":             {sign("acme.example", edwards, "List-Unsubscribe", "List-Unsubscribe-Post"), other, ""},
		"by Ed25519, no key":     {sign("acme.example", edwards, "List-Unsubscribe", "List-Unsubscribe-Post"), "", "dkim-key"},
		"expired since":          {expiring, "", ""},
		"expired before":         {"X-Received: 2001-09-09T01:46:41Z\r\n" + expiring, "", "dkim-signature"},
		"by two":                 {strings.TrimSuffix(sign("esp.example", edwards, "From"), plain) + whole, public, ""},
		"header too large":       {"X: " + strings.Repeat("a\r\n ", 1<<16) + "a\r\n" + whole, public, "dkim-signature"},
	} {
		in := check.Input{Raw: []byte(c.raw), Rules: check.Rules{DKIMKey: c.key}}
		for _, f := range mail.Parse(in.Raw).Fields {
			in.Fields = append(in.Fields, check.Field{Name: f.Name, Value: f.Value})
			if f.Name == "X-Received" {
				in.ReceivedAt, _ = time.Parse(time.RFC3339, f.Value)
			}
		}
		var ids []string
		for _, f := range check.Run(in) {
			if strings.HasPrefix(f.ID, "dkim-") {
				ids = append(ids, f.ID)
				if f.Level > check.Warning || len(f.Message) > 200 {
					t.Errorf("%s: %s: %s", name, f.Level, f.Message)
				}
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDKIMForged: a signature that verifies by the key that stands for an unknown one is like any other.
func TestDKIMForged(t *testing.T) {
	signature := base64.StdEncoding.EncodeToString(append([]byte{1}, make([]byte, ed25519.SignatureSize-1)...))
	body := sha256.Sum256([]byte("Hello\r\n"))
	for i := range 16 { // one in four verifies
		raw := fmt.Sprintf("DKIM-Signature: v=1; a=ed25519-sha256; d=acme.example; s=x; h=from:subject; bh=%s; b=%s\r\nFrom: a@acme.example\r\nSubject: %d\r\n\r\nHello\r\n",
			base64.StdEncoding.EncodeToString(body[:]), signature, i)
		unverified := func(f check.Finding) bool { return f.ID == "dkim-key" }
		if found := check.Run(check.Input{Raw: []byte(raw)}); !slices.ContainsFunc(found, unverified) {
			t.Errorf("%d: %v", i, found)
		}
	}
}

// TestDKIMLength: a signature of a part of the body is no invalid one, which is said.
func TestDKIMLength(t *testing.T) {
	raw := "DKIM-Signature: v=1; a=rsa-sha256; d=acme.example; s=x; h=from; l=5; bh=AAAA; b=AAAA\r\nFrom: a@acme.example\r\n\r\nHello Ada\r\n"
	partial := func(f check.Finding) bool {
		return f.ID == "dkim-signature" && strings.Contains(f.Message, "only the start of the body")
	}
	if found := check.Run(check.Input{Raw: []byte(raw)}); !slices.ContainsFunc(found, partial) {
		t.Error(found)
	}
}
