//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service/postgres/pgtest"
)

// spread is two processes on a Citus cluster, and two users, each with an inbox that is on a worker
// of its own.
type spread struct {
	*pgtest.Citus
	m         *machine
	t         *testing.T
	servers   []*server
	users     []*client // users[i] has all that it has on Nodes[i+1]
	addresses []string  // of the inbox of each
}

// serveSpread starts processes at the URLs of a cluster's database.
func serveSpread(t *testing.T, c *pgtest.Citus, urls ...string) *spread {
	t.Helper()
	m := newMachine(t)
	s := &spread{Citus: c, m: m, t: t, users: make([]*client, 2), addresses: make([]string, 2)}
	for _, url := range urls {
		s.servers = append(s.servers, m.serve(url))
	}
	for n := 0; s.users[0] == nil || s.users[1] == nil; n++ {
		u := newClient(t, s.servers[0].rest, m.key(s.coordinator(), "enterprise"))
		address := u.createInbox(fmt.Sprint("inbox-", n))
		i := s.worker(u.inboxes[address])
		s.users[i], s.addresses[i] = u, address
	}
	return s
}

func (s *spread) coordinator() string { return s.Nodes[0].URL() }

// shard is the shard of an inbox.
const shard = "get_shard_id_for_distribution_column('owners', (SELECT key_id FROM inboxes WHERE id = $1))"

// worker returns 0 or 1: on which worker an inbox is.
func (s *spread) worker(inboxID string) int {
	s.t.Helper()
	if ask[int](s.t, s.coordinator(), "SELECT groupid FROM pg_dist_placement WHERE shardid = "+shard, inboxID) == 2 {
		return 1
	}
	return 0
}

// ask returns the result of a query.
func ask[T any](t *testing.T, database, sql string, args ...any) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	must(t, err)
	defer conn.Close(t.Context())
	var v T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// throughProxy lets everybody connect to the first worker of a cluster through a proxy.
func throughProxy(t *testing.T, c *pgtest.Citus) *proxy {
	t.Helper()
	way := newProxy(t, c.Nodes[1].Addr())
	ask[any](t, c.Nodes[0].URL(), "SELECT citus_update_node(nodeid, nodename, $2) FROM pg_dist_node WHERE nodename || ':' || nodeport = $1",
		c.Nodes[1].Addr(), way.listener.Addr().(*net.TCPAddr).Port)
	eventually(t, "the worker knows it", func() bool {
		return ask[bool](t, c.Nodes[0].URL(), "SELECT bool_and(metadatasynced) FROM pg_dist_node")
	})
	return way
}

// waitForTables waits until those for the next days are created, which needs all servers, and no
// shard that is being moved.
func (s *spread) waitForTables() {
	s.t.Helper()
	for made := 0; made < 82; {
		eventually(s.t, "more tables are created ahead", func() bool {
			before := made
			made = ask[int](s.t, s.coordinator(), "SELECT count(*) FROM slots")
			return made > before
		})
	}
}

// load starts mail to the inbox on each worker, at all processes.
func (s *spread) load() (one, other *load) {
	var addrs []string
	for _, p := range s.servers {
		addrs = append(addrs, p.smtp)
	}
	one, other = startLoad(s.t, s.addresses[:1], addrs...), startLoad(s.t, s.addresses[1:], addrs...)
	one.waitForMails(200)
	other.waitForMails(200)
	return one, other
}

// check ends loads and checks what they got.
func (s *spread) check(loads ...*load) {
	s.t.Helper()
	for _, l := range loads {
		l.checkSlowestAnswer(answerBound)
		l.checkNothingIsLost(s.users...)
		for answer := range l.refusals {
			if answer != "452 4.3.2" {
				s.t.Errorf("a sender got %s", answer)
			}
		}
	}
	for _, p := range s.servers {
		p.stop(syscall.SIGTERM)
		if s.t.Failed() {
			s.t.Logf("the log of a process:\n%s", p.stderr)
		}
	}
}

// Without a worker, what is on it is refused until it is back, and the rest goes on.
func TestWorkerKilledUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	s := serveSpread(t, c, c.Nodes[1].URL(), c.Nodes[2].URL())
	s.withoutWorker(func() { c.Nodes[1].Stop(pgtest.Kill) }, c.Nodes[1].Start)
}

// The same holds if it does not even close its connections.
func TestWorkerCutOffUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	way := throughProxy(t, c)
	s := serveSpread(t, c, c.Nodes[0].URL(), c.Nodes[2].URL())
	s.withoutWorker(way.cut, way.restore)
}

// withoutWorker has the first worker fail for a while.
func (s *spread) withoutWorker(fail, mend func()) {
	s.t.Helper()
	s.waitForTables()
	one, other := s.load()
	v := startVisits(s.t, s.servers, s.users[1])
	_, slowest := v.since(10)
	s.t.Logf("before: slowest answers %v", slowest)
	fail()
	one.waitForRefusal("452 4.3.2")
	for _, p := range s.servers {
		s.users[0].at(p.rest).waitUntilUnavailable()
	}
	for _, when := range []string{"at first", "later"} {
		refused, slowest := v.since(5)
		s.t.Logf("without a worker, %s: refused %v, slowest answers %v, mail for the other was not taken for %v at most",
			when, refused, slowest, other.longestPause().Round(time.Millisecond))
		delete(refused, http.MethodPost) // an address can be on the worker
		if len(refused) > 0 && when == "later" {
			s.t.Errorf("without the other worker, %v were refused", refused)
		}
	}
	other.waitForMails(200)
	for _, p := range s.servers {
		a := s.users[1].at(p.rest).request(http.MethodGet, "/readyz", "")
		if a.status != http.StatusServiceUnavailable || !strings.Contains(string(a.body), "worker 127.0.0.1:") || !strings.Contains(string(a.body), " does not answer") {
			s.t.Errorf("without a worker, /readyz says %d %s", a.status, a.body)
		}
	}
	mend()
	started := time.Now()
	one.waitForMails(1)
	s.t.Logf("mail is taken %v after the worker is back", time.Since(started).Round(time.Millisecond))
	one.waitForMails(200)
	v.end()
	s.check(one, other)
}

// Without the coordinator, mail and requests go on at the workers, and inboxes are made and deleted.
func TestCoordinatorKilledUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	s := serveSpread(t, c, c.Nodes[0].URL(), c.Nodes[0].URL())
	s.waitForTables()
	one, other := s.load()
	v := startVisits(t, s.servers, s.users...)
	v.since(4)
	for _, l := range []*load{one, other} {
		l.longestPause()
	}
	c.Nodes[0].Stop(pgtest.Kill)
	refused, slowest := v.since(10)
	t.Logf("without the coordinator: refused %v, slowest answers %v", refused, slowest)
	for i, l := range []*load{one, other} {
		l.waitForMails(500)
		t.Logf("without the coordinator, mail was not taken for %v at most", l.longestPause().Round(time.Millisecond))
		for _, p := range s.servers {
			u := s.users[i].at(p.rest)
			eventually(t, "it is ready without the coordinator", func() bool { return ready(u) })
			u.wants(http.StatusOK, http.MethodGet, "/v1/inboxes/"+u.inboxes[s.addresses[i]]+"/messages", "")
		}
	}
	c.Nodes[0].Start()
	one.waitForMails(200)
	other.waitForMails(200)
	v.end()
	s.check(one, other)
}

// A mail for recipients on two workers, one of which dies while it is being stored, is stored for
// both if it was acknowledged, and otherwise for both or for none.
func TestWorkerKilledWithinAMail(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	way := throughProxy(t, c)
	s := serveSpread(t, c, c.Nodes[0].URL())
	l := startLoad(t, []string{s.addresses[0] + " " + s.addresses[1]}, s.servers[0].smtp)
	for _, moment := range []string{"PREPARE TRANSACTION", "COMMIT PREPARED"} {
		l.waitForMails(100)
		arrived, killed := make(chan struct{}), make(chan struct{})
		arrive := sync.OnceFunc(func() { close(arrived) })
		way.watch(func(data []byte) {
			if bytes.Contains(data, []byte(moment)) {
				arrive()
				<-killed
			}
		})
		select {
		case <-arrived:
		case <-time.After(conditionTimeout):
			t.Errorf("no mail gets to %s", moment)
		}
		way.watch(nil)
		c.Nodes[1].Stop(pgtest.Kill)
		close(killed)
		l.waitForRefusal("452 4.3.2")
		c.Nodes[1].Start()
		started := time.Now()
		l.waitForMails(1)
		t.Logf("killed at %s, mail is taken %v after the worker is back", moment, time.Since(started).Round(time.Millisecond))
	}
	l.waitForMails(100)
	l.end()
	for _, node := range c.Nodes {
		eventually(t, "what was prepared is committed or rolled back", func() bool {
			return ask[int](t, node.URL(), "SELECT count(*) FROM pg_prepared_xacts") == 0
		})
	}
	s.check(l)
}

// A worker is added and removed again while mail arrives, inboxes are made, read, deleted and expire,
// a process is started, and tables of past hours are dropped.
func TestRebalanceUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	added := pgtest.Start(t, pgtest.CitusSettings...)
	s := serveSpread(t, c, c.Nodes[1].URL(), c.Nodes[2].URL())
	s.waitForTables()
	one, other := s.load()
	v := startVisits(t, s.servers, s.users...)
	for i, shards := range []bool{true, false, true} {
		s.pastSlots(time.Duration(i+3) * time.Hour)
		if i == 0 {
			c.Add(added.URL())
		}
		ask[any](t, s.coordinator(), "SELECT citus_set_node_property('127.0.0.1', split_part($1, ':', 2)::integer, 'shouldhaveshards', $2)", added.Addr(), shards)
		one.longestPause()
		other.longestPause()
		started := time.Now()
		eventually(t, "a rebalance starts", func() bool { // not while a table is made, or just after another
			conn, err := pgx.Connect(t.Context(), s.coordinator())
			must(t, err)
			defer conn.Close(t.Context())
			_, err = conn.Exec(t.Context(), "SELECT citus_rebalance_start()")
			return err == nil
		})
		joined := s.m.serve(s.coordinator())
		s.servers = append(s.servers, joined)
		visiting := startVisits(t, []*server{joined}, newClient(t, joined.rest, s.m.key(s.coordinator(), "enterprise")))
		eventually(t, "the shards are rebalanced", func() bool {
			return ask[string](t, s.coordinator(), "SELECT state::text FROM citus_rebalance_status() ORDER BY job_id DESC LIMIT 1") == "finished"
		})
		t.Logf("rebalanced in %v; mail was not taken for %v at most", time.Since(started).Round(time.Millisecond), max(one.longestPause(), other.longestPause()).Round(time.Millisecond))
		for _, v := range []*visits{v, visiting} {
			refused, slowest := v.since(1)
			t.Logf("refused %v, slowest answers %v", refused, slowest)
		}
		visiting.end()
		one.waitForMails(200)
		other.waitForMails(200)
	}
	eventually(t, "the tables of past hours are dropped", func() bool {
		return ask[int](t, s.coordinator(), "SELECT count(*) FROM slots WHERE ends_at < now() - interval '2 hours'") == 0
	})
	eventually(t, "expired inboxes are removed", func() bool {
		return ask[int](t, s.coordinator(), "SELECT count(*) FROM inboxes WHERE expires_at < now()") == 0
	})
	v.end()
	t.Logf("%d visits, %d inboxes expired", v.count, v.expired)
	s.check(one, other)
}

// pastSlots creates the tables of an hour that is over for longer than they are kept.
func (s *spread) pastSlots(ago time.Duration) {
	s.t.Helper()
	hour := time.Now().Add(-ago).Truncate(time.Hour)
	n := hour.Unix() / 3600
	table := hour.UTC().Format("messages_h20060102_15")
	statements := []string{
		fmt.Sprintf("INSERT INTO slots (slot, ends_at) VALUES (%d, '%s')", n, hour.Add(time.Hour).Format(time.RFC3339)),
		fmt.Sprintf("CREATE TABLE %s (LIKE messages INCLUDING ALL)", table),
		fmt.Sprintf("SELECT create_distributed_table('%s', 'key_id', colocate_with => 'inboxes')", table),
	}
	conn, err := pgx.Connect(s.t.Context(), s.coordinator())
	must(s.t, err)
	defer conn.Close(s.t.Context())
	for _, sql := range statements {
		if _, err := conn.Exec(s.t.Context(), sql); err != nil {
			s.t.Fatalf("%s: %v", sql, err)
		}
	}
}

// A worker fails, and its standby takes its place.
func TestWorkerFailsOverUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.StartCitus(t)
	r := startReplicated(t, pgtest.CitusSettings...)
	c.Replace(c.Nodes[1], r.url())
	s := serveSpread(t, c, c.Nodes[0].URL(), c.Nodes[2].URL())
	one, other := s.load()
	one.longestPause()
	failed := r.killPrimary()
	one.waitForRefusal("452 4.3.2")
	other.longestPause()
	other.waitForMails(500)
	t.Logf("without a worker, mail for the other was not taken for %v at most", other.longestPause().Round(time.Millisecond))
	one.waitForMails(500)
	t.Logf("a worker was killed: no mail for it was taken for %v; a lease is %v", one.longestPause().Round(100*time.Millisecond), lease)
	r.start(failed)
	r.waitForRole(failed, "synchronous")
	s.check(one, other)
}
