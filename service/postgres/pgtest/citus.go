package pgtest

import (
	"fmt"
	"testing"
)

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
