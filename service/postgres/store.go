// Package postgres is the store for more than one machine: any number of processes on one PostgreSQL database.
//
// The database is the only truth. Nothing that another process may change is kept in memory: every answer is read
// when it is asked for. What makes that cheap is that callers share: questions of the same kind that come together
// become one query, and deliveries that come together become one transaction.
//
// Whoever changes something of a key, its inboxes among it, locks the key's row in the table owners first, several in
// their order, so that transactions of all processes wait for each other without a deadlock.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// Options of a store. The zero value works.
type Options struct {
	// Log receives what an operator has to know. Default: slog.Default().
	Log *slog.Logger

	// Timeout bounds each operation on the database. Default: 10 s.
	Timeout time.Duration

	migrations []migration // that this process knows; default: migrations
}

// Store is a service.Store in a database. Several processes may have the same one open.
type Store struct {
	pool    *pgxpool.Pool
	log     *slog.Logger
	timeout time.Duration
	slots   slots
	told    announcer

	inboxes   *loader[string, service.Inbox]
	addresses *loader[string, service.Inbox]
	keys      *loader[string, service.StoredKey]
	hashes    *loader[[32]byte, service.StoredKey]
	owners    *loader[string, owner]

	deliveries *queue
	turn       chan struct{} // held by who looks for deliveries, and while they are stored
	counts     counts
	commits    commitTimes

	ctx     context.Context // ends when the store closes
	stop    context.CancelFunc
	workers sync.WaitGroup
}

var (
	_ service.Store  = (*Store)(nil)
	_ service.Shared = (*Store)(nil)
)

// Open connects to the database of the URL (postgres://user:password@host:port/database, with the parameters of
// libpq and pool_max_conns) and brings its schema up to date. The context bounds the opening only. No error names the
// password.
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
	opening := func(err error) error {
		c := config.ConnConfig
		return fmt.Errorf("open the database %s on %s:%d: %w", c.Database, c.Host, c.Port, explained(err))
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, opening(err)
	}
	if err := migrate(ctx, pool, o.migrations); err != nil {
		pool.Close()
		return nil, opening(err)
	}
	s := &Store{
		pool: pool, log: o.Log, timeout: o.Timeout,
		deliveries: newQueue(), turn: make(chan struct{}, 1), commits: newCommitTimes(),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.inboxes = newLoader(s, s.readInboxes)
	s.addresses = newLoader(s, s.readAddresses)
	s.keys = newLoader(s, s.readKeys)
	s.hashes = newLoader(s, s.readHashes)
	s.owners = newLoader(s, s.readOwners)
	s.told.init()
	for range committers {
		s.workers.Go(s.runCommits)
	}
	s.workers.Go(s.runAnnouncements)
	s.workers.Go(s.runAhead)
	return s, nil
}

// CheckURL returns an error that does not quote the URL when it is none of a database.
func CheckURL(url string) error {
	_, err := poolConfig(url, time.Second)
	return err
}

// defaultConnections is how many a process has at most, when the URL does not say with pool_max_conns: one for each
// committer and each kind of question, and some for what one caller asks.
const defaultConnections = 16

// poolConfig reads the URL and adds what the promises of the store need.
func poolConfig(url string, timeout time.Duration) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The parser's own error quotes what it was given.
		return nil, errors.New("the URL of the database cannot be read: want postgres://user@host:port/database")
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultConnections
	}
	c := config.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = timeout / 2
	}
	params := c.RuntimeParams
	params["synchronous_commit"] = "on"                        // what is acknowledged is on disk, and on the synchronous standby
	params["default_transaction_isolation"] = "read committed" // who waited for a row wants it as it is then
	params["statement_timeout"] = fmt.Sprint(timeout.Milliseconds())
	// Between its two round trips a transaction has nothing to wait for: one whose process was cut off gives its rows
	// back well before those who wait for them give up.
	params["idle_in_transaction_session_timeout"] = fmt.Sprint((timeout / 5).Milliseconds())
	params["lock_timeout"] = fmt.Sprint((timeout / 3).Milliseconds())
	params["idle_session_timeout"] = "0" // the pool decides what it keeps
	params["client_encoding"] = "UTF8"
	params["timezone"] = "UTC"
	// Every statement finds its rows by an index, whatever its parameters are: its plan is made once. Planning took a
	// fifth of the database's time. What PostgreSQL thinks of a table that has just been made must not mislead it.
	params["plan_cache_mode"] = "force_generic_plan"
	for _, way := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		params[way] = "off"
	}
	if params["application_name"] == "" {
		params["application_name"] = "mayfly"
	}
	return config, nil
}

// Close ends the store; calls that have not returned fail or are completed.
func (s *Store) Close() error {
	s.stop()
	s.workers.Wait()
	s.pool.Close()
	return nil
}

// Ready returns why mail cannot be stored, or nil.
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

// bounded returns a context for an operation that several callers share: it ends with the store or after the timeout.
func (s *Store) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.ctx, s.timeout)
}

// transact runs what one caller asks for in a transaction, again when the database has chosen it as the victim of a
// conflict.
func (s *Store) transact(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.again(ctx, func() error { return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return do(ctx, tx) }) })
}

// attempts is how often an operation is tried that lost a conflict.
const attempts = 5

// again does something until it has neither lost a conflict nor met a connection that had died unused, and returns an
// error of the domain.
func (s *Store) again(ctx context.Context, do func() error) error {
	var err error
	for range attempts {
		if err = do(); !conflict(err) && !pgconn.SafeToRetry(err) {
			break
		}
	}
	return s.failure(ctx, err)
}
