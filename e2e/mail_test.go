//go:build unix

package e2e

import (
	"net/smtp"
	"strings"
	"testing"
)

// send sends a message by SMTP.
func send(t testing.TB, addr, to, message string) {
	t.Helper()
	if err := smtp.SendMail(addr, nil, "no-reply@acme.example", []string{to}, []byte(strings.ReplaceAll(message, "\n", "\r\n"))); err != nil {
		t.Fatalf("sending mail to %s: %v", to, err)
	}
}

// signup returns a sign-up mail with a text and an HTML part and an attachment.
func signup(to string) string {
	return `From: Acme <no-reply@acme.example>
To: ` + to + `
Subject: Confirm your e-mail address
Date: Sat, 21 Nov 2026 04:00:00 +0000
Message-ID: <1@acme.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

Welcome to Acme, Ada. Your verification code is 482913.

https://acme.example/confirm?token=abc
--inner
Content-Type: text/html; charset=utf-8

<html><body><h1>Welcome to Acme, Ada</h1>
<p>Enter this verification code to finish signing up:</p>
<p style="font-size:32px;letter-spacing:6px"><b>482913</b></p>
<p><a href="https://acme.example/confirm?token=abc" style="background:#06c;color:#fff;padding:12px 24px;display:inline-block">Confirm e-mail</a></p>
</body></html>
--inner--
--outer
Content-Type: text/plain; charset=utf-8
Content-Disposition: attachment; filename="../terms.txt"

the terms
--outer--
`
}
