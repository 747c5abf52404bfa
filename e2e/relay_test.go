//go:build unix

package e2e

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// certificate returns the arguments for a certificate for 127.0.0.1, which is in cert.pem.
func (m *machine) certificate() []string {
	m.t.Helper()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	key, err := x509.MarshalPKCS8PrivateKey(web.TLS.Certificates[0].PrivateKey)
	must(m.t, err)
	cert := m.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})))
	private := m.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	return []string{"--smtp-cert", cert, "--smtp-key", private}
}

// relay is another machine's mail server: it takes mail for anybody from those who log in over TLS.
func (m *machine) relay() *server {
	m.t.Helper()
	return m.serve(filepath.Join(m.home, "relay"), append(m.certificate(), "--smtp-auth-any", "--catch-all", "--key-file", filepath.Join(m.home, "key"))...)
}

// relaying is the example in docs/relay.md with the address of the relay.
func (m *machine) relaying(t *testing.T, relay *server) string {
	file := m.write("relay-password", "open sesame\n")
	must(m.t, os.Chmod(file, 0o600))
	return strings.NewReplacer("mail.example.com:587", relay.smtp, "/etc/mayfly/relay-password", file).Replace(examples(t, "relay.md", "toml")[0])
}

// relayed is the raw message that has come to an address by the relay.
func (m *machine) relayed(relay *server, address string) string {
	m.t.Helper()
	key, err := os.ReadFile(filepath.Join(m.home, "key"))
	must(m.t, err)
	return m.using(relay, strings.TrimSpace(string(key))).mustRun("read", address, "--view", "raw")
}

func TestReleaseByTheCommandLine(t *testing.T) {
	t.Parallel()
	other := newMachine(t)
	relay := other.relay()
	m := newMachine(t).with("SSL_CERT_FILE=" + filepath.Join(other.home, "cert.pem"))
	s, user := m.serveUser("dev", "--config", m.write("serve.toml", other.relaying(t, relay)))
	address := user.mustRun("new")
	send(t, s.smtp, address, signup(address))

	_, stderr, status := user.run("release", "--to", "qa@example.com", "--to", "Dev@Example.org")
	if status != 0 || !strings.HasPrefix(stderr, "sent msg_") || !strings.HasSuffix(stderr, " to qa@example.com, Dev@Example.org\n") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	original := user.mustRun("read", "--view", "raw")
	for _, to := range []string{"qa@example.com", "dev@example.org"} {
		got := other.relayed(relay, to)
		if fields, ok := strings.CutSuffix(got, original); !ok || !strings.HasPrefix(fields, "Resent-Date: ") ||
			!strings.Contains(fields, "Resent-From: mayfly@example.com\r\nResent-To: qa@example.com,\r\n Dev@Example.org\r\n") {
			t.Errorf("%s got %q", to, got)
		}
	}

	for to, want := range map[string]struct {
		status int
		text   string
	}{
		"eve@evil.example": {4, "The relay is not allowed to send to eve@evil.example (403); only the operator of the service can allow it"},
		"eve@example.org\r\nRCPT TO:<eve@evil.example>": {1, `is not an address to release to`},
	} {
		user.fails(want.status, want.text, "release", "--to", to)
	}
	user.fails(2, "--to ADDRESS", "release")
	relay.stop(9)
	user.fails(1, "The relay refused the connection (502)", "release", "--to", "qa@example.com")
	s.stop(15)
	if log := s.stderr.String(); strings.Count(log, `msg="message released" key=key_`) != 1 || !strings.Contains(log, `to="[qa@example.com Dev@Example.org]"`) || strings.Contains(log, "sesame") {
		t.Errorf("log: %s", log)
	}
}

func TestReleaseInTheApplication(t *testing.T) {
	t.Parallel()
	other := newMachine(t)
	relay := other.relay()
	m := newMachine(t).with("SSL_CERT_FILE=" + filepath.Join(other.home, "cert.pem"))
	m.write(".config/mayfly/config.toml", other.relaying(t, relay))
	app := m.openApplication()
	send(t, app.smtp, app.address, signup(app.address))
	app.waitFor("Confirm your e-mail address")

	app.step("R", "Release this message", "→ qa@example.com, *@example.org")
	app.step("nobody\r", "Release this message", `│ ! release the message: "nobody" is not an address`)
	app.typeKeys("\x15user%host@example.org\r")
	app.waitFor("Release this message", "│ ! release the message: The relay is not allowed", "user%host@example.org (403)")
	app.typeKeys("\x15q\x1b[C\r") // the right arrow completes
	app.waitFor("released to qa@example.com")
	if got := other.relayed(relay, "qa@example.com"); !strings.HasPrefix(got, "Resent-Date: ") || !strings.Contains(got, "482913") {
		t.Errorf("it got %q", got)
	}
}

func TestReleaseWithoutARelay(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.write(".config/mayfly/config.toml", "[relay]\nhost = 'mail.example.com:587'\nfrom = 'me@example.com'\n") // nobody is allowed
	app := m.openApplication("the relay allows no address")
	send(t, app.smtp, app.address, signup(app.address))
	app.waitFor("Confirm your e-mail address")
	app.step("R", "No relay: configure [relay] in config.toml, then restart with `mayfly down`")
	if _, stderr, status := m.run("release", "--to", "qa@example.com"); status != 1 || !strings.Contains(stderr, "the local service has no relay; set one up under [relay] in config.toml, then `mayfly down`") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
