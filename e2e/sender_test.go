//go:build unix

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
)

// sender is an SMTP connection that sends one message after another.
type sender struct {
	conn  net.Conn
	lines *bufio.Reader
}

func dialSender(b testing.TB, addr string) *sender {
	conn, err := net.Dial("tcp", addr)
	must(b, err)
	b.Cleanup(func() { _ = conn.Close() }) // the messages are acknowledged or counted as errors
	s := &sender{conn, bufio.NewReader(conn)}
	must(b, s.expect("220"))
	must(b, s.command("HELO mail.test\r\n", "250"))
	return s
}

// send sends a message, its commands pipelined (RFC 2920), and returns when it is acknowledged.
func (s *sender) send(to, message string) error {
	if err := s.command("MAIL FROM:<a@acme.example>\r\nRCPT TO:<"+to+">\r\nDATA\r\n", "250", "250", "354"); err != nil {
		return err
	}
	return s.command(message+".\r\n", "250")
}

func (s *sender) command(text string, answers ...string) error {
	if _, err := io.WriteString(s.conn, text); err != nil {
		return err
	}
	return s.expect(answers...)
}

func (s *sender) expect(answers ...string) error {
	for _, want := range answers {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(line, want) {
			return fmt.Errorf("the answer is %q, want %s", line, want)
		}
	}
	return nil
}
