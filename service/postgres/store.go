// Package postgres is the store for more than one machine: any number of processes on one
// PostgreSQL database.
//
// The database is the single source of truth. Nothing that another process can change is cached:
// everything is read when it is asked for. Batching makes that cheap: concurrent lookups of the
// same kind share a query, and concurrent deliveries share a transaction.
//
// A transaction that changes anything of a key, such as one of its inboxes, first locks the key's
// row in the table owners, and several of them in the order of their IDs, so that transactions
// cannot deadlock.
//
// Messages are partitioned by slots: ranges of time in which their inboxes expire. When a slot is
// over, its tables are dropped, which costs next to nothing compared with deleting rows.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"mayfly/service"
)

// Options of a store. The zero value works.
type Options struct {
	// Log gets what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Timeout bounds each operation on the database. Default: 10 s.
	Timeout time.Duration

	migrations   []migration     // that this process knows; default: migrations
	noSlotsAhead bool            // slots are created only when they are needed
	tracer       pgx.QueryTracer // sees each statement; default: none
}

// Store is a service.Store and service.Shared in a database.
type Store struct {
	pool        *pgxpool.Pool
	coordinator *pgxpool.Pool // pool, unless the database is distributed
	citus       bool          // the database is distributed
	log         *slog.Logger
	timeout     time.Duration
	slots       sync.Map // the slots that this process knows to exist
	announcer   announcer

	inboxes    *loader[keyed, service.Inbox] // by ID
	addressed  *loader[keyed, service.Inbox] // by address
	addresses  *loader[string, Address]
	keys       *loader[string, service.StoredKey]
	hashes     *loader[[32]byte, service.StoredKey]
	owners     *loader[string, owner]
	placements *loader[string, placement]
	requests   *loader[request, counted]

	requestNumber atomic.Uint64

	ownersOf cache[string] // IDs of keys by address, which never change
	shards   cache[shard]
	counts   cache[owner] // after this process's last delivery

	deliveries *queue
	commits    prometheus.Histogram

	ctx     context.Context // done when the store is closed
	stop    context.CancelFunc
	workers sync.WaitGroup
}

var (
	_ service.Store  = (*Store)(nil)
	_ service.Shared = (*Store)(nil)
)

// Open connects to the database at the URL (postgres://user:password@host:port/database, with the
// parameters of libpq and pool_max_conns) and updates its schema. The context only bounds the
// opening. No error contains the password.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.migrations == nil {
		o.migrations = migrations
	}
	config, err := poolConfig(url, o.Timeout)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = o.tracer
	s := &Store{log: o.Log, timeout: o.Timeout, deliveries: newQueue(), commits: newCommitTimes()}
	if err := s.connect(ctx, config, o.migrations); err != nil {
		if s.coordinator != nil {
			s.coordinator.Close()
		}
		c := config.ConnConfig
		return nil, fmt.Errorf("open the database %s on %s:%d: %w", c.Database, c.Host, c.Port, explain(err))
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.inboxes = newLoader(s, ofKey, s.readInboxes, func(in service.Inbox) keyed { return keyed{in.KeyID, in.ID} })
	s.addressed = newLoader(s, ofKey, s.readAddressed, func(in service.Inbox) keyed { return keyed{in.KeyID, in.Address} })
	s.addresses = newLoader(s, itself, s.readAddresses, func(a Address) string { return a.Address })
	s.owners = newLoader(s, itself, s.readOwners, func(o owner) string { return o.keyID })
	s.keys = newLoader(s, nil, s.readKeys, func(k service.StoredKey) string { return k.ID })
	s.hashes = newLoader(s, nil, s.readHashes, func(k service.StoredKey) [32]byte { return k.Hash })
	s.requests = newLoader(s, func(r request) string { return r.keyID }, s.countRequests, func(c counted) request { return c.request })
	s.placements = newLoader(s, nil, s.readPlacements, func(p placement) string { return p.name })
	s.announcer.init()
	for range committers {
		s.workers.Go(s.runCommits)
	}
	s.workers.Go(s.runAnnouncements)
	if !o.noSlotsAhead {
		s.workers.Go(s.runSlotsAhead)
	}
	return s, nil
}

func itself(name string) string { return name }

// connect connects to the database, which may be a Citus cluster, and updates its schema. Only the
// coordinator of a cluster changes tables, and what processes tell each other goes through it.
func (s *Store) connect(ctx context.Context, config *pgxpool.Config, steps []migration) error {
	var err error
	if s.coordinator, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	toAny, err := s.findCoordinator(ctx, config)
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.coordinator, steps, s.log); err != nil {
		return err
	}
	s.pool = s.coordinator
	if toAny == nil {
		return nil
	}
	err = s.coordinator.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		s.citus, err = isDistributed(ctx, conn.Conn())
		return err
	})
	if err != nil || !s.citus {
		return err
	}
	s.pool, err = pgxpool.NewWithConfig(ctx, toAny)
	return err
}

// coordinatorConnections is the largest number of connections of a process to the coordinator of a
// Citus cluster, besides those to any of its servers.
const coordinatorConnections = 4

// findCoordinator connects to the coordinator if the database is in a Citus cluster, and returns the
// configuration for connections to any of its servers, else nil.
func (s *Store) findCoordinator(ctx context.Context, config *pgxpool.Config) (*pgxpool.Config, error) {
	var cluster bool
	if err := s.coordinator.QueryRow(ctx, "SELECT to_regclass('pg_dist_node') IS NOT NULL").Scan(&cluster); err != nil || !cluster {
		return nil, err
	}
	var host string
	var port uint16
	err := s.coordinator.QueryRow(ctx, "SELECT nodename, nodeport::integer FROM pg_dist_node WHERE groupid = 0").Scan(&host, &port)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil // there are no other servers yet
	}
	if err != nil {
		return nil, err
	}
	toAny := config.Copy()
	// Citus plans a statement for the shards of its parameters.
	toAny.ConnConfig.RuntimeParams["plan_cache_mode"] = "auto"
	toAny.ConnConfig.RuntimeParams["citus.propagate_set_commands"] = "local" // SET LOCAL holds on all servers
	to := toAny.Copy()
	toAny.BeforeConnect = spread
	to.MaxConns = coordinatorConnections
	to.MinConns = 0
	c := to.ConnConfig
	c.Host, c.Port, c.Fallbacks = host, port, nil
	if c.TLSConfig != nil {
		c.TLSConfig.ServerName = host
	}
	s.coordinator.Close()
	s.coordinator, err = pgxpool.NewWithConfig(ctx, to)
	return toAny, err
}

// spread lets each connection begin with another of the URL's hosts.
func spread(_ context.Context, c *pgx.ConnConfig) error {
	hosts := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	first := rand.IntN(len(hosts))
	// A host comes with TLS and then without.
	for first > 0 && hosts[first].Host == hosts[first-1].Host && hosts[first].Port == hosts[first-1].Port {
		first--
	}
	hosts = slices.Concat(hosts[first:], hosts[:first])
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = hosts[0].Host, hosts[0].Port, hosts[0].TLSConfig, hosts[1:]
	return nil
}

// CheckURL returns an error, which does not quote the URL, unless it is the URL of a database.
func CheckURL(url string) error {
	_, err := poolConfig(url, time.Second)
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
	// Between its two round trips a transaction waits for nothing. If its process is cut off, it
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
	for _, setting := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		params[setting] = "off"
	}
	if params["application_name"] == "" {
		params["application_name"] = "mayfly"
	}
	return config, nil
}

// Close closes the store. Calls that have not returned complete or fail.
func (s *Store) Close() error {
	s.stop()
	s.workers.Wait()
	s.pool.Close()
	s.coordinator.Close() // for a second time unless the database is distributed
	return nil
}

// Ready implements service.Store.
func (s *Store) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout/4)
	defer cancel()
	var standby bool
	if err := s.pool.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil {
		return s.failure(ctx, err)
	}
	if standby {
		return unavailable(errors.New("the database is a standby and cannot be written"))
	}
	return nil
}

// batch makes changes for one caller, in one round trip and one transaction, and repeats them after a
// conflict.
func (s *Store) batch(ctx context.Context, queue func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.retry(ctx, func() error {
		var b pgx.Batch
		b.Queue("BEGIN") // else Citus would make each a transaction
		queue(&b)
		b.Queue("COMMIT")
		return s.pool.SendBatch(ctx, &b).Close()
	})
}

// query returns the rows of a query.
func query[T any](ctx context.Context, s *Store, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := s.pool.Query(ctx, sql, args...) // the rows have its error
	return pgx.CollectRows(rows, scan)
}

// transact runs a transaction for one caller, and repeats it after a conflict.
func (s *Store) transact(ctx context.Context, on *pgxpool.Pool, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.retry(ctx, func() error { return pgx.BeginFunc(ctx, on, func(tx pgx.Tx) error { return do(ctx, tx) }) })
}

// maxAttempts is how often an operation is tried that fails because of a conflict.
const maxAttempts = 5

// retry repeats an operation that fails because of a conflict or of a connection that had died
// unused. It returns an error of the domain.
func (s *Store) retry(ctx context.Context, do func() error) error {
	var err error
	for range maxAttempts {
		if err = do(); !s.conflict(err) && !pgconn.SafeToRetry(err) {
			break
		}
	}
	return s.failure(ctx, err)
}
