package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mayfly/internal/sockets"
)

// Cluster is a PostgreSQL server on a free port of the loopback interface, without authentication.
// Its methods fail the test if they fail.
type Cluster struct {
	t        testing.TB // that started it
	programs string
	folder   *Folder
	port     int

	postmaster *exec.Cmd // nil while the server is stopped
	ended      chan struct{}
}

// Start creates and starts a server for the test, with settings such as "max_connections=50" and
// PostgreSQL's defaults, which include syncing to disk. It is removed at the end of the test.
func Start(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c := newCluster(t, settings)
	c.removeAfter(t)
	return c
}

func newCluster(t testing.TB, settings []string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, programs: Programs(t)}
	var err error
	if c.folder, err = newFolder(fmt.Sprintf("'%s/pg_ctl' stop -s -D data -m immediate", c.programs)); err != nil {
		t.Fatal(err)
	}
	if err := c.init(settings); err != nil {
		t.Fatal(errors.Join(err, c.folder.remove()))
	}
	c.Start()
	return c
}

func (c *Cluster) init(settings []string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	if c.port, err = sockets.FreePort(); err != nil {
		return err
	}
	output, err := c.folder.Command(ctx, filepath.Join(c.programs, "initdb"), "-D", "data", "-U", "postgres", "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("create a database server: %w: %s", err, output)
	}
	config, err := os.OpenFile(filepath.Join(c.DataDir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(config, "\nport=%d\nlisten_addresses='127.0.0.1'\nunix_socket_directories='%s'\n%s\n", c.port, c.folder.Path, strings.Join(settings, "\n"))
	return errors.Join(err, config.Close())
}

// URL returns the URL of the database postgres, for the superuser.
func (c *Cluster) URL() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", c.Addr())
}

// Addr returns the address of the server, host:port, which never changes.
func (c *Cluster) Addr() string { return fmt.Sprintf("127.0.0.1:%d", c.port) }

// DataDir returns the server's data directory.
func (c *Cluster) DataDir() string { return filepath.Join(c.folder.Path, "data") }

// Log returns the content of the server's log.
func (c *Cluster) Log() string {
	c.t.Helper()
	text, err := os.ReadFile(c.logFile())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func (c *Cluster) logFile() string { return filepath.Join(c.folder.Path, "log") }

// Start starts the server again, and returns when it accepts connections.
func (c *Cluster) Start() {
	c.t.Helper()
	deadline := time.NewTimer(serverTimeout)
	defer deadline.Stop()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		if c.postmaster == nil {
			c.spawn()
		}
		if try(c.URL(), "SELECT 1") == nil {
			return
		}
		select {
		case <-retry.C:
		case <-c.ended:
			// After a kill, child processes may keep the shared memory for a while.
			c.postmaster = nil
		case <-deadline.C:
			c.t.Fatalf("the database server does not start: %s", c.Log())
		}
	}
}

func (c *Cluster) spawn() {
	c.t.Helper()
	log, err := os.OpenFile(c.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd := c.folder.Command(context.Background(), filepath.Join(c.programs, "postgres"), "-D", "data")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatalf("start the database server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its exit status does not matter
	}()
	c.postmaster, c.ended = cmd, ended
}

// Mode is how a server is stopped.
type Mode syscall.Signal

const (
	Fast      = Mode(syscall.SIGINT)  // connections are closed, everything is written
	Immediate = Mode(syscall.SIGQUIT) // like a crash: the log is replayed at the next start
	Kill      = Mode(syscall.SIGKILL)
)

// Stop stops the server and waits until it has ended.
func (c *Cluster) Stop(m Mode) {
	c.t.Helper()
	if err := c.stop(m); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) stop(m Mode) error {
	if c.postmaster == nil {
		return nil
	}
	if err := c.postmaster.Process.Signal(syscall.Signal(m)); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the database server: %w", err)
	}
	select {
	case <-c.ended:
	case <-time.After(serverTimeout):
		return errors.New("the database server does not stop")
	}
	c.postmaster = nil
	return nil
}

func (c *Cluster) removeAfter(t testing.TB) {
	t.Cleanup(func() {
		if err := c.remove(); err != nil {
			t.Errorf("remove a database server: %v", err)
		}
	})
}

func (c *Cluster) remove() error { return errors.Join(c.stop(Immediate), c.folder.remove()) }
