//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Whoever connects while the service is restarted with sockets that systemd keeps is served, and no mail is lost.
func TestRestartWithSocketsRefusesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	var files []*os.File
	var addresses []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		file, err := l.(*net.TCPListener).File()
		must(t, err)
		defer file.Close()
		files, addresses = append(files, file), append(addresses, l.Addr().String())
	}
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	must(t, err)
	defer told.Close()
	// The first by its name, the second by its address.
	start := func() *server {
		cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, program, "serve", "--smtp", "127.0.0.1:1", "--http", addresses[1], "--store", store, "--domains", "mail.test")
		cmd.Env = append(m.environ[:len(m.environ):len(m.environ)], "LISTEN_FDS=2", "LISTEN_FDNAMES=smtp:mayfly.socket", "NOTIFY_SOCKET="+told.LocalAddr().String())
		cmd.Dir, cmd.ExtraFiles = m.home, files
		s := m.startServer(cmd, store)
		var states []string
		for !strings.Contains(strings.Join(states, "\n"), "READY=1") {
			b := make([]byte, 1024)
			must(t, told.SetReadDeadline(time.Now().Add(conditionTimeout)))
			n, _, _, _, err := told.ReadMsgUnix(b, make([]byte, 1024))
			must(t, err)
			states = append(states, string(b[:n]))
		}
		if all := strings.Join(states, "\n"); !strings.Contains(all, "FDNAME=kept-SMTP") || !strings.Contains(all, "FDNAME=kept-HTTP") {
			t.Errorf("systemd is told %q", states)
		}
		return s
	}
	running := start()
	if running.smtp != addresses[0] || running.rest != "http://"+addresses[1] {
		t.Fatalf("it serves %s and %s, not the sockets", running.smtp, running.rest)
	}
	m = m.using(running, m.key(store, "enterprise"))
	address := m.mustRun("new")

	var stop, sent atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for stop.Load() == 0 {
				if err := sendOne(addresses[0], address); err != nil {
					t.Errorf("a mail is refused: %v", err)
					return
				}
				sent.Add(1)
			}
		})
		clients.Go(func() {
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for stop.Load() == 0 {
				answer, err := client.Get("http://" + addresses[1] + "/healthz")
				if err != nil {
					t.Errorf("a request is refused: %v", err)
					return
				}
				answer.Body.Close()
			}
		})
	}
	for range 3 {
		time.Sleep(300 * time.Millisecond) // under load
		running.stop(syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond) // while nothing runs
		running = start()
	}
	stop.Store(1)
	clients.Wait()
	var in struct {
		Count int64 `json:"message_count"`
	}
	must(t, json.Unmarshal([]byte(m.mustRun("ls", "--json")), &in))
	if in.Count != sent.Load() || sent.Load() == 0 {
		t.Errorf("%d of %d mails are there", in.Count, sent.Load())
	}
}

// sendOne sends a mail on a connection of its own, and returns once it is accepted.
func sendOne(server, to string) error {
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Mail("a@b.test"); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, fmt.Sprintf("Subject: %d\r\n\r\nx\r\n", time.Now().UnixNano())); err != nil {
		return err
	}
	return w.Close()
}
