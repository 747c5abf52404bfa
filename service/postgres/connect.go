package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// coordinatorConnections is the largest number of connections of a process to the coordinator of a
// Citus cluster, besides those to any of its servers.
const coordinatorConnections = 4

// connect connects to the database, which may be on a Citus cluster, and makes its tables. Only the
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
	s.pool, s.rowsPerStatement = s.coordinator, math.MaxInt
	if nodes == nil {
		return s.begin(ctx)
	}
	s.citus, s.rowsPerStatement = true, 1
	config = config.Copy()
	// Citus 13.2 plans a statement anew each time, and keeps all that it planned while the plan of the statement is kept.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_custom_plan"
	config.ConnConfig.RuntimeParams["citus.propagate_set_commands"] = "local" // SET LOCAL holds on all servers
	coordinator, toAny := at(config, nodes[0]), at(config, nodes...)
	coordinator.MaxConns = coordinatorConnections
	toAny.BeforeConnect = spread
	s.coordinator.Close()
	if s.coordinator, err = pgxpool.NewWithConfig(ctx, coordinator); err != nil {
		return err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, toAny); err != nil {
		return err
	}
	return s.begin(ctx)
}

// begin makes the tables, and reads the clock.
func (s *Store) begin(ctx context.Context) error {
	err := s.makeSchema(ctx)
	if err == nil {
		err = s.readClock(ctx, s.pool)
	}
	return err
}

// node is where a server of a Citus cluster listens.
type node struct {
	Host string
	Port int32
}

// clusterNodes returns the servers of the database's Citus cluster, the coordinator first, or nil if
// the database has no Citus.
func clusterNodes(ctx context.Context, pool *pgxpool.Pool) ([]node, error) {
	var citus, known, shards bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('pg_dist_node') IS NOT NULL").Scan(&citus); err != nil || !citus {
		return nil, err
	}
	const primaries = "FROM pg_dist_node WHERE noderole = 'primary' AND isactive"
	err := pool.QueryRow(ctx, "SELECT coalesce(bool_or(groupid = 0), false), coalesce(bool_or(shouldhaveshards), false) "+primaries).Scan(&known, &shards)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, errors.New("its Citus cluster knows no coordinator: run there SELECT citus_set_coordinator_host('its name')")
	case !shards:
		return nil, errors.New("its Citus cluster has no workers: run SELECT citus_add_node('a worker', 5432) on the coordinator")
	}
	return query(ctx, pool, pgx.RowToStructByPos[node], "SELECT nodename, nodeport "+primaries+" ORDER BY groupid")
}

// spread lets each connection begin with another of the nodes, and leaves time to try others if it
// does not answer.
func spread(_ context.Context, c *pgx.ConnConfig) error {
	list := endpoints(c)
	first := rand.IntN(len(list))
	for first > 0 && list[first].Host == list[first-1].Host && list[first].Port == list[first-1].Port {
		first-- // a node can be there with TLS and then without
	}
	connectTo(c, slices.Concat(list[first:], list[:first]))
	c.ConnectTimeout /= time.Duration(min(len(list), 3))
	return nil
}

// endpoints returns what a connection tries, in order.
func endpoints(c *pgx.ConnConfig) []*pgconn.FallbackConfig {
	return append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
}

func connectTo(c *pgx.ConnConfig, list []*pgconn.FallbackConfig) {
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = list[0].Host, list[0].Port, list[0].TLSConfig, list[1:]
}

// at returns a configuration for connections to nodes, tried in order, which are like those to the
// first host of config.
func at(config *pgxpool.Config, nodes ...node) *pgxpool.Config {
	config = config.Copy()
	config.BeforeConnect = nil
	config.MinConns = 0
	var list []*pgconn.FallbackConfig
	like := endpoints(config.ConnConfig)
	for _, n := range nodes {
		for _, e := range like {
			if e.Host != like[0].Host || e.Port != like[0].Port {
				continue
			}
			to := pgconn.FallbackConfig{Host: n.Host, Port: uint16(n.Port)}
			if e.TLSConfig != nil {
				to.TLSConfig = e.TLSConfig.Clone()
				if to.TLSConfig.ServerName != "" {
					to.TLSConfig.ServerName = n.Host
				}
			}
			list = append(list, &to)
		}
	}
	connectTo(config.ConnConfig, list)
	return config
}

// CheckURL returns an error, which does not quote the URL, unless it is the URL of a database.
func CheckURL(url string) error {
	url, _, err := cutSize(url)
	if err == nil {
		_, err = poolConfig(url, time.Second)
	}
	return err
}

// defaultConnections is the largest number of connections of a process, unless the URL sets
// pool_max_conns: one for each committer and each loader, and some for other operations.
const defaultConnections = 16

// poolConfig parses the URL and adds the settings that the store depends on.
func poolConfig(url string, timeout time.Duration) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's error quotes the URL.
		return nil, errors.New("the URL of the database is malformed: want postgres://user@host:port/database")
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConnections
	}
	config.MaxConns = max(config.MaxConns, 2) // what holds a lock for long uses others meanwhile
	c := config.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = timeout / 2
	}
	params := c.RuntimeParams
	// A commit waits for the disk, and for the synchronous standby.
	params["synchronous_commit"] = "on"
	// After waiting for a lock, a transaction sees the latest row.
	params["default_transaction_isolation"] = "read committed"
	params["statement_timeout"] = fmt.Sprint(timeout.Milliseconds())
	// Between its round trips a transaction waits for nothing. If its process is cut off, it
	// releases its locks well before the transactions that wait for them time out.
	params["idle_in_transaction_session_timeout"] = fmt.Sprint((timeout / 5).Milliseconds())
	params["lock_timeout"] = fmt.Sprint((timeout / 3).Milliseconds())
	params["idle_session_timeout"] = "0" // the pool closes idle connections
	params["client_encoding"] = "UTF8"
	params["timezone"] = "UTC"
	// Every statement finds its rows by an index, whatever its parameters are, so that it can be
	// planned once; planning took a fifth of the database's time. The missing statistics of a new
	// table must not lead to another plan.
	params["plan_cache_mode"] = "force_generic_plan"
	for _, setting := range []string{"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		params[setting] = "off"
	}
	if params["application_name"] == "" {
		params["application_name"] = "mayfly"
	}
	config.AfterConnect = checkSettings
	return config, nil
}

// errPooler is what the store cannot work with: its sessions rely on their settings, locks and notifications.
var errPooler = errors.New("a pooler such as PgBouncer is in between: name PostgreSQL itself, since Mayfly has a pool of its own")

// reliedOn are settings that differ from a server's own.
var reliedOn = []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "plan_cache_mode", "enable_seqscan", "synchronous_commit", "default_transaction_isolation"}

// checkSettings reads back what a connection was to begin with. A pooler may drop it without a word, and with
// synchronous_commit what a reply promises.
func checkSettings(ctx context.Context, conn *pgx.Conn) error {
	wanted := conn.Config().RuntimeParams
	// In one message: a pooler may send the next one to another server.
	results, err := conn.PgConn().Exec(ctx, "SELECT name, setting FROM pg_settings WHERE name IN ('"+strings.Join(reliedOn, "', '")+"')").ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			name, setting := string(row[0]), string(row[1])
			if setting != wanted[name] {
				return fmt.Errorf("%s is %s, not %s as asked for: %w", name, setting, wanted[name], errPooler)
			}
		}
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
		return s.anyServer, nil
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
		return nil, service.ErrClosed
	}
	pool, err := pgxpool.NewWithConfig(s.ctx, at(s.anyServer.pool.Config(), n))
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

// each makes a query for the elements of a list in one round trip: one statement for all, or one for
// each on a Citus cluster, which need not plan it again.
func each[T, V any](ctx context.Context, s *Store, pool *pgxpool.Pool, list []T, scan pgx.RowToFunc[V], queue func(*pgx.Batch, []T) *pgx.QueuedQuery) ([]V, error) {
	var all []V
	var b pgx.Batch
	for part := range slices.Chunk(list, s.rowsPerStatement) {
		queue(&b, part).Query(func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, scan)
			all = append(all, some...)
			return err
		})
	}
	return all, pool.SendBatch(ctx, &b).Close()
}
