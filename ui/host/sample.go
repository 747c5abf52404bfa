package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"net"
	"path"
	"time"

	"github.com/emersion/go-smtp"

	"mayfly/assets"
)

// senders are the senders of the samples, in order.
var senders = []struct{ name, addr string }{
	{"Acme", "no-reply@acme.example"},
	{"Brightwater Books", "orders@books.example"},
	{"Grace Hopper", "grace@navy.example"},
	{"Northlight", "id@northlight.example"},
}

// SendSample sends sample n, from 0 and wrapping around, to an address through the SMTP server at addr
// (host:port), until ctx ends. It returns the name of the sender.
func SendSample(ctx context.Context, addr, to string, n int) (sender string, err error) {
	from := senders[n%len(senders)]
	mail, err := Sample(n, to, time.Now())
	if err != nil {
		return "", err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("sending a sample message: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // fails the command under way
	defer stop()
	c := smtp.NewClient(conn)
	defer c.Close()
	if err := c.SendMail(from.addr, []string{to}, bytes.NewReader(mail)); err != nil {
		return "", fmt.Errorf("sending a sample message: %w", err)
	}
	return from.name, c.Quit()
}

// Sample returns sample n with a header for a recipient and a time, ready for SMTP.
func Sample(n int, to string, now time.Time) ([]byte, error) {
	entries, err := fs.ReadDir(assets.Samples, "samples")
	if err != nil {
		return nil, fmt.Errorf("reading the sample messages: %w", err)
	}
	from := senders[n%len(senders)]
	body, err := assets.Samples.ReadFile(path.Join("samples", entries[n%len(entries)].Name()))
	if err != nil {
		return nil, fmt.Errorf("reading a sample message: %w", err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: %s <%s>\n", from.name, from.addr)
	fmt.Fprintf(&b, "To: <%s>\n", to)
	fmt.Fprintf(&b, "Date: %s\n", now.Format(time.RFC1123Z))
	fmt.Fprintf(&b, "Message-ID: <%s@sample.example>\n", rand.Text())
	b.Write(body)
	return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")), nil
}
