//go:build unix

package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"mayfly/internal/sockets"
)

// TestDocsWebhook runs the receiver of docs/webhooks.md, and tries it with a wrong signature.
func TestDocsWebhook(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("/usr/bin/python3")
	if err != nil {
		t.Skip("needs Python: install the package python3")
	}
	port := freePort(t)
	addr := sockets.Address(port)
	code := strings.ReplaceAll(examples(t, "webhooks.md", "python")[0], "8000", strconv.Itoa(port))
	m := newMachine(t)
	m.write("serve.toml", "[webhook]\nurl = 'http://"+addr+"/mail'\nsecret_file = 'webhook.secret'\n")
	s, user := m.serveUser("dev", "--config", "serve.toml")
	receiver := exec.Command(python, "-c", code)
	receiver.Dir = m.home
	pipe, err := receiver.StdoutPipe()
	must(t, err)
	must(t, receiver.Start())
	t.Cleanup(func() {
		_ = receiver.Process.Kill()
		_ = receiver.Wait()
	})
	eventually(t, "the receiver listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	lines := bufio.NewScanner(pipe)
	for _, address := range []string{"ada@mail.test", "grace@mail.test"} {
		user.mustRun("new", "--username", strings.TrimSuffix(address, "@mail.test"))
		send(t, s.smtp, address, "Subject: =?utf-8?q?=1B[31mred?=\n\nx\n")
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		var got struct {
			To      string
			Message struct{ Subject string }
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil || got.To != address || got.Message.Subject != "\x1b[31mred" {
			t.Errorf("the receiver prints %q, %v", lines.Text(), err)
		}
	}
	forged, err := http.NewRequest(http.MethodPost, "http://"+addr+"/mail", strings.NewReader("{}"))
	must(t, err)
	forged.Header.Set("webhook-id", "msg_x")
	forged.Header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Unix(), 10))
	forged.Header.Set("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")
	answer, err := http.DefaultClient.Do(forged)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a wrong signature is answered with %s", answer.Status)
	}
}
