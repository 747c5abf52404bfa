package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// server is a server of the database, with what is done there: lookups and deliveries for the keys
// whose rows it has. A database that is not distributed has one server. On a Citus cluster every
// server can do everything, and does what is for its own keys without asking another. If one is
// down, the others go on.
type server struct {
	pool *pgxpool.Pool

	inboxes   *loader[keyed, service.Inbox] // by ID
	addressed *loader[keyed, service.Inbox] // by address
	addresses *loader[string, addressRow]
	owners    *loader[string, owner]
	requests  *loader[*request, *request]

	deliveries *queue
	committing chan struct{} // full while a committer waits for deliveries or stores them
}

// newServer returns a server, whose committers run until the store is closed.
func (s *Store) newServer(pool *pgxpool.Pool) *server {
	v := &server{pool: pool, deliveries: newQueue(), committing: make(chan struct{}, 1)}
	v.inboxes = newLoader(s, pool, s.readInboxes, func(in service.Inbox) keyed { return keyed{in.KeyID, in.ID} })
	v.addressed = newLoader(s, pool, s.readAddressed, func(in service.Inbox) keyed { return keyed{in.KeyID, in.Address} })
	v.addresses = newLoader(s, pool, s.readAddresses, func(a addressRow) string { return a.Address })
	v.owners = newLoader(s, pool, s.readOwners, func(o owner) string { return o.keyID })
	v.requests = newLoader(s, pool, s.countRequests, func(r *request) *request { return r })
	for range committers {
		s.workers.Go(func() { s.runCommits(v) })
	}
	return v
}

// placement is where the rows of a key are, or of the owner of an address, which is distributed like
// a key of that name.
type placement struct {
	name string
	node node
}

// placementsTTL is after how long a process notices that keys have moved to another server. Until
// then the previous one passes on what is for them.
const placementsTTL = time.Minute

// serverOf returns the server of a key or an address.
func (s *Store) serverOf(ctx context.Context, name string) (*server, error) {
	if !s.citus || !isName(name) {
		return s.any, nil
	}
	if v, ok := s.servers.get(name); ok {
		return v, nil
	}
	p, err := s.placements.get(ctx, name)
	if err != nil {
		return nil, err
	}
	v, err := s.serverAt(p.node)
	if err == nil {
		s.servers.put(name, v)
	}
	return v, err
}

func (s *Store) serverAt(n node) (*server, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if v := s.opened[n]; v != nil {
		return v, nil
	}
	if s.ctx.Err() != nil {
		return nil, errClosed
	}
	pool, err := pgxpool.NewWithConfig(s.ctx, at(s.any.pool.Config(), n))
	if err != nil {
		return nil, err
	}
	v := s.newServer(pool)
	s.opened[n] = v
	return v, nil
}

func (s *Store) readPlacements(ctx context.Context, pool *pgxpool.Pool, names []string) ([]placement, error) {
	scan := func(row pgx.CollectableRow) (p placement, err error) {
		err = row.Scan(&p.name, &p.node.Host, &p.node.Port)
		return p, err
	}
	return query(ctx, pool, scan, `SELECT name, n.nodename, n.nodeport
		FROM (SELECT name, get_shard_id_for_distribution_column('owners', name) AS shardid FROM unnest($1::text[]) name) s
		JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid) WHERE n.noderole = 'primary'`, names)
}

// each makes a query for elements of a list in one round trip: for all of them together, or on a
// Citus cluster for each alone, which it need not plan again.
func each[T, V any](ctx context.Context, s *Store, pool *pgxpool.Pool, list []T, scan pgx.RowToFunc[V], queue func(*pgx.Batch, []T) *pgx.QueuedQuery) ([]V, error) {
	var all []V
	var b pgx.Batch
	for part := range slices.Chunk(list, s.together) {
		queue(&b, part).Query(func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, scan)
			all = append(all, some...)
			return err
		})
	}
	return all, pool.SendBatch(ctx, &b).Close()
}
