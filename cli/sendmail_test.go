package cli

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mayfly/mayflytest"
)

func TestSendmail(t *testing.T) {
	service := mayflytest.Start(t)
	environ := append(machine(t), "MAYFLY_SMTP="+service.SMTPAddr, "LOGNAME=ada")
	host, err := os.Hostname()
	must(t, err)
	const header = "From: shop@acme.example\nDate: Mon, 23 Nov 2026 10:00:00 +0000\nMessage-ID: <1@acme.example>\n"
	sent := strings.ReplaceAll(header, "\n", "\r\n")
	for name, c := range map[string]struct {
		args, stdin string
		to          string // of whom the mail is read
		want        string // the mail, where <ID> is some Message-ID and <DATE> some Date
	}{
		"to the end":       {"-i a1@acme.example", header + "\nx\n.\ny\n", "a1@acme.example", sent + "\r\nx\r\n.\r\ny\r\n"},
		"to the dot":       {"a2@acme.example", header + "\nx\n.\ny\n", "a2@acme.example", sent + "\r\nx\r\n"},
		"CRLF, dots":       {"-oi -oem -odb -Am a3@acme.example", strings.ReplaceAll(header, "\n", "\r\n") + "\r\n..\r\n.\r\n\ty \n", "a3@acme.example", sent + "\r\n..\r\n.\r\n\ty \r\n"},
		"no header":        {"-F Ada -f ada@acme.example a4@acme.example", "hello: you\n", "a4@acme.example", "Message-ID: <ID>\r\nFrom: \"Ada\" <ada@acme.example>\r\nDate: <DATE>\r\nhello: you\r\n\r\n"},
		"a body alone":     {"-rada@acme.example a5@acme.example", "hello\n", "a5@acme.example", "Message-ID: <ID>\r\nFrom: <ada@acme.example>\r\nDate: <DATE>\r\n\r\nhello\r\n"},
		"as cron":          {"-FCronDaemon -i -B8BITMIME -oem root", "To: root\nSubject: Cron\n\nx\n", "root@" + host, "Message-ID: <ID>\r\nFrom: \"CronDaemon\" <ada@" + host + ">\r\nDate: <DATE>\r\nTo: root\r\nSubject: Cron\r\n\r\nx\r\n"},
		"blind copies":     {"-ti", header + "To: \"Doe, Jane\" <a6@acme.example>,\n b6@acme.example\nbcc: c6@acme.example,\n\te6@acme.example\nCc: d6@acme.example\n\nx\n", "c6@acme.example", sent + "To: \"Doe, Jane\" <a6@acme.example>,\r\n b6@acme.example\r\nCc: d6@acme.example\r\n\r\nx\r\n"},
		"a blind X-Bcc":    {"-t", header + "X-Bcc: f6@acme.example\nSubject: x\nBcc: f6@acme.example\n\nx\n", "f6@acme.example", sent + "X-Bcc: f6@acme.example\r\nSubject: x\r\n\r\nx\r\n"},
		"Bcc comes first":  {"-t", "Bcc: g6@acme.example\n" + header + "\nx\n", "g6@acme.example", sent + "\r\nx\r\n"},
		"the second of To": {"-t -i -fbounce@acme.example", header + "To: A <a7@acme.example>, b7@acme.example\n\nx\n", "b7@acme.example", sent + "To: A <a7@acme.example>, b7@acme.example\r\n\r\nx\r\n"},
		"ends of flags":    {"-t -- e8@acme.example", header + "\nx\n", "e8@acme.example", sent + "\r\nx\r\n"},
		"many fields":      {"-t", header + strings.Repeat("X-A: b\n", 1100) + "Bcc: a11@acme.example\n\nx\n", "a11@acme.example", sent + strings.Repeat("X-A: b\r\n", 1100) + "\r\nx\r\n"},
		"sent again":       {"-t", "Resent-To: a12@acme.example\nResent-Bcc: b12@acme.example\nBcc: c12@acme.example\n" + header + "\nx\n", "b12@acme.example", "Resent-To: a12@acme.example\r\n" + sent + "\r\nx\r\n"},
		"no fields first":  {"-t", " <c@d>\nTo: =?utf-8?q?A=2C_B?= <\"a> b\"@acme.example>, a13@acme.example\n" + header + "\nx\n", "a13@acme.example", " <c@d>\r\nTo: =?utf-8?q?A=2C_B?= <\"a> b\"@acme.example>, a13@acme.example\r\n" + sent + "\r\nx\r\n"},
		"from an mbox":     {"-t", "From root Mon Nov 23 10:00:00 2026\nTo: a14@acme.example\n" + header + "\nx\n", "a14@acme.example", "To: a14@acme.example\r\n" + sent + "\r\nx\r\n"},
		"ignored":          {"-N never -V id -O DeliveryMode=b -R hdrs -v -G -U a9@acme.example", header + "\nx\n", "a9@acme.example", sent + "\r\nx\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(t, environ, c.stdin, append([]string{"sendmail"}, strings.Fields(c.args)...)...); r.status != 0 || r.stdout+r.stderr != "" {
				t.Fatalf("%+v", r)
			}
			got := string(service.InboxFor(t, c.to).Next(t).Raw)
			got = regexp.MustCompile(`(?m)^(Return-Path|Received|Delivered-To):.*\r\n([ \t].*\r\n)*`).ReplaceAllString(got, "")
			if strings.Contains(c.want, "<ID>") {
				got = regexp.MustCompile(`Message-ID: <[^>]+>`).ReplaceAllString(got, "Message-ID: <ID>")
				got = regexp.MustCompile(`Date: .*\r`).ReplaceAllString(got, "Date: <DATE>\r")
			}
			if got != strings.TrimSuffix(c.want, "\r\n") && got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
	var many strings.Builder
	for i := range 1050 {
		fmt.Fprintf(&many, " n%d@acme.example,\n", i)
	}
	if r := run(t, environ, header+"To:"+many.String()+" z@acme.example\n\nx\n", "sendmail", "-t"); r.status != 0 || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	for _, to := range []string{"n0", "n99", "n100", "n1049", "z"} {
		service.InboxFor(t, to+"@acme.example").Next(t)
	}
	for args, part := range map[string]string{
		"-bs -i": "-bs is not supported", "-bp": "-bp is not supported", "-i -f": "-f needs a value", "-z a@acme.example": "unknown flag -z", "-t": "missing recipient", "--bogus": "unknown flag --bogus",
	} {
		expectFailure(t, run(t, environ, "Subject: x\n\nx\n", append([]string{"sendmail"}, strings.Fields(args)...)...), statusUsage, []string{part}, strings.Fields(args))
	}
	expectFailure(t, run(t, machine(t), header+"\nx\n", "sendmail", "a@acme.example"), statusError, []string{"`mayfly up`"}, nil)
	r := run(t, environ, header+"\nx\n", "sendmail", "no..dots@acme.example", "f10@acme.example", "dot.@acme.example")
	if r.status != statusError || strings.Count(r.stderr, "\n") != 2 || !strings.Contains(r.stderr, "sending to no..dots@acme.example: SMTP error 5") {
		t.Errorf("refused recipients: %+v", r)
	}
	service.InboxFor(t, "f10@acme.example").Next(t)
}
