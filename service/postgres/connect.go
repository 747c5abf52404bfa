package postgres

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// connect connects to the database, which may be on a Citus cluster, creates its tables and reads its clock. Only the
// coordinator of a cluster changes tables, and what processes tell each other goes through it.
func (s *Store) connect(ctx context.Context, config *pgxpool.Config) error {
	var err error
	if s.coordinator, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	nodes, err := clusterNodes(ctx, s.coordinator)
	if err != nil {
		return err
	}
	s.pool = s.coordinator
	if nodes != nil {
		err = s.connectCluster(ctx, config, nodes)
	}
	if err == nil {
		err = s.makeSchema(ctx)
	}
	if err == nil {
		err = s.readClock(ctx, s.pool)
	}
	return err
}

// server is a server of the database, with what is done there: lookups and deliveries for the keys
// whose rows it has. A database that is not distributed has one server. On a Citus cluster every
// server can do everything, and does what is for its own keys without asking another. If one is
// down, the others go on.
type server struct {
	pool *pgxpool.Pool

	inboxes   *loader[keyed, service.Inbox] // by ID
	addressed *loader[keyed, service.Inbox] // by address
	addresses *loader[string, addressRow]
	pages     *loader[service.PageOfInboxes, page]
	owners    *loader[string, owner]
	requests  *loader[*request, *request]
	locked    sync.Map // loaders of the requests of single keys whose rows were locked, by key

	full       atomic.Bool // see room
	deliveries *queue
	committing chan struct{} // full while a committer waits for deliveries or stores them
}

// newServer returns a server, whose committers run until the store is closed.
func (s *Store) newServer(pool *pgxpool.Pool) *server {
	v := &server{pool: pool, deliveries: newQueue(), committing: make(chan struct{}, 1)}
	v.inboxes = newLoader(s, pool, s.readInboxes, func(in service.Inbox) keyed { return keyed{in.KeyID, in.ID} })
	v.addressed = newLoader(s, pool, s.readAddressed, func(in service.Inbox) keyed { return keyed{in.KeyID, in.Address} })
	v.addresses = newLoader(s, pool, s.readAddresses, func(a addressRow) string { return a.Address })
	v.pages = newLoader(s, pool, s.readPages, func(p page) service.PageOfInboxes { return p.of })
	v.owners = newLoader(s, pool, s.readOwners, func(o owner) string { return o.keyID })
	v.requests = s.newCounter(pool, s.waitBriefly)
	for range committers {
		s.workers.Go(func() { s.runCommits(v) })
	}
	return v
}

// each makes a query for each element of a list, all in one round trip. One for several keys would be no server's of
// a Citus cluster.
func each[T, V any](ctx context.Context, pool *pgxpool.Pool, list []T, scan pgx.RowToFunc[V], queue func(*pgx.Batch, T) *pgx.QueuedQuery) ([]V, error) {
	var all []V
	var b pgx.Batch
	for _, e := range list {
		queue(&b, e).Query(func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, scan)
			all = append(all, some...)
			return err
		})
	}
	return all, pool.SendBatch(ctx, &b).Close()
}
