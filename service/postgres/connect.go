package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

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
	s.pool, s.together = s.coordinator, math.MaxInt
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
	s.together = 1
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
	// Other databases of a cluster are plain ones, which need no other server.
	err := s.coordinator.QueryRow(ctx, `SELECT nodename, nodeport::integer FROM pg_dist_node
		WHERE groupid = 0 AND (EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('schema_steps'))
			OR EXISTS (SELECT FROM pg_dist_local_group WHERE groupid <> 0))`).Scan(&host, &port)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	toAny := config.Copy()
	// Citus plans a statement for the shards of its parameters.
	toAny.ConnConfig.RuntimeParams["plan_cache_mode"] = "auto"
	toAny.ConnConfig.RuntimeParams["citus.propagate_set_commands"] = "local" // SET LOCAL holds on all servers
	to := at(toAny, host, port)
	to.MaxConns = coordinatorConnections
	toAny.BeforeConnect = spread
	s.coordinator.Close()
	s.coordinator, err = pgxpool.NewWithConfig(ctx, to)
	return toAny, err
}

// spread lets each connection begin with another of the URL's hosts, and leaves time to try others if
// it does not answer.
func spread(_ context.Context, c *pgx.ConnConfig) error {
	list := endpoints(c)
	first := rand.IntN(len(list))
	for first > 0 && list[first].Host == list[first-1].Host && list[first].Port == list[first-1].Port {
		first-- // a host can be there with TLS and then without
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

// at returns a configuration for connections to another host, which are like those to the first.
func at(config *pgxpool.Config, host string, port uint16) *pgxpool.Config {
	config = config.Copy()
	config.BeforeConnect = nil
	config.MinConns = 0
	var moved []*pgconn.FallbackConfig
	list := endpoints(config.ConnConfig)
	for _, e := range list {
		if e.Host != list[0].Host || e.Port != list[0].Port {
			continue
		}
		to := pgconn.FallbackConfig{Host: host, Port: port}
		if e.TLSConfig != nil {
			to.TLSConfig = e.TLSConfig.Clone()
			if to.TLSConfig.ServerName != "" {
				to.TLSConfig.ServerName = host
			}
		}
		moved = append(moved, &to)
	}
	connectTo(config.ConnConfig, moved)
	return config
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
	return config, nil
}
