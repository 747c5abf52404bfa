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
	dir      *Dir
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
	if c.dir, err = newDir(fmt.Sprintf("'%s/pg_ctl' stop -s -D data -m immediate", c.programs)); err != nil {
		t.Fatal(err)
	}
	if err := c.init(settings); err != nil {
		t.Fatal(errors.Join(err, c.dir.remove()))
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
	output, err := c.dir.Command(ctx, filepath.Join(c.programs, "initdb"), "-D", "data", "-U", "postgres", "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("create a database server: %w: %s", err, output)
	}
	config, err := os.OpenFile(filepath.Join(c.DataDir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(config, "\nport=%d\nlisten_addresses='127.0.0.1'\nunix_socket_directories='%s'\n%s\n", c.port, c.dir.Path, strings.Join(settings, "\n"))
	return errors.Join(err, config.Close())
}

// URL returns the URL of the database postgres, for the superuser.
func (c *Cluster) URL() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", c.Addr())
}

// Addr returns the address of the server, host:port, which never changes.
func (c *Cluster) Addr() string { return fmt.Sprintf("127.0.0.1:%d", c.port) }

// DataDir returns the server's data directory.
func (c *Cluster) DataDir() string { return filepath.Join(c.dir.Path, "data") }

// Log returns the content of the server's log.
func (c *Cluster) Log() string {
	c.t.Helper()
	text, err := os.ReadFile(c.logFile())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func (c *Cluster) logFile() string { return filepath.Join(c.dir.Path, "log") }

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
	cmd := c.dir.Command(context.Background(), filepath.Join(c.programs, "postgres"), "-D", "data")
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

func (c *Cluster) remove() error { return errors.Join(c.stop(Immediate), c.dir.remove()) }

// Citus is a cluster of PostgreSQL servers over which Citus distributes tables.
type Citus struct {
	// Nodes are the coordinator, which has no shards, and two workers.
	Nodes []*Cluster
}

// CitusSettings are what Citus needs. Each database has a background worker on each server. There
// are few shards, since most tests need no more and each is several tables. The extension asks
// nobody for newer versions. Commits that were interrupted are completed soon.
var CitusSettings = []string{
	"shared_preload_libraries=citus", "max_worker_processes=200", "max_connections=500", "max_prepared_transactions=500", "wal_level=logical",
	"citus.shard_count=4", "citus.enable_statistics_collection=off", "citus.recover_2pc_interval=2000",
	"citus.local_hostname='127.0.0.1'", "citus.node_conninfo='sslmode=disable'",
}

// StartCitus starts a cluster for the test, whose database postgres has the extension, with settings
// such as "log_statement=all". It is removed at the end of the test. If Citus is not installed, the
// test is skipped.
func StartCitus(t testing.TB, settings ...string) *Citus {
	t.Helper()
	needCitus(t)
	c := newCitus(t, settings)
	for _, n := range c.Nodes {
		n.removeAfter(t)
	}
	join(t, c.urls())
	return c
}

func newCitus(t testing.TB, settings []string) *Citus {
	t.Helper()
	c := &Citus{}
	for range 3 {
		c.Nodes = append(c.Nodes, newCluster(t, append(settings, CitusSettings...)))
	}
	return c
}

// urls returns the URL of the database postgres on each node.
func (c *Citus) urls() (list []string) {
	for _, n := range c.Nodes {
		list = append(list, n.URL())
	}
	return list
}

// join makes the databases at the URLs one, whose coordinator is the first.
func join(t testing.TB, urls []string) {
	t.Helper()
	for _, u := range urls {
		execute(t, u, "CREATE EXTENSION IF NOT EXISTS citus")
	}
	call(t, urls[0], "citus_set_coordinator_host", urls[0])
	for _, worker := range urls[1:] {
		call(t, urls[0], "citus_add_node", worker)
	}
}

// call calls a function of the coordinator with the address of a node.
func call(t testing.TB, coordinator, function, node string) {
	t.Helper()
	u := parse(t, node)
	execute(t, coordinator, fmt.Sprintf("SELECT %s('%s', %s)", function, u.Hostname(), u.Port()))
}

// Replace has the server at a URL take the place of a worker, which has no shards yet.
func (c *Citus) Replace(worker *Cluster, url string) {
	worker.t.Helper()
	call(worker.t, c.Nodes[0].URL(), "citus_remove_node", worker.URL())
	c.Add(url)
}

// Add makes the server at a URL a worker, which has no shards.
func (c *Citus) Add(url string) {
	t := c.Nodes[0].t
	t.Helper()
	execute(t, url, "CREATE EXTENSION citus")
	call(t, c.Nodes[0].URL(), "citus_add_node", url)
}

// Dir is a directory of the user that PostgreSQL runs as: the user who runs the tests or, since it
// does not run as root, postgres or nobody. It is removed at the end of the test, even if the test
// process dies.
type Dir struct {
	Path string

	guard *exec.Cmd      // a shell that removes the directory
	alive io.WriteCloser // open as long as this process lives; then the guard acts
}

// NewDir creates a directory with a short path. At the end the shell runs the command cleanup in it
// before the directory is removed.
func NewDir(t testing.TB, cleanup string) *Dir {
	t.Helper()
	f, err := newDir(cleanup)
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

func newDir(cleanup string) (*Dir, error) {
	// TMPDIR may be inaccessible to the owner, or too long for a socket.
	path, err := os.MkdirTemp("/tmp", "mayfly-")
	if err != nil {
		return nil, err
	}
	f := &Dir{Path: path}
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

func (f *Dir) remove() error {
	if err := f.alive.Close(); err != nil {
		return err
	}
	return f.guard.Wait()
}

// Command returns a command that runs in the directory as its owner.
func (f *Dir) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = f.Path
	if err := asOwner(cmd); err != nil {
		cmd.Err = err
	}
	return cmd
}

// Programs returns the directory of PostgreSQL's programs: that of the pg_ctl in PATH, or else of the
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
