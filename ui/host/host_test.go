package host

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"mayfly/internal/fortest"
	"mayfly/internal/mail"
)

func TestACopyIsPrivateAndGoesAway(t *testing.T) {
	var c Copies
	path, err := c.Write("Hello")
	fortest.Must(t, err)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	fortest.Must(t, c.Remove())
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Error("the copy is still there")
	}
	if err := c.Remove(); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
}

func TestEverySampleIsAMail(t *testing.T) {
	for n := range senders {
		raw, err := sample(n, "ada@mayfly.test", time.Now())
		fortest.Must(t, err)
		m := mail.Parse(raw)
		if m.From.Name != senders[n].name || m.Subject == "" || m.Text == "" && m.HTML == "" {
			t.Errorf("sample %d: from %v, subject %q", n, m.From, m.Subject)
		}
		if len(m.Defects) > 0 {
			t.Errorf("sample %d: %q", n, m.Defects)
		}
		if strings.Contains(strings.ReplaceAll(string(raw), "\r\n", ""), "\n") {
			t.Errorf("sample %d has lines that do not end in CRLF", n)
		}
	}
}

// box is an SMTP server for one mail.
type box struct {
	to   string
	data []byte
}

func (b *box) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }
func (b *box) Reset()                                      {}
func (b *box) Logout() error                               { return nil }
func (b *box) Mail(string, *smtp.MailOptions) error        { return nil }
func (b *box) Rcpt(to string, _ *smtp.RcptOptions) error   { b.to = to; return nil }
func (b *box) Data(r io.Reader) (err error)                { b.data, err = io.ReadAll(r); return err }

func TestSend(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fortest.Must(t, err)
	b := &box{}
	server := smtp.NewServer(b)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	sender, err := SendSample(t.Context(), listener.Addr().String(), "ada@mayfly.test", 5)
	fortest.Must(t, err)
	fortest.Must(t, server.Close())
	<-served
	if sender != senders[1].name || b.to != "ada@mayfly.test" || !strings.Contains(string(b.data), "Subject: ") {
		t.Errorf("sent by %q to %q: %q", sender, b.to, b.data)
	}
	if _, err := SendSample(t.Context(), listener.Addr().String(), "ada@mayfly.test", 0); err == nil {
		t.Error("sent to a server that is gone")
	}
}

func TestSendGivesUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it never says hello
	fortest.Must(t, err)
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := SendSample(ctx, listener.Addr().String(), "ada@mayfly.test", 0); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the error is %v", err)
	}
}
