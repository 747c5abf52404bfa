//go:build unix

package e2e

import (
	"net"
	"net/smtp"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mailers send a mail to ann@gmail.com, to the server at $HOST and $PORT, logged in with $KEY, over TLS if $CERT is its
// certificate. The subject is the mailer's name.
var mailers = map[string]string{
	"swaks":        `swaks --server $HOST:$PORT ${CERT:+--tls --tls-ca-path $CERT} --auth PLAIN --auth-user swaks --auth-password $KEY --from app@shop.example --to ann@gmail.com --header "Subject: swaks"`,
	"swaks, LOGIN": `swaks --server $HOST:$PORT ${CERT:+--tls --tls-ca-path $CERT} --auth LOGIN --auth-user swaks --auth-password $KEY --from app@shop.example --to ann@gmail.com --header "Subject: swaks, LOGIN"`,
	"msmtp": `printf 'Subject: msmtp\n\nhello\n' | msmtp --host=$HOST --port=$PORT --auth=plain --user=msmtp --passwordeval='echo $KEY' --from=app@shop.example ` +
		`--tls=$([ "$CERT" ] && echo on || echo off) ${CERT:+--tls-trust-file=$CERT} ann@gmail.com`,
	"PHP": `printf 'account default\nhost %s\nport %s\nauth login\nuser php\npassword %s\nfrom app@shop.example\n' $HOST $PORT $KEY >msmtprc && chmod 600 msmtprc
		[ -z "$CERT" ] || printf 'tls on\ntls_trust_file %s\n' $CERT >>msmtprc
		php -d "sendmail_path=\"msmtp --file=$PWD/msmtprc -t\"" -r 'mail("ann@gmail.com", "PHP", "hello") or exit(1);'`,
	"Django": `SSL_CERT_FILE=$CERT /usr/bin/python3 -c 'import os
from django.conf import settings
settings.configure(EMAIL_HOST=os.environ["HOST"], EMAIL_PORT=int(os.environ["PORT"]), EMAIL_HOST_USER="django", EMAIL_HOST_PASSWORD=os.environ["KEY"], EMAIL_USE_TLS=bool(os.environ["CERT"]))
from django.core.mail import send_mail
send_mail("Django", "hello", "app@shop.example", ["ann@gmail.com"])'`,
	"Rails": `ruby -e 'require "mail"
tls = ENV["CERT"].empty? ? {} : { enable_starttls: true, ca_file: ENV["CERT"] }
Mail.defaults { delivery_method :smtp, address: ENV["HOST"], port: ENV["PORT"].to_i, user_name: "rails", password: ENV["KEY"], authentication: :login, **tls }
Mail.deliver { from "app@shop.example"; to "ann@gmail.com"; subject "Rails"; body "hello" }'`,
	"nodemailer": `NODE_EXTRA_CA_CERTS=$CERT node -e 'require("nodemailer").createTransport({host: process.env.HOST, port: +process.env.PORT, requireTLS: !!process.env.CERT, auth: {user: "nodemailer", pass: process.env.KEY}}).sendMail({from: "app@shop.example", to: "ann@gmail.com", subject: "nodemailer", text: "hello"})'`,
}

// stagings is a service, and two machines with a key each.
func (m *machine) stagings(args ...string) (s *server, one, other *machine) {
	m.t.Helper()
	s, one = m.serveUser("dev", args...)
	return s, one, m.using(s, m.key(s.store, "dev")).with("MAYFLY_STATE_DIR=" + m.t.TempDir())
}

// Two applications send mail to the same address, and each gets its own.
func TestStagingApplications(t *testing.T) {
	t.Parallel()
	s, one, other := newMachine(t).stagings()
	host, _, err := net.SplitHostPort(s.smtp)
	must(t, err)
	for _, m := range []*machine{one, other} {
		auth := smtp.PlainAuth("", "shop", m.getenv("MAYFLY_API_KEY"), host)
		subject := m.getenv("MAYFLY_API_KEY")[3:9]
		must(t, smtp.SendMail(s.smtp, auth, "app@shop.example", []string{"ann@gmail.com"}, []byte("Subject: "+subject+"\r\n\r\nYour code is 482913.\r\n")))
		if out := m.mustRun("messages", "ann@gmail.com"); strings.Count(out, "\n") != 0 || !strings.Contains(out, subject) {
			t.Errorf("messages: %s", out)
		}
		if out := m.mustRun("wait", "ann@gmail.com", "--code"); out != "482913" {
			t.Errorf("code %q", out)
		}
	}
	if err := smtp.SendMail(s.smtp, smtp.PlainAuth("", "shop", "wrong", host), "app@shop.example", []string{"ann@gmail.com"}, nil); err == nil || !strings.HasPrefix(err.Error(), "535") {
		t.Errorf("a wrong key: %v", err)
	}
	// A wait for an address that has no inbox yet waits for the inbox, too.
	_, stderr, status := one.run("wait", "late@gmail.com", "--timeout", "100ms")
	if status != 5 {
		t.Errorf("status %d: %s", status, stderr)
	}
	id := strings.Fields(one.mustRun("admin", "key", "list", "--store", s.store))[0]
	c, err := smtp.Dial(s.smtp)
	must(t, err)
	must(t, c.Auth(smtp.PlainAuth("", "shop", one.getenv("MAYFLY_API_KEY"), host)))
	one.mustRun("admin", "key", "revoke", id, "--store", s.store)
	must(t, c.Mail("app@shop.example"))
	if err := c.Rcpt("ann@gmail.com"); err == nil || !strings.HasPrefix(err.Error(), "530") {
		t.Errorf("a key revoked within the session: %v", err)
	}
}

func TestMailersLogIn(t *testing.T) {
	t.Parallel()
	long(t)
	modules := t.TempDir()
	install := exec.Command("npm", "install", "--prefix", modules, "--no-audit", "--no-fund", "--loglevel=error", "nodemailer@7")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v %s", err, out)
	}
	for _, kind := range []string{"on loopback", "over STARTTLS"} {
		t.Run(kind, func(t *testing.T) {
			m, cert := newMachine(t), ""
			var args []string
			if kind == "over STARTTLS" {
				args, cert = m.certificate(), filepath.Join(m.home, "cert.pem")
			}
			s, one, other := m.stagings(args...)
			host, port, err := net.SplitHostPort(s.smtp)
			must(t, err)
			for _, m := range []*machine{one, other} {
				sender := m.with("HOST="+host, "PORT="+port, "KEY="+m.getenv("MAYFLY_API_KEY"), "CERT="+cert, "NODE_PATH="+modules+"/node_modules")
				for name, script := range mailers {
					if out, stderr, status := output(t, sender.script(script)); status != 0 {
						t.Errorf("%s: status %d: %s%s", name, status, out, stderr)
					} else if out := m.mustRun("wait", "ann@gmail.com", "--subject", name, "--json"); !strings.Contains(out, name) {
						t.Errorf("%s: %s", name, out)
					}
				}
			}
			for _, m := range []*machine{one, other} {
				if n := strings.Count(m.mustRun("messages", "ann@gmail.com"), "\n") + 1; n != len(mailers) {
					t.Errorf("%d messages, not one of each mailer", n)
				}
			}
		})
	}
}
