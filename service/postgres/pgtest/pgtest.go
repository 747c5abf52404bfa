// Package pgtest gives tests a real PostgreSQL: the server that MAYFLY_TEST_POSTGRES names, or else
// one that the test process runs itself if PostgreSQL is installed. Without either, the test is
// skipped.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the URL of a server on which databases can be created.
const Variable = "MAYFLY_TEST_POSTGRES"

// serverTimeout bounds each operation on a server.
const serverTimeout = time.Minute

// Database creates an empty database and returns its URL. It is dropped at the end of the test. All
// databases of a test process are on one server, which does not sync to disk if it is the process's
// own.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		if _, err := programs(); err != nil {
			t.Skipf("needs PostgreSQL (%v): set %s to the URL of a server on which databases can be created, or install it, on Debian with apt-get install postgresql",
				err, Variable)
		}
		c, err := sharedCluster()
		if err != nil {
			t.Fatal(err)
		}
		server = c.URL()
	}
	name := newName()
	database, err := withDatabase(server, name)
	if err == nil {
		err = execute(server, "CREATE DATABASE "+name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return database
}

// newName returns the name of a database that does not exist.
func newName() string { return "mayfly_" + strings.ToLower(rand.Text()) }

// withDatabase returns the URL of another database of a server.
func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", errors.New("the URL of a server is not one such as postgres://user@host:port/database")
	}
	u.Path = "/" + name
	return u.String(), nil
}

// shared are the servers of this process.
var shared struct {
	sync.Mutex
	cluster  *Cluster
	citus    *Citus
	template struct {
		sync.Once
		servers []string
		name    string
		err     error
	}
}

// unsafely are settings that save time, and data only until the machine fails.
var unsafely = []string{"fsync=off", "full_page_writes=off"}

func sharedCluster() (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		return shared.cluster, nil
	}
	c, err := newCluster(append([]string{"max_connections=1000"}, unsafely...)...)
	if err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	shared.cluster = c
	return c, nil
}

func sharedCitus() (*Citus, error) {
	shared.Lock()
	defer shared.Unlock()
	var err error
	if shared.citus == nil {
		shared.citus, err = startCitus(unsafely...)
	}
	return shared.citus, err
}

// Run runs the tests of a package, and then removes the servers that they share, which would
// otherwise outlive the process for a moment. It is to be called from TestMain, and returns the
// exit status.
func Run(m *testing.M) int {
	status := m.Run()
	var err error
	if shared.cluster != nil {
		err = shared.cluster.remove()
	}
	err = errors.Join(err, dropOn(shared.template.servers, shared.template.name)) // if it was made
	if shared.citus != nil {
		err = errors.Join(err, shared.citus.remove())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	return status
}

// execute runs a statement on a connection of its own.
func execute(url, sql string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}
