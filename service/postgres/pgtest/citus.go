package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// CitusVariable is the environment variable with the URL of the coordinator of a Citus cluster on
// whose servers databases can be created. All of them accept the user and password of the URL.
const CitusVariable = "MAYFLY_TEST_CITUS"

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
	if err := citusInstalled(); err != nil {
		t.Skipf("Citus is not installed here: NOT run (%v)", err)
	}
	c, err := startCitus(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.remove(); err != nil {
			t.Errorf("remove a Citus cluster: %v", err)
		}
	})
	for _, n := range c.Nodes {
		n.t = t
	}
	if err := join(c.urls()); err != nil {
		t.Fatal(err)
	}
	return c
}

func startCitus(settings ...string) (*Citus, error) {
	c := &Citus{Nodes: make([]*Cluster, 3)}
	var starting errgroup.Group
	for i := range c.Nodes {
		starting.Go(func() (err error) {
			if c.Nodes[i], err = newCluster(append(CitusSettings[:len(CitusSettings):len(CitusSettings)], settings...)...); err != nil {
				return err
			}
			return c.Nodes[i].start()
		})
	}
	if err := starting.Wait(); err != nil {
		return nil, errors.Join(err, c.remove())
	}
	return c, nil
}

func (c *Citus) remove() error {
	var err error
	for _, n := range c.Nodes {
		if n != nil {
			err = errors.Join(err, n.remove())
		}
	}
	return err
}

// urls returns the URL of the database postgres on each node.
func (c *Citus) urls() []string {
	var list []string
	for _, n := range c.Nodes {
		list = append(list, n.URL())
	}
	return list
}

// URL returns a URL of the database postgres, for the superuser, that names all nodes, the given one
// first.
func (c *Citus) URL(first int) string {
	urls := c.urls()
	return AnyOf(slices.Concat(urls[first:], urls[:first]))
}

// AnyOf returns the URL that names the hosts of all URLs, which differ in nothing else.
func AnyOf(urls []string) string {
	var hosts []string
	var one *url.URL
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			panic(err) // it comes from this package
		}
		one, hosts = u, append(hosts, u.Host)
	}
	one.Host = strings.Join(hosts, ",")
	return one.String()
}

// CitusDatabase creates an empty database with Citus on each node of a cluster, and returns its URL
// on each, the coordinator's first. It is dropped at the end of the test. Like those of Database,
// all such databases of a test process are on one cluster.
func CitusDatabase(t testing.TB) []string {
	t.Helper()
	urls := createOnCitus(t, "")
	if err := join(urls); err != nil {
		t.Fatal(err)
	}
	return urls
}

// CitusCopy is like CitusDatabase, but what prepare has made of such a database is already there. It
// is called once in a process, with the URL at the coordinator: to copy takes less time.
func CitusCopy(t testing.TB, prepare func(coordinator string) error) []string {
	t.Helper()
	servers := citusServers(t)
	shared.template.Do(func() {
		name := newName()
		shared.template.name, shared.template.servers = name, servers
		shared.template.err = makeTemplate(servers, name, prepare)
	})
	if shared.template.err != nil {
		t.Fatal(shared.template.err)
	}
	return createOnCitus(t, " TEMPLATE "+shared.template.name)
}

func makeTemplate(servers []string, name string, prepare func(coordinator string) error) error {
	urls, err := createOn(servers, name, "")
	if err == nil {
		err = join(urls)
	}
	if err == nil {
		err = prepare(urls[0])
	}
	for _, server := range servers {
		// A database that is copied has no connections.
		for _, sql := range []string{
			"ALTER DATABASE " + name + " ALLOW_CONNECTIONS false",
			"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '" + name + "'",
		} {
			if err == nil {
				err = execute(server, sql)
			}
		}
	}
	return err
}

// createOnCitus creates a database on each node of the shared cluster for the test.
func createOnCitus(t testing.TB, options string) []string {
	t.Helper()
	servers, name := citusServers(t), newName()
	t.Cleanup(func() {
		if err := dropOn(servers, name); err != nil {
			t.Error(err)
		}
	})
	urls, err := createOn(servers, name, options)
	if err != nil {
		t.Fatal(err)
	}
	return urls
}

func createOn(servers []string, name, options string) (urls []string, err error) {
	for _, server := range servers {
		u, err := withDatabase(server, name)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, onAll(servers, "CREATE DATABASE "+name+options)
}

func dropOn(servers []string, name string) error {
	return onAll(servers, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// onAll runs a statement on all servers at the same time. On a busy machine, Citus's own processes
// may be in the way for a moment.
func onAll(urls []string, sql string) error {
	var running errgroup.Group
	for _, u := range urls {
		running.Go(func() error { return persist(u, sql) })
	}
	return running.Wait()
}

// persist runs a statement that can be repeated, up to three times.
func persist(url, sql string) (err error) {
	for range 3 {
		if err = execute(url, sql); err == nil {
			break
		}
	}
	return err
}

// join makes the databases at the URLs one, whose coordinator is the first.
func join(urls []string) error {
	if err := onAll(urls, "CREATE EXTENSION IF NOT EXISTS citus"); err != nil {
		return err
	}
	if err := call(urls[0], "citus_set_coordinator_host", urls[0]); err != nil {
		return err
	}
	for _, worker := range urls[1:] {
		if err := call(urls[0], "citus_add_node", worker); err != nil {
			return err
		}
	}
	return nil
}

// call calls a function of the coordinator with the address of a node. On a busy machine, its first
// connection to a new database fails now and then.
func call(coordinator, function, node string) error {
	u, err := url.Parse(node)
	if err != nil {
		return err
	}
	return persist(coordinator, fmt.Sprintf("SELECT %s('%s', %s)", function, u.Hostname(), u.Port()))
}

// Replace has the server at a URL take the place of a worker, which has no shards yet.
func (c *Citus) Replace(worker *Cluster, url string) {
	worker.t.Helper()
	if err := call(c.Nodes[0].URL(), "citus_remove_node", worker.URL()); err != nil {
		worker.t.Fatal(err)
	}
	c.Add(url)
}

// Add makes the server at a URL a worker, which has no shards.
func (c *Citus) Add(url string) {
	c.Nodes[0].t.Helper()
	err := execute(url, "CREATE EXTENSION citus")
	if err == nil {
		err = call(c.Nodes[0].URL(), "citus_add_node", url)
	}
	if err != nil {
		c.Nodes[0].t.Fatal(err)
	}
}

// citusServers returns the URLs of a database on each node of the cluster that the process shares,
// the coordinator's first.
func citusServers(t testing.TB) []string {
	t.Helper()
	if coordinator := os.Getenv(CitusVariable); coordinator != "" {
		urls, err := nodesOf(coordinator)
		if err != nil {
			t.Fatalf("%s: %v", CitusVariable, err)
		}
		return urls
	}
	if err := citusInstalled(); err != nil {
		t.Skipf("Citus is not installed here: NOT run (%v). To run it, install it in PostgreSQL's library folder, "+
			"or set %s to the URL of a coordinator on whose servers databases can be created", err, CitusVariable)
	}
	c, err := sharedCitus()
	if err != nil {
		t.Fatal(err)
	}
	return c.urls()
}

// nodesOf returns the URLs of the nodes of a coordinator's cluster.
func nodesOf(coordinator string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	u, err := url.Parse(coordinator)
	if err != nil {
		return nil, errors.New("not a URL such as postgres://user@host:port/database")
	}
	conn, err := pgx.Connect(ctx, coordinator)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, "SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE isactive AND noderole = 'primary' ORDER BY groupid")
	hosts, err := pgx.CollectRows(rows, pgx.RowTo[string]) // the rows have the query's error
	var urls []string
	for _, host := range hosts {
		u.Host = host
		urls = append(urls, u.String())
	}
	return urls, err
}

// citusInstalled returns why Citus is not, or nil.
var citusInstalled = sync.OnceValue(func() error {
	dir, err := programs()
	if err != nil {
		return err
	}
	lib, err := exec.Command(filepath.Join(dir, "pg_config"), "--pkglibdir").Output()
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(strings.TrimSpace(string(lib)), "citus.so"))
	return err
})
