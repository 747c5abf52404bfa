// Package pgtest gives tests a real PostgreSQL: the server that MAYFLY_TEST_POSTGRES names, or else a throwaway cluster
// that the test starts itself, when the programs are on the machine.
package pgtest

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shared is the cluster of the test process, started by the first test that needs one.
var shared struct {
	sync.Mutex
	cluster *Cluster
	err     error
}

// Main runs the tests of a package that uses [Database], and ends what they shared: call it from TestMain.
func Main(m *testing.M) {
	status := m.Run()
	if c := shared.cluster; c != nil {
		if err := c.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}

// Database returns the URL of a new empty database, which is dropped when the test ends. Without PostgreSQL the test is
// skipped.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv("MAYFLY_TEST_POSTGRES")
	if server == "" {
		server = sharedCluster(t).URL("postgres")
	}
	name := "mayfly_" + strings.ToLower(rand.Text())
	run(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { run(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatalf("MAYFLY_TEST_POSTGRES is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}

func sharedCluster(t testing.TB) *Cluster {
	t.Helper()
	need(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		// What a test loses when the machine dies does not matter.
		shared.cluster, shared.err = start("-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=300")
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

func run(t testing.TB, server, sql string) {
	t.Helper()
	ctx := t.Context()
	if ctx.Err() != nil { // in a cleanup
		var cancel func()
		ctx, cancel = bounded()
		defer cancel()
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Error(err)
	}
}
