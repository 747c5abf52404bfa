package postgres

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is a step of the schema. While and after it is applied, processes that do not know it
// keep running, so it must only add to what they read and write. A step that cannot keep to that
// sets breaks to the number of the oldest step that a process must know to keep running.
type migration struct {
	// sql is a transaction. While it waits for a lock, others wait behind it: after lockWait it gives
	// up and is tried again, so that they never wait for long.
	sql string

	// run is called instead for what takes long or cannot be in a transaction, and again if it was
	// interrupted. Whatever it locks must not keep others from reading and writing.
	run func(context.Context, *pgx.Conn, *slog.Logger) error

	breaks int // 0: none
}

// migrations lists the steps; the first is number 1.
var migrations = []migration{
	{sql: step(1)},
	{sql: step(2)},
	{sql: step(3)},
	{sql: step(4)},
	{sql: step(5)},
	{run: nameKeys},
}

func step(n int) string {
	b, err := migrationFiles.ReadFile(fmt.Sprintf("migrations/%d.sql", n))
	if err != nil {
		panic(err) // the file is part of the program
	}
	return string(b)
}

const (
	// lockWait is longer than PostgreSQL's deadlock_timeout, after which it ends an automatic vacuum
	// that is in the way.
	lockWait  = 1500 * time.Millisecond
	lockRetry = time.Second
	lockPoll  = 50 * time.Millisecond
)

// migrate applies the steps that the database does not have yet, and returns when it has them all.
// Each is applied once, even if several processes start at the same time.
func migrate(ctx context.Context, pool *pgxpool.Pool, steps []migration, log *slog.Logger) error {
	if err := pool.AcquireFunc(ctx, checkEncoding); err != nil {
		return err
	}
	done, err := upToDate(ctx, pool, len(steps))
	if err != nil || done {
		return err
	}
	acquired, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := acquired.Hijack()                    // for its own settings
	defer conn.Close(context.WithoutCancel(ctx)) // which gives back the lock
	err = waitForLock(ctx, conn, "schema", "waiting for another process, which is updating the schema of the database", log)
	if err == nil {
		_, err = conn.Exec(ctx, `SET statement_timeout = 0; SET lock_timeout = 0; CREATE TABLE IF NOT EXISTS schema_steps
			(step integer PRIMARY KEY, breaks integer NOT NULL, made_at timestamptz NOT NULL DEFAULT now())`)
	}
	if err != nil {
		return fmt.Errorf("prepare the schema: %w", err)
	}
	var last int
	if err := conn.QueryRow(ctx, "SELECT coalesce(max(step), 0) FROM schema_steps").Scan(&last); err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	for n := last + 1; n <= len(steps); n++ {
		if err := steps[n-1].apply(ctx, conn, n, log); err != nil {
			return fmt.Errorf("update the schema to version %d: %w", n, err)
		}
	}
	return nil
}

// waitForLock waits until no other session has an advisory lock, and says so if that takes long. It
// does not wait in the database, where an index that the other builds concurrently would wait for it
// in turn.
func waitForLock(ctx context.Context, conn *pgx.Conn, lock, waiting string, log *slog.Logger) error {
	for waited := 0 * lockPoll; ; waited += lockPoll {
		var locked bool
		err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtext(concat(current_schema(), '.mayfly.', $1::text)))", lock).Scan(&locked)
		if err != nil || locked {
			return err
		}
		if waited == time.Second {
			log.Info(waiting)
		}
		if err := pause(ctx, lockPoll); err != nil {
			return err
		}
	}
}

// apply applies step n and records it.
func (m migration) apply(ctx context.Context, conn *pgx.Conn, n int, log *slog.Logger) error {
	if m.run != nil {
		if err := m.run(ctx, conn, log); err != nil {
			return err
		}
	}
	for {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; %s", lockWait.Milliseconds(), m.sql))
			if err == nil {
				_, err = tx.Exec(ctx, "INSERT INTO schema_steps (step, breaks) VALUES ($1, $2)", n, m.breaks)
			}
			return err
		})
		switch state := sqlState(err); {
		case state == stateLocked, state == stateQueryCanceled, conflict(err):
			log.Info("the schema of the database cannot be updated while others use its tables, trying again", "error", err)
		default:
			return err
		}
		if err := pause(ctx, lockRetry); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
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
