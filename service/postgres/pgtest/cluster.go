package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds what a test waits for PostgreSQL to do.
const patience = time.Minute

func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

// Cluster is a PostgreSQL server of a test's own, with its data in a temporary folder. Anybody on this machine may
// connect while it runs, as postgres.
type Cluster struct {
	dir      string
	port     int
	settings []string
	server   *exec.Cmd
	output   bytes.Buffer
	ended    chan struct{}
}

// Start starts a cluster that keeps what it has committed. It ends with the test; without PostgreSQL the test is skipped.
func Start(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	need(t)
	c, err := start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.remove(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// need skips the test when the programs are missing.
func need(t testing.TB) {
	t.Helper()
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := program(name); err != nil {
			t.Skip("needs PostgreSQL: install it (apt-get install postgresql), or set MAYFLY_TEST_POSTGRES to the URL of a server where databases may be made")
		}
	}
}

// program finds a program of PostgreSQL: Debian keeps them out of PATH.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) == 0 {
		err = exec.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

func start(settings ...string) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "mayfly-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, settings: settings}
	if err := errors.Join(giveToUser(dir), c.init()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Between finding a port and using it, another test may take it.
	for range 5 {
		if c.port, err = freePort(); err == nil {
			if err = c.Run(); err == nil {
				return c, nil
			}
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

func (c *Cluster) init() error {
	initdb, err := program("initdb")
	if err != nil {
		return err
	}
	cmd := asUser(exec.Command(initdb, "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// Run starts the server after it has stopped, and waits until it answers.
func (c *Cluster) Run() error {
	postgres, err := program("postgres")
	if err != nil {
		return err
	}
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port), "-k", c.dir, "-c", "listen_addresses=127.0.0.1", "-c", "logging_collector=off"}
	c.output.Reset()
	c.server = asUser(exec.Command(postgres, append(args, c.settings...)...))
	c.server.Stdout, c.server.Stderr = &c.output, &c.output
	if err := c.server.Start(); err != nil {
		return err
	}
	c.ended = make(chan struct{})
	go func() {
		defer close(c.ended)
		_ = c.server.Wait() // how it ends is asked for by who ends it
	}()
	ctx, cancel := bounded()
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.ended:
			return fmt.Errorf("postgres ended: %s", c.output.String())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("postgres does not answer: %w", err), c.Stop(syscall.SIGKILL))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// URL returns the URL of a database.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

// Port returns the port that the server listens on, on 127.0.0.1.
func (c *Cluster) Port() int { return c.port }

// Stop ends the server by a signal: SIGTERM waits for clients to leave, SIGINT cuts them off, SIGQUIT leaves the
// recovery to the next start, as a crash does.
func (c *Cluster) Stop(signal os.Signal) error {
	if err := c.server.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop postgres: %w", err)
	}
	select {
	case <-c.ended:
		return nil
	case <-time.After(patience):
		return errors.New("postgres does not end")
	}
}

func (c *Cluster) remove() error {
	return errors.Join(c.Stop(syscall.SIGQUIT), os.RemoveAll(c.dir))
}
