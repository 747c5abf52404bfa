package server_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Whoever can reach the socket, by whatever mode it has, is asked who they are.
func TestAnotherUserAtTheSocket(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	c := config(t)
	var err error
	c.Store, err = os.MkdirTemp("", "mayfly-test-") // t.TempDir is in a folder that others cannot enter
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(c.Store) })
	start(t, c)
	path := filepath.Join(c.Store, "admin", "sock")
	must(t, errors.Join(os.Chmod(c.Store, 0o755), os.Chmod(filepath.Dir(path), 0o755), os.Chmod(path, 0o666)))
	for user, want := range map[uintptr]string{0: "HTTP/1.1 200 OK", nobody: ""} {
		answer := make(chan string)
		go func() {
			runtime.LockOSThread() // for good: this thread is the other user's
			defer close(answer)
			if _, _, failed := syscall.RawSyscall(syscall.SYS_SETRESUID, user, user, user); failed != 0 {
				t.Error(failed)
				return
			}
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "POST /admin/keys HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
			text, _ := io.ReadAll(conn) // it may be reset
			answer <- string(text)
		}()
		if got := <-answer; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("user %d is answered with %q", user, got)
		}
	}
}
