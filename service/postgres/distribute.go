package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/distribute.sql
var prepareDistribution string

// clusterTables are the tables in the order in which they are distributed. Every node has all of
// those before inboxes. The others are distributed by key_id, or else by address.
var clusterTables = []string{
	"schema_steps", "keys", "slots", "imports", "inboxes", "addresses", "messages", "bodies", "deleted", "requests", "owners",
}

// isDistributed reports whether the tables are distributed over a Citus cluster. It is an error if
// only some are.
func isDistributed(ctx context.Context, conn *pgx.Conn) (bool, error) {
	left, err := undistributed(ctx, conn)
	if err == nil && len(left) > 0 && len(left) < len(clusterTables) {
		err = errors.New("not all of its tables are distributed: run mayfly admin store distribute again")
	}
	return len(left) == 0, err
}

// undistributed returns those of clusterTables that are not distributed.
func undistributed(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	var citus bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('pg_dist_partition') IS NOT NULL").Scan(&citus); err != nil || !citus {
		return clusterTables, err
	}
	rows, _ := conn.Query(ctx, `SELECT name FROM unnest($1::text[]) WITH ORDINALITY t (name, n)
		WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(name)) ORDER BY n`, clusterTables)
	return pgx.CollectRows(rows, pgx.RowTo[string]) // the rows have the query's error
}

// distributeName is the application_name of the sessions of Distribute.
const distributeName = "mayfly admin store distribute"

// Distribute distributes the tables of a database over the workers of a Citus cluster, whose
// coordinator the URL names, so that all that belongs to a key is on one of them. Nothing else may
// use the database meanwhile. If it is interrupted, it has to be repeated; if there is nothing left
// to do, it does nothing. The log gets each thing that it has done.
func Distribute(ctx context.Context, url string, shards int, log *slog.Logger) error {
	config, err := poolConfig(url, connectTimeout)
	if err != nil {
		return err
	}
	return distributeWith(ctx, config, shards, log)
}

const connectTimeout = 10 * time.Second

func distributeWith(ctx context.Context, config *pgxpool.Config, shards int, log *slog.Logger) error {
	c := config.ConnConfig
	maps.Copy(c.RuntimeParams, map[string]string{
		"application_name": distributeName,
		// A statement takes as long as it needs, and reads whole tables.
		"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0",
		"enable_seqscan": "on", "enable_hashjoin": "on", "enable_mergejoin": "on",
	})
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	err = pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		err := checkCluster(ctx, conn.Conn())
		if err == nil {
			err = distribute(ctx, pool, conn.Conn(), shards, log)
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("distribute the database %s on %s:%d: %w", c.Database, c.Host, c.Port, explain(err))
	}
	return err
}

// checkCluster returns an error unless conn is to the coordinator of a cluster with workers.
func checkCluster(ctx context.Context, conn *pgx.Conn) error {
	var citus, worker, known bool
	var workers int
	var down string
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')").Scan(&citus)
	if err == nil && citus {
		err = conn.QueryRow(ctx, `SELECT (SELECT groupid FROM pg_dist_local_group) <> 0, EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0),
			(SELECT count(*) FROM pg_dist_node WHERE noderole = 'primary' AND isactive AND shouldhaveshards)`).Scan(&worker, &known, &workers)
	}
	if err == nil && workers > 0 && !worker {
		err = conn.QueryRow(ctx, `SELECT coalesce(string_agg(nodename || ':' || nodeport, ', '), '')
			FROM run_command_on_workers('SELECT 1') WHERE NOT success`).Scan(&down)
	}
	switch {
	case err != nil:
		return err
	case !citus:
		return errors.New("it has no Citus: run CREATE EXTENSION citus in this database on every node")
	case worker:
		return errors.New("this node is a worker: name the coordinator")
	case !known:
		return errors.New("the workers cannot reach this coordinator: run SELECT citus_set_coordinator_host('its name')")
	case down != "":
		return fmt.Errorf("the coordinator cannot connect to %s: start it, and let it in as this user", down)
	case workers == 0:
		return errors.New("the cluster has no workers: run SELECT citus_add_node('a worker', 5432)")
	}
	return nil
}

func distribute(ctx context.Context, pool *pgxpool.Pool, conn *pgx.Conn, shards int, log *slog.Logger) error {
	err := waitForLock(ctx, conn, "distribute", "waiting for another process, which is distributing the database or was killed", log)
	if err == nil { // when this process is killed, its statement ends, too
		_, err = conn.Exec(ctx, "SET client_connection_check_interval = '1s'")
	}
	if err != nil {
		return err
	}
	left, err := undistributed(ctx, conn)
	if err == nil && len(left) > 0 {
		err = checkUnused(ctx, conn)
	}
	if err != nil {
		return err
	}
	if err := migrate(ctx, pool, migrations, log); err != nil {
		return err
	}
	if err := prepare(ctx, conn, log); err != nil {
		return err
	}
	for _, table := range left {
		log.Info("distributing " + table)
		if err := distributeTable(ctx, conn, table, shards); err != nil {
			return fmt.Errorf("%s: %w: run this again when that is mended", table, err)
		}
	}
	log.Info("all tables are distributed")
	return nil
}

// checkUnused returns an error if another session uses the database.
func checkUnused(ctx context.Context, conn *pgx.Conn) error {
	var others string
	err := conn.QueryRow(ctx, `SELECT coalesce(string_agg(DISTINCT coalesce(nullif(application_name, ''), 'unnamed'), ', '), '') FROM pg_stat_activity WHERE datname = current_database()
		AND backend_type = 'client backend' AND application_name <> $1 AND application_name NOT LIKE 'citus%'`,
		distributeName).Scan(&others)
	if err == nil && others != "" {
		err = fmt.Errorf("other sessions use it (%s): stop the service on all machines, then try again", others)
	}
	return err
}

// prepare removes what only older processes need, once, and adds the key to primary keys.
func prepare(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	var prepared bool
	err := conn.QueryRow(ctx, "SELECT breaks > 0 FROM schema_steps WHERE step = 6").Scan(&prepared)
	if err != nil || prepared {
		return err
	}
	log.Info("removing what only older versions of mayfly need")
	_, err = conn.Exec(ctx, prepareDistribution)
	return err
}

// distributeTable distributes a table with its rows.
func distributeTable(ctx context.Context, conn *pgx.Conn, table string, shards int) error {
	const first = "inboxes"
	column := "key_id"
	if table == "addresses" {
		column = "address"
	}
	sql := fmt.Sprintf("SELECT create_distributed_table('%s', '%s', colocate_with => '%s')", table, column, first)
	switch {
	case table == first:
		sql = fmt.Sprintf("SELECT create_distributed_table('%s', '%s', colocate_with => 'none', shard_count => %d)", table, column, shards)
	case slices.Index(clusterTables, table) < slices.Index(clusterTables, first):
		sql = fmt.Sprintf("SELECT create_reference_table('%s')", table)
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "SELECT truncate_local_data_after_distributing_table($1)", table)
		return err
	})
}
