//go:build unix

package local_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mayfly/internal/local"
)

func TestAServiceThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	must(t, syscall.Kill(s.PID, syscall.SIGSTOP))
	defer func() { _ = syscall.Kill(s.PID, syscall.SIGCONT) }()
	for { // until all its threads have stopped
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		again, err := local.AttachOrStart(ctx, o)
		cancel()
		if err != nil {
			return
		}
		again.Close()
	}
}

// A service whose directory is removed takes no more mail.
func TestItsDirectoryIsRemoved(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Linger = time.Millisecond
	s := open(t, withArgs(t, o))
	must(t, os.Rename(o.DataDir, o.DataDir+".old"))
	<-s.Done()
}

// A service that is interrupted ends in order; those attached are not told that it was stopped.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	must(t, syscall.Kill(s.PID, syscall.SIGTERM))
	<-s.Done()
	if s.Err() != nil {
		t.Errorf("ended with %v", s.Err())
	}
	if again := open(t, o); again.PID == s.PID || again.SMTPAddr != s.SMTPAddr {
		t.Errorf("it was %+v, and is %+v", s.State, again.State)
	}
}

func TestAnotherUsersFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	o := options(t)
	open(t, o)
	const nobody = 65534
	must(t, os.Chown(o.DataDir, nobody, nobody))
	if err := failure(t, o); !strings.Contains(err, "it belongs to the user nobody") {
		t.Error(err)
	}
	if s, err := local.Attach(t.Context(), o); err == nil {
		s.Close()
		t.Error("attached to the service of another user")
	}
	if err := os.Chown(o.DataDir, 0, 0); err != nil {
		t.Error(err)
	}
}

func TestOthersMayWriteToItsFolders(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		for _, name := range []string{"", "store"} {
			o := options(t)
			dir := filepath.Join(o.DataDir, name)
			must(t, os.MkdirAll(dir, 0o700))
			if running {
				open(t, o)
			}
			for _, mode := range []os.FileMode{0o702, 0o720} {
				must(t, os.Chmod(dir, mode))
				if err := failure(t, o); !strings.HasSuffix(err, dir+" is writable by other users: run `chmod go-w "+dir+"`") {
					t.Errorf("%q, running: %t: %s", name, running, err)
				}
			}
			must(t, os.Chmod(dir, 0o700))
			open(t, o).Close()
		}
	}
}

// The process that started it does not keep what is left of one that ended.
func TestNoZombieIsLeft(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip(err)
	}
	o := options(t)
	s := open(t, o)
	killService(t, s)
	for syscall.Kill(s.PID, 0) == nil { // until it was waited for
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		time.Sleep(time.Millisecond)
	}
}
