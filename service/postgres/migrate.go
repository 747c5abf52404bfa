package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is a step of the schema. While and after it is applied, processes that do not know it
// keep running, so it must only add to what they read and write. A step that cannot keep to that
// sets breaks to the number of the oldest step that a process must know to keep running.
type migration struct {
	sql    string
	breaks int // 0: none
}

// migrations lists the steps; the first is number 1.
var migrations = []migration{
	{sql: step(1)},
	{sql: step(2)},
	{sql: step(3)},
}

func step(n int) string {
	b, err := migrationFiles.ReadFile(fmt.Sprintf("migrations/%d.sql", n))
	if err != nil {
		panic(err) // the file is part of the program
	}
	return string(b)
}

// migrate applies the steps that the database does not have yet. Each is applied once, even if
// several processes start at the same time.
func migrate(ctx context.Context, pool *pgxpool.Pool, steps []migration) error {
	if err := pool.AcquireFunc(ctx, checkEncoding); err != nil {
		return err
	}
	done, err := upToDate(ctx, pool, len(steps))
	if err != nil || done {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// The lock is held until the commit. A statement may take as long as it needs.
		for _, sql := range []string{
			"SET LOCAL statement_timeout = 0",
			"SET LOCAL lock_timeout = 0",
			"SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.mayfly.schema'))",
			"CREATE TABLE IF NOT EXISTS schema_steps (step integer PRIMARY KEY, breaks integer NOT NULL, made_at timestamptz NOT NULL DEFAULT now())",
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("prepare the schema: %w", err)
			}
		}
		var last int
		if err := tx.QueryRow(ctx, "SELECT coalesce(max(step), 0) FROM schema_steps").Scan(&last); err != nil {
			return fmt.Errorf("read the version of the schema: %w", err)
		}
		for n := last + 1; n <= len(steps); n++ {
			if _, err := tx.Exec(ctx, steps[n-1].sql); err != nil {
				return fmt.Errorf("update the schema to version %d: %w", n, err)
			}
			if _, err := tx.Exec(ctx, "INSERT INTO schema_steps (step, breaks) VALUES ($1, $2)", n, steps[n-1].breaks); err != nil {
				return fmt.Errorf("update the schema to version %d: %w", n, err)
			}
		}
		return nil
	})
}

// checkEncoding rejects a database that cannot store all of Unicode. SQL_ASCII stores whatever it
// gets.
func checkEncoding(conn *pgxpool.Conn) error {
	switch encoding := conn.Conn().PgConn().ParameterStatus("server_encoding"); encoding {
	case "UTF8", "SQL_ASCII":
		return nil
	default:
		return fmt.Errorf("its encoding is %s: make one with ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
}

// upToDate reports whether the database has all steps that this process knows. It returns an error
// if the database has a later one that this process cannot work with.
func upToDate(ctx context.Context, pool *pgxpool.Pool, known int) (bool, error) {
	var exists bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('schema_steps') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return false, err
	}
	var last, needed int
	err := pool.QueryRow(ctx, "SELECT coalesce(max(step), 0), coalesce(max(breaks), 0) FROM schema_steps").Scan(&last, &needed)
	if err == nil && needed > known {
		err = fmt.Errorf("its schema has version %d, which this version of mayfly cannot work with: use a newer one", last)
	}
	return last >= known, err
}
