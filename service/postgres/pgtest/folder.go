package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Folder is a folder of the user that PostgreSQL runs as: the user who runs the tests or, since it
// does not run as root, postgres or nobody. It is removed at the end of the test, even if the test
// process dies.
type Folder struct {
	Path string

	guard *exec.Cmd      // a shell that removes the folder
	alive io.WriteCloser // open as long as this process lives; then the guard acts
}

// NewFolder creates a folder with a short path. At the end the shell runs the command cleanup in it
// before the folder is removed.
func NewFolder(t testing.TB, cleanup string) *Folder {
	t.Helper()
	f, err := newFolder(cleanup)
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

func newFolder(cleanup string) (*Folder, error) {
	// TMPDIR may be inaccessible to the owner, or too long for a socket.
	path, err := os.MkdirTemp("/tmp", "mayfly-")
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path}
	if err := giveToOwner(path); err != nil {
		return nil, err
	}
	f.guard = f.Command(context.Background(), "/bin/sh", "-c", `read _; `+cleanup+`; cd /; rm -rf "$0"`, path)
	if f.alive, err = f.guard.StdinPipe(); err != nil {
		return nil, err
	}
	if err := f.guard.Start(); err != nil {
		return nil, fmt.Errorf("guard %s: %w", path, err)
	}
	return f, nil
}

func (f *Folder) remove() error {
	if err := f.alive.Close(); err != nil {
		return err
	}
	return f.guard.Wait()
}

// Command returns a command that runs in the folder as its owner.
func (f *Folder) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = f.Path
	if err := asOwner(cmd); err != nil {
		cmd.Err = err
	}
	return cmd
}

// Programs returns the folder of PostgreSQL's programs: that of the pg_ctl in PATH, or else of the
// newest version where Debian installs them. If there is none, the test is skipped.
func Programs(t testing.TB) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Skipf("needs PostgreSQL (%v): install it, on Debian with apt-get install postgresql; for most tests %s can name a server instead, on which databases can be created",
			err, Variable)
	}
	return dir
}

var programs = sync.OnceValues(func() (string, error) {
	_, err := owner()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	slices.SortFunc(found, func(a, b string) int {                // a longer path has a larger version
		return cmp.Or(len(b)-len(a), strings.Compare(b, a))
	})
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			found = slices.Insert(found, 0, path)
		}
	}
	if err == nil && len(found) == 0 {
		err = errors.New("there is no initdb")
	}
	if err != nil {
		return "", err
	}
	return filepath.Dir(found[0]), nil
})
