//go:build unix

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each provider's own client sends all that it can to a private service, and hears in its own words what is not done here.
func TestProvidersClients(t *testing.T) {
	t.Parallel()
	long(t)
	m := newMachine(t)
	script, err := os.ReadFile(filepath.Join("testdata", "providers", "send.mjs"))
	must(t, err)
	m.write("send.mjs", string(script))
	install := exec.Command("npm", "install", "--prefix", m.home, "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error",
		"resend@6", "@sendgrid/mail@8", "postmark@5", "mailgun.js@14", "form-data@4", "@aws-sdk/client-sesv2@3")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm: %v %s", err, out)
	}
	out, stderr, status := output(t, m.script(`exec "$0" exec --env RESEND={resend} --env SENDGRID={sendgrid} --env POSTMARK={postmark} --env MAILGUN={mailgun} --env SES={ses} -- sh -c '
		node send.mjs || exit 1
		for name in resend sendgrid postmark mailgun ses; do
			for part in second bcc; do
				echo "== $name $part"
				"$0" read $name-$part@example.com --json
				"$0" read $name-$part@example.com --view raw
			done
		done
		"$0" read mailgun-whole@example.com --view text
		"$0" read ses-whole@example.com --view headers --width 100' "$0"`))
	if status != 0 {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	said, mails, _ := strings.Cut(out, "== ")
	want := `resend sent Grüße 482913
resend batch 2
resend refused validation_error scheduled_at is not supported by Mayfly
sendgrid 202
sendgrid refused Error 400 template_id is not supported by Mayfly
postmark OK
postmark batch 0,300
postmark refused InvalidEmailRequestError 300 A template is not supported by Mayfly
mailgun Queued. Thank you.
mailgun whole 200
mailgun refused Error 400 template is not supported by Mayfly
ses sent
ses whole sent
ses refused BadRequestException
`
	lines := strings.Split(said, "\n")
	for i, line := range strings.Split(want, "\n") {
		if i >= len(lines) || !strings.HasPrefix(lines[i], line) {
			t.Errorf("line %d of\n%s\nis not %q", i, said, line)
			break
		}
	}
	for _, mail := range strings.Split(mails, "\n== ") {
		name, _, _ := strings.Cut(mail, "\n")
		for _, part := range []string{`"code":"482913"`, `"content_id":"logo"`, `"filename":"räw.csv"`, "X-Order: 7\r\n", "Reply-To: <help@shop.example>\r\n", "s API"} {
			if !strings.Contains(mail, part) {
				t.Errorf("%s: no %q in %s", name, part, mail)
			}
		}
		if _, raw, _ := strings.Cut(mail, "Mime-Version"); strings.Contains(raw, "bcc@") {
			t.Errorf("%s: it names who got a blind copy", name)
		}
	}
	if !strings.Contains(mails, "as it is") || !strings.Contains(mails, "SES's API") {
		t.Errorf("no whole mail in %s", mails[max(0, len(mails)-2000):])
	}
}
