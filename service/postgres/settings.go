package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

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
