package postgres

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// twoPhases counts the transactions of all nodes that were committed in two phases.
func twoPhases(c *pgtest.Citus) int {
	n := 0
	for _, node := range c.Nodes {
		n += len(preparing.FindAllString(node.Log(), -1))
	}
	return n
}

var preparing = regexp.MustCompile(`statement: PREPARE TRANSACTION`)

// Whatever has one key is committed by one server, in one phase. A mail for keys on two servers is
// stored by both of them in two phases.
func TestCommitsInTwoPhases(t *testing.T) {
	t.Parallel()
	c := pgtest.StartCitus(t, "log_statement=all", "fsync=off")
	ctx := t.Context()
	for node := range c.Nodes {
		s := open(t, c.Nodes[node].URL(), Options{})
		var inboxes []service.Inbox
		var on []int // the port of the node of each inbox
		for n := range 20 {
			in := service.Inbox{
				ID: fmt.Sprintf("inbox_%d_%d", node, n), KeyID: fmt.Sprintf("key_%d_%d", node, n), Address: fmt.Sprintf("%d-%d@x.test", node, n),
				CreatedAt: day, ExpiresAt: day.Add(time.Hour),
			}
			if n == 0 {
				// The tables of a slot are made on all servers.
				check(t, s.ensureSlot(ctx, slotOf(in)))
			}
			inboxes = append(inboxes, in)
			on = append(on, count(t, s, "SELECT nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('owners', $1::text)", in.KeyID))
		}
		other := 0
		for on[other] == on[0] {
			other++
		}
		wants := func(what string, phases bool, do func(in service.Inbox) error) {
			t.Helper()
			before := twoPhases(c)
			var calls sync.WaitGroup
			for _, in := range inboxes {
				calls.Go(func() {
					if err := do(in); err != nil {
						t.Errorf("at node %d: %s: %v", node, what, err)
					}
				})
			}
			calls.Wait()
			if n := twoPhases(c) - before; (n > 0) != phases {
				t.Errorf("at node %d: %s: %d times PREPARE TRANSACTION", node, what, n)
			}
		}
		wants("creating inboxes", false, func(in service.Inbox) error { return s.CreateInbox(ctx, in, math.MaxInt) })
		wants("deliveries", false, func(in service.Inbox) error { return deliver(ctx, s, in, "x") })
		wants("many deliveries", false, func(in service.Inbox) error { // they are copied
			var many errgroup.Group
			for range 2 * copyFrom {
				many.Go(func() error { return deliver(ctx, s, in, "x") })
			}
			return many.Wait()
		})
		wants("reading", false, func(in service.Inbox) error {
			if _, _, err := s.Inboxes(ctx, service.PageOfInboxes{KeyID: in.KeyID, CreatedAt: in.ExpiresAt, Limit: 9}); err != nil {
				return err
			}
			if _, err := s.InboxByAddress(ctx, in.Address); err != nil {
				return err
			}
			if _, err := s.Messages(ctx, in, 2, 1); err != nil {
				return err
			}
			_, err := s.Message(ctx, in, 1)
			return err
		})
		wants("counting requests", false, func(in service.Inbox) error {
			_, _, err := s.Take(ctx, in.KeyID, 10)
			return err
		})
		wants("a mail for two servers", true, func(in service.Inbox) error {
			if in != inboxes[0] {
				return nil
			}
			return deliverTo(ctx, s, "x", in, inboxes[other])
		})
		for _, in := range []service.Inbox{inboxes[0], inboxes[other]} {
			wantMessages(t, s, in, 2+2*copyFrom)
		}
		wants("deleting inboxes", false, func(in service.Inbox) error { return s.DeleteInbox(ctx, in.KeyID, in.ID) })
	}
}

func deliverTo(ctx context.Context, s *Store, raw string, to ...service.Inbox) error {
	a := service.Append{Received: to[0].CreatedAt, Raw: []byte(raw)}
	for _, in := range to {
		a.Messages = append(a.Messages, service.NewMessage{KeyID: in.KeyID, InboxID: in.ID, EmailsPerDay: 1 << 30, To: in.Address})
	}
	return s.Append(ctx, a)
}

// A connection takes no more memory for each statement: a server of a cluster would run out of it within hours.
func TestConnectionsDoNotGrow(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.CitusDatabase(t)[0], Options{})
	in := create(t, s, 1, time.Hour)
	v, err := s.serverOf(t.Context(), in.KeyID)
	check(t, err)
	conn, err := v.pool.Acquire(t.Context())
	check(t, err)
	defer conn.Release()
	var sizes []int
	for range 2 {
		for range 200 {
			execute(t, conn, lockOwner, in.KeyID)
		}
		var size int
		check(t, conn.QueryRow(t.Context(), "SELECT sum(total_bytes) FROM pg_backend_memory_contexts").Scan(&size))
		sizes = append(sizes, size)
	}
	if sizes[1] > sizes[0]+sizes[0]/10 {
		t.Errorf("a connection takes %d bytes, and %d after 200 more statements", sizes[0], sizes[1])
	}
}

// A process whose URL names the coordinator alone goes on without it, and one whose URL names another
// server, too, can start.
func TestClusterWithoutItsCoordinator(t *testing.T) {
	t.Parallel()
	c := pgtest.StartCitus(t, "fsync=off")
	s := open(t, c.Nodes[0].URL(), Options{})
	v := service.New(s, service.Options{Domains: []string{"x.test"}})
	_, k, err := v.CreateKey(t.Context(), "", service.Enterprise)
	check(t, err)
	in, err := v.CreateInbox(t.Context(), k, service.NewInbox{})
	check(t, err)
	c.Nodes[0].Stop(pgtest.Kill)
	await(t, "no connection is left to it", func() bool { return fortest.Failure(v.Keys(t.Context())) == nil })
	check(t, deliver(t.Context(), s, in, "x"))
	wantMessages(t, s, in, 1)
	check(t, fortest.Failure(v.CreateInbox(t.Context(), k, service.NewInbox{})))
	check(t, fortest.Failure(v.Allow(t.Context(), k)))
	url := strings.Replace(c.Nodes[0].URL(), c.Nodes[0].Addr(), c.Nodes[0].Addr()+","+c.Nodes[1].Addr(), 1)
	check(t, deliver(t.Context(), open(t, url, Options{}), in, "x"))
}

// Without a worker, random addresses are on others, who makes a key is told which one is down, and a process can start.
func TestClusterWithoutAWorker(t *testing.T) {
	t.Parallel()
	c := pgtest.StartCitus(t, "fsync=off")
	s := open(t, c.Nodes[0].URL(), Options{})
	v := service.New(s, service.Options{Domains: []string{"x.test"}})
	var k service.Key
	for on := 0; fmt.Sprint("127.0.0.1:", on) != c.Nodes[2].Addr(); {
		var err error
		_, k, err = v.CreateKey(t.Context(), "", service.Enterprise)
		check(t, err)
		on = count(t, s, "SELECT nodeport FROM citus_shards WHERE shardid = get_shard_id_for_distribution_column('owners', $1::text)", k.ID)
	}
	check(t, fortest.Failure(v.CreateInbox(t.Context(), k, service.NewInbox{})))
	c.Nodes[1].Stop(pgtest.Kill)
	await(t, "no connection is left to it", func() bool { return fortest.Failure(v.Keys(t.Context())) == nil })
	for range 20 {
		check(t, fortest.Failure(v.CreateInbox(t.Context(), k, service.NewInbox{})))
	}
	_, _, err := v.CreateKey(t.Context(), "", service.Dev)
	if err == nil || !strings.HasPrefix(err.Error(), "The server "+c.Nodes[1].Addr()+" of the cluster does not answer") || strings.Contains(err.Error(), "\n") {
		t.Errorf("making a key ends with %v", err)
	}
	for _, node := range []*pgtest.Cluster{c.Nodes[0], c.Nodes[2]} {
		check(t, fortest.Failure(open(t, node.URL(), Options{}).Keys(t.Context())))
	}
}
