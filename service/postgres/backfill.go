package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// nameKeys gives their key_id to the rows that were there before step 5 of the schema. When it is
// called again, it goes on with the partitions that are not complete.
func nameKeys(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	var used bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM inboxes)").Scan(&used); err != nil {
		return err
	}
	if used {
		log.Info("the schema of the database is being updated, which can take long; if it is interrupted, the next process continues")
	}
	// These inboxes are gone, and nobody knows their keys any more. The empty one finds their messages.
	if _, err := conn.Exec(ctx, "UPDATE deleted SET key_id = '' WHERE key_id IS NULL"); err != nil {
		return err
	}
	if err := namePartitions(ctx, conn, log); err != nil {
		return err
	}
	for _, sql := range []string{
		"ALTER TABLE deleted VALIDATE CONSTRAINT deleted_has_key",
		"ALTER TABLE messages VALIDATE CONSTRAINT messages_have_key",
		"ALTER TABLE bodies VALIDATE CONSTRAINT bodies_have_key",
		"DROP INDEX CONCURRENTLY IF EXISTS inboxes_by_address", // what an interrupted call has left of it
		"CREATE INDEX CONCURRENTLY inboxes_by_address ON inboxes (key_id, address)",
		"DROP INDEX CONCURRENTLY IF EXISTS inboxes_of_key",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// progressInterval is how often the operator is told how far a long step is.
const progressInterval = 10 * time.Second

// namePartitions completes one partition after the other. Processes of the previous version may
// create and drop partitions meanwhile; in those that they create every row has its key.
func namePartitions(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	told := time.Now()
	for {
		var table, constraint string
		var left int
		var bytes int64
		err := conn.QueryRow(ctx, `SELECT c.conrelid::regclass::text, c.conname, count(*) OVER (), sum(pg_table_size(c.conrelid)) OVER ()::bigint
			FROM pg_constraint c JOIN pg_inherits i ON i.inhrelid = c.conrelid
			WHERE c.conname IN ('messages_have_key', 'bodies_have_key') AND NOT c.convalidated
				AND i.inhparent IN (to_regclass('messages'), to_regclass('bodies')) LIMIT 1`).Scan(&table, &constraint, &left, &bytes)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil && time.Since(told) > progressInterval {
			log.Info("the schema of the database is being updated", "tables_left", left, "megabytes_left", bytes>>20)
			told = time.Now()
		}
		if err == nil {
			err = namePartition(ctx, conn, table, constraint)
		}
		if err != nil && sqlState(err) != stateNoTable { // it has been dropped
			return err
		}
	}
}

const (
	// backfillPages is how many pages of 8 KB a transaction of nameKeys updates.
	backfillPages = 256
	// backfillParts is after how many parts of a table its old rows are removed, whose space the next
	// part then takes, so that the table grows by one part only.
	backfillParts = 8
)

// namePartition gives its rows their keys. Those of an inbox that has expired get the empty one.
func namePartition(ctx context.Context, conn *pgx.Conn, table, constraint string) error {
	var pages int64
	if err := conn.QueryRow(ctx, "SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint", table).Scan(&pages); err != nil {
		return err
	}
	part := max(pages/backfillParts+1, backfillPages)
	for from := int64(0); from < pages; from += part {
		to := min(from+part, pages)
		for page := from; page < to; page += backfillPages {
			_, err := conn.Exec(ctx, fmt.Sprintf(`UPDATE %s m SET key_id = coalesce((SELECT key_id FROM inboxes WHERE id = m.inbox_id),
					(SELECT key_id FROM deleted WHERE inbox_id = m.inbox_id), '')
				WHERE ctid >= '(%d,0)' AND ctid < '(%d,0)' AND key_id IS NULL`, table, page, min(page+backfillPages, to)))
			if err != nil {
				return err
			}
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("VACUUM (TRUNCATE FALSE) %s", table)); err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s", table, constraint))
	return err
}
