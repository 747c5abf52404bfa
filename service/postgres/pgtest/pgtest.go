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

// shared are the servers of this process, and the databases of tests that have ended.
var shared struct {
	sync.Mutex
	cluster *Cluster
	citus   *Citus
	spare   []string // URLs
}

// unsafely are settings that save time, and data only until the machine fails.
var unsafely = []string{"fsync=off", "full_page_writes=off"}

// Database returns the URL of an empty database, which is the test's own. It is one that another test has left, and
// was emptied, if there is any: creating one costs more than most tests. All databases of a test process are on one server,
// which does not sync to disk if it is the process's own.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(Variable)
	if server != "" {
		return create(t, server)[0] // a server that goes on has to be left as it was
	}
	Programs(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		shared.cluster = newCluster(t, append([]string{"max_connections=1000"}, unsafely...))
	}
	if len(shared.spare) == 0 {
		name := newName()
		execute(t, shared.cluster.URL(), "CREATE DATABASE "+name)
		shared.spare = append(shared.spare, at(t, shared.cluster.URL(), name))
	}
	last := len(shared.spare) - 1
	url := shared.spare[last]
	shared.spare = shared.spare[:last:last]
	t.Cleanup(func() {
		if try(url, empty) == nil {
			shared.Lock()
			defer shared.Unlock()
			shared.spare = append(shared.spare, url)
		}
	})
	return url
}

// empty leaves a database as it was created. Tests leave settings, and connections of processes that they killed.
const empty = `
	DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET ALL', current_database()); END $$;
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
	DROP SCHEMA public CASCADE;
	CREATE SCHEMA public AUTHORIZATION pg_database_owner;
	GRANT USAGE ON SCHEMA public TO PUBLIC`

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
	name := newName()
	for _, server := range servers {
		urls = append(urls, at(t, server, name))
		t.Cleanup(func() { execute(t, server, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
		execute(t, server, "CREATE DATABASE "+name)
	}
	return urls
}

func newName() string { return "mayfly_" + strings.ToLower(rand.Text()) }

// at returns the URL of a database on a server.
func at(t testing.TB, server, name string) string {
	t.Helper()
	u := parse(t, server)
	u.Path = "/" + name
	return u.String()
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
		t.Skipf("Citus is not installed here: NOT run (%v). To run it, install it in PostgreSQL's library directory", err)
	}
}
