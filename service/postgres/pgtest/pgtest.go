// Package pgtest gives tests a real PostgreSQL: the server that MAYFLY_TEST_POSTGRES names, or else one that the test
// process runs for itself, for which PostgreSQL's programs have to be on the machine. Without either a test is skipped.
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

// Variable names the URL of a server where databases may be made.
const Variable = "MAYFLY_TEST_POSTGRES"

// patience bounds whatever is done to a server.
const patience = time.Minute

// Database makes an empty database and returns its URL. It is dropped at the end of the test. All databases of a test
// process are on one server, which does not sync to the disk if it is the process's own.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		if _, err := programs(); err != nil {
			t.Skipf("needs PostgreSQL (%v): set %s to the URL of a server where databases may be made, or install it, on Debian with apt-get install postgresql",
				err, Variable)
		}
		c, err := sharedCluster()
		if err != nil {
			t.Fatal(err)
		}
		server = c.URL()
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL such as postgres://user@host:port/database", Variable)
	}
	name := "mayfly_" + strings.ToLower(rand.Text())
	if err := execute(server, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	u.Path = "/" + name
	return u.String()
}

// shared is the server of this process.
var shared struct {
	sync.Mutex
	cluster *Cluster
}

func sharedCluster() (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		return shared.cluster, nil
	}
	c, err := newCluster("fsync=off", "full_page_writes=off", "max_connections=400")
	if err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	shared.cluster = c
	return c, nil
}

// Run runs the tests of a package, and ends the server that they shared; called from TestMain, it has that done before
// the process has ended, and not soon after. It returns the status to exit with.
func Run(m *testing.M) int {
	status := m.Run()
	if c := shared.cluster; c != nil {
		if err := c.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	return status
}

// execute runs a statement on a connection of its own.
func execute(url, sql string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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
