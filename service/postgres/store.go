// Package postgres is the store for more than one machine: any number of processes on one
// PostgreSQL database.
//
// The database is the single source of truth. Nothing that another process can change is cached, but
// for a key's count of messages (see EmailsToday): everything is read when it is asked for. Batching
// makes that cheap: concurrent lookups of the same kind share a round trip, and concurrent deliveries
// a transaction.
//
// The database can be distributed over the servers of a Citus cluster by key, so that all rows of a
// key are on one server. The statements are the same with and without: each names the key of its rows. A process connects to every server, and sends each what is for its
// keys, which it then does without asking another. Only a delivery to keys on several servers is
// committed in two phases. An address is on a server of its own: it belongs to the key that had it
// first, permanently, and is created before its first inbox. Tables are created and dropped, and changes
// announced, through the coordinator.
//
// A transaction that changes anything of a key, such as one of its inboxes, begins by changing the
// key's row in the table owners, which locks it, and several of them in the order of their IDs, so
// that transactions cannot deadlock. A SELECT … FOR UPDATE is not enough on a cluster: mail is lost when
// Citus moves the key at that moment.
//
// Messages are partitioned by slots: ranges of time in which their inboxes expire, unless those are
// extended later. When a slot has passed, the inboxes in it that were extended are moved to another, and its
// tables are dropped, which costs next to nothing compared with deleting rows.
//
// The database's clock is the only one, see Now.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"mayfly/service"
)

// Options of a store. The zero value works.
type Options struct {
	// Log gets what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Timeout bounds each operation on the database. Default: 10 s.
	Timeout time.Duration

	NoSlotsAhead bool            // slots are created only when they are needed
	tracer       pgx.QueryTracer // sees each statement; default: none
}

// Store is a service.Store and service.Shared in a database.
type Store struct {
	pool        *pgxpool.Pool // to any server of the database
	coordinator *pgxpool.Pool // pool, unless the database is distributed
	citus       bool          // the database is distributed
	log         *slog.Logger
	timeout     time.Duration
	slots       sync.Map // the slots that this process knows to exist
	clock       clock
	sayLocked   rate.Sometimes // that another session keeps this one from sweeping
	maxSize     int64          // bytes of the database on a server, see sizeParameter; 0: not bounded
	announcer   announcer

	anyServer *server // what pool connects to
	opening   sync.Mutex
	opened    map[node]*server       // anyServer is that of the zero node
	servers   cache[*server]         // by key, and by address of an inbox
	tests     cache[map[node]string] // see testsOfServers

	keys       *loader[string, service.StoredKey]
	hashes     *loader[[32]byte, hashedKey]
	placements *loader[string, placement]

	ownersOf cache[string] // IDs of keys by address, which never change
	counts   cache[owner]  // after this process's last delivery
	turns    sync.Map      // channels that are closed at the end of a change, by its key or address
	refusals cache[refusal]

	commits prometheus.Histogram

	ctx     context.Context // done when the store is closed
	stop    context.CancelFunc
	workers sync.WaitGroup
}

var (
	_ service.Store  = (*Store)(nil)
	_ service.Shared = (*Store)(nil)
)

// Open connects to the database at the URL (postgres://user:password@host:port/database, with the
// parameters of libpq, pool_max_conns and max_size) and creates its tables. The context only bounds the
// opening. No error contains the password. Unavailable: it may be possible later.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	url, maxSize, err := cutSize(url)
	if err != nil {
		return nil, err
	}
	config, err := poolConfig(url, o.Timeout)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = o.tracer
	s := &Store{log: o.Log, timeout: o.Timeout, maxSize: maxSize, sayLocked: rate.Sometimes{Interval: sweepLate}, servers: cache[*server]{ttl: placementsTTL}, tests: cache[map[node]string]{ttl: placementsTTL}, commits: newCommitTimes()}
	if err := s.connect(ctx, config); err != nil {
		for _, pool := range []*pgxpool.Pool{s.coordinator, s.pool} {
			if pool != nil {
				pool.Close()
			}
		}
		c := config.ConnConfig
		message := fmt.Sprintf("open the database %s on %s:%d: %v", c.Database, c.Host, c.Port, explain(err))
		if away(err) {
			return nil, &service.Error{Code: service.Unavailable, Message: message, RetryAfter: retryAfter}
		}
		return nil, errors.New(message)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.keys = newLoader(s, s.pool, s.readKeys, func(k service.StoredKey) string { return k.ID })
	s.hashes = newLoader(s, s.pool, s.readHashes, func(k hashedKey) [32]byte { return k.hash })
	s.placements = newLoader(s, s.pool, s.readPlacements, func(p placement) string { return p.name })
	s.anyServer = s.newServer(s.pool)
	s.opened = map[node]*server{{}: s.anyServer}
	s.announcer.init()
	s.workers.Go(s.runAnnouncements)
	s.workers.Go(s.runClock)
	if s.maxSize > 0 {
		s.workers.Go(s.runSizes)
	}
	if !o.NoSlotsAhead {
		s.workers.Go(s.runSlotsAhead)
	}
	return s, nil
}

// Close closes the store. Calls that have not returned complete or fail.
func (s *Store) Close() error {
	s.stop()
	servers := s.all() // after which no other is opened, and no work started
	s.workers.Wait()
	for _, v := range servers {
		v.pool.Close()
	}
	s.coordinator.Close() // for a second time unless the database is distributed
	return nil
}

// start runs work that Close waits for, or reports false if the store is closed.
func (s *Store) start(work func()) bool {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.workers.Go(work)
	return true
}

// all returns the servers that the store is connected to.
func (s *Store) all() []*server {
	s.opening.Lock()
	defer s.opening.Unlock()
	return slices.Collect(maps.Values(s.opened))
}

// waitBriefly is for transactions that others wait for: a row of one key may stay locked by somebody
// else. What is for this key alone waits longer, see poolConfig.
func (s *Store) waitBriefly(b *pgx.Batch) {
	b.Queue(fmt.Sprintf("SET LOCAL lock_timeout = %d", (s.timeout / 40).Milliseconds()))
}

// turn waits until no other change for a key or an address is made by this process, so that each
// uses one connection at most, even while its row is locked. It returns what ends the turn.
func (s *Store) turn(ctx context.Context, name string) (end func(), err error) {
	mine := make(chan struct{})
	for {
		other, taken := s.turns.LoadOrStore(name, mine)
		if !taken {
			return func() { s.turns.Delete(name); close(mine) }, nil
		}
		select {
		case <-other.(chan struct{}):
		case <-ctx.Done():
			return nil, unavailable(ctx.Err())
		}
	}
}

// batch makes changes for a key or an address in one round trip and one transaction, and repeats
// them after a conflict.
func (s *Store) batch(ctx context.Context, name string, queue func(*pgx.Batch)) error {
	return s.change(ctx, name, queue, nil)
}

// change is batch with more changes that depend on what the first ones have returned, if there are any.
func (s *Store) change(ctx context.Context, name string, queue, then func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	v, err := s.serverOf(ctx, name)
	if err != nil {
		return err
	}
	end, err := s.turn(ctx, name)
	if err != nil {
		return err
	}
	defer end()
	return s.changeOn(ctx, v.pool, queue, then)
}

// changeOn is change on a server, for whoever sees to the turns of its keys.
func (s *Store) changeOn(ctx context.Context, pool *pgxpool.Pool, queue, then func(*pgx.Batch)) error {
	return s.retry(ctx, pool, func() error {
		return pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error { // which is closed if it is still in a transaction then
			var b pgx.Batch
			b.Queue("BEGIN") // else Citus would make each a transaction
			queue(&b)
			if then != nil {
				if err := conn.SendBatch(ctx, &b).Close(); err != nil {
					return err
				}
				b = pgx.Batch{}
				then(&b)
			}
			b.Queue("COMMIT")
			return conn.SendBatch(ctx, &b).Close()
		})
	})
}

// query returns the rows of a query.
func query[T any](ctx context.Context, pool *pgxpool.Pool, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, _ := pool.Query(ctx, sql, args...) // the rows have its error
	return pgx.CollectRows(rows, scan)
}

// transact runs a transaction for one caller, and repeats it after a conflict.
func (s *Store) transact(ctx context.Context, pool *pgxpool.Pool, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.retry(ctx, pool, func() error { return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { return do(ctx, tx) }) })
}

// maxAttempts is how often an operation is tried that fails because of a conflict.
const maxAttempts = 5

// retry repeats an operation that fails because of a conflict or of a connection that had died
// unused. It returns an error of the domain.
func (s *Store) retry(ctx context.Context, pool *pgxpool.Pool, do func() error) error {
	var err error
	for range maxAttempts {
		if err = do(); !conflict(err) && !pgconn.SafeToRetry(err) {
			break
		}
	}
	return s.failure(ctx, pool, err)
}

var (
	queueLength = prometheus.NewDesc("mayfly_store_queue", "Changes that are waiting for the database.", nil, nil)
	connections = prometheus.NewDesc("mayfly_store_connections", "Connections to the database.", []string{"state"}, nil)
)

// newCommitTimes returns a histogram of how long transactions of deliveries take.
func newCommitTimes() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "mayfly_store_sync_seconds",
		Help:    "Time to sync a group of changes to disk.",
		Buckets: prometheus.ExponentialBuckets(0.0005, 2, 14),
	})
}

// Describe implements prometheus.Collector.
func (s *Store) Describe(ch chan<- *prometheus.Desc) {
	s.commits.Describe(ch)
	for _, d := range []*prometheus.Desc{queueLength, connections} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *Store) Collect(ch chan<- prometheus.Metric) {
	s.commits.Collect(ch)
	var waiting int
	var used, idle int32
	for _, v := range s.all() {
		waiting += v.deliveries.length()
		stat := v.pool.Stat()
		used, idle = used+stat.AcquiredConns(), idle+stat.IdleConns()
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(queueLength, float64(waiting))
	gauge(connections, float64(used), "in use")
	gauge(connections, float64(idle), "idle")
}
