package pgtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"testing"
)

// Folder is a folder of the user that PostgreSQL runs as: whoever runs the tests, or, since it does not run as root, the
// user postgres or nobody. It is removed at the end of the test, and also when the test process dies before that.
type Folder struct {
	Path string

	guarding *exec.Cmd
	guard    io.WriteCloser // open as long as this process lives
}

// NewFolder makes a folder with a short path. At the end, whatever that is, the shell runs the command in it, before
// the folder is removed.
func NewFolder(t testing.TB, end string) *Folder {
	t.Helper()
	f, err := newFolder(end)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.remove(); err != nil {
			t.Errorf("remove %s: %v", f.Path, err)
		}
	})
	return f
}

func newFolder(end string) (*Folder, error) {
	path, err := os.MkdirTemp("/tmp", "mayfly-") // TMPDIR can be out of the owner's reach, and too long for a socket
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if err := giveToOwner(path); err != nil {
		return nil, err
	}
	f.guarding = exec.Command("/bin/sh", "-c", `read _; `+end+`; cd /; rm -rf "$0"`, path)
	f.guarding.Dir = path
	if f.guard, err = f.guarding.StdinPipe(); err != nil {
		return nil, err
	}
	if err := asOwner(f.guarding); err != nil {
		return nil, err
	}
	if err := f.guarding.Start(); err != nil {
		return nil, fmt.Errorf("guard %s: %w", path, err)
	}
	return f, nil
}

func (f *Folder) remove() error {
	if err := f.guard.Close(); err != nil {
		return err
	}
	return f.guarding.Wait()
}

// Command is a command that runs in the folder as its owner.
func (f *Folder) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = f.Path
	if err := asOwner(cmd); err != nil {
		cmd.Err = err
	}
	return cmd
}

// FreePort returns a TCP port of loopback that nobody uses. It is not one of those that clients get, so that it stays
// free while the server that has it is stopped.
func FreePort() (int, error) {
	const first, last = 15_000, 32_000
	var failed error
	for range 100 {
		port := first + rand.IntN(last-first)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			failed = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("find a free port: %w", failed)
}
