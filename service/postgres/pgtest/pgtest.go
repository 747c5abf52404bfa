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
	"os/exec"
	"path/filepath"
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

// shared are the servers of this process.
var shared struct {
	sync.Mutex
	cluster *Cluster
	citus   *Citus
}

// unsafely are settings that save time, and data only until the machine fails.
var unsafely = []string{"fsync=off", "full_page_writes=off"}

// Database creates an empty database and returns its URL. It is dropped at the end of the test. All
// databases of a test process are on one server, which does not sync to disk if it is the process's
// own.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Variable)
	if server == "" {
		Programs(t)
		shared.Lock()
		defer shared.Unlock()
		if shared.cluster == nil {
			shared.cluster = newCluster(t, append([]string{"max_connections=1000"}, unsafely...))
		}
		server = shared.cluster.URL()
	}
	return create(t, server)[0]
}

// CitusDatabase creates an empty database with Citus on each node of a cluster, and returns its URL
// on each, the coordinator's first. It is dropped at the end of the test. Like those of Database,
// all such databases of a test process are on one cluster. If there is none, the test is skipped.
func CitusDatabase(t testing.TB) []string {
	t.Helper()
	needCitus(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.citus == nil {
		shared.citus = newCitus(t, unsafely)
	}
	urls := create(t, shared.citus.urls()...)
	join(t, urls)
	return urls
}

// create creates a database on each server, and returns its URLs.
func create(t testing.TB, servers ...string) (urls []string) {
	t.Helper()
	name := "mayfly_" + strings.ToLower(rand.Text())
	for _, server := range servers {
		u := parse(t, server)
		u.Path = "/" + name
		urls = append(urls, u.String())
		t.Cleanup(func() { execute(t, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
		execute(t, server, "CREATE DATABASE "+name)
	}
	return urls
}

func parse(t testing.TB, server string) *url.URL {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("the URL of a server is not one such as postgres://user@host:port/database")
	}
	return u
}

// execute runs a statement on a connection of its own. It tries three times: on a busy machine,
// Citus's own processes may be in the way for a moment.
func execute(t testing.TB, url, sql string) {
	t.Helper()
	var err error
	for range 3 {
		if err = try(url, sql); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", sql, err)
}

func try(url, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// Run runs the tests of a package, and then removes the servers that they share, which would
// otherwise outlive the process for a moment. It is to be called from TestMain, and returns the
// exit status.
func Run(m *testing.M) int {
	status := m.Run()
	var servers []*Cluster
	if shared.cluster != nil {
		servers = append(servers, shared.cluster)
	}
	if shared.citus != nil {
		servers = append(servers, shared.citus.Nodes...)
	}
	for _, c := range servers {
		if err := c.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	return status
}

// needCitus skips the test unless Citus is installed.
func needCitus(t testing.TB) {
	t.Helper()
	lib, err := exec.Command(filepath.Join(Programs(t), "pg_config"), "--pkglibdir").Output()
	if err == nil {
		_, err = os.Stat(filepath.Join(strings.TrimSpace(string(lib)), "citus.so"))
	}
	if err != nil {
		t.Skipf("Citus is not installed here: NOT run (%v). To run it, install it in PostgreSQL's library folder", err)
	}
}
