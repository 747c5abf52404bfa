package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// schemaVersion changes with the files.
const schemaVersion = 4

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed distribute.sql
	distributeSQL string
)

var errOtherSchema = errors.New("its tables are not of this version, or it has become a Citus cluster since: name an empty database")

// makeSchema makes the tables of an empty database, on a Citus cluster distributed ones. A database
// that has others is refused. The coordinator may be down, unless it has to make them.
func (s *Store) makeSchema(ctx context.Context) error {
	if err := s.pool.AcquireFunc(ctx, checkEncoding); err != nil {
		return err
	}
	made, err := checkSchema(ctx, s.pool, s.citus)
	if err != nil || made {
		return err
	}
	err = pgx.BeginFunc(ctx, s.coordinator, func(tx pgx.Tx) error { return createTables(ctx, tx, s.citus) })
	if sqlState(err) != stateTableExists {
		return err
	}
	// They may be those that another process has just made, which other servers may not have yet.
	if made, err = checkSchema(ctx, s.coordinator, s.citus); err == nil && !made {
		err = errOtherSchema
	}
	return err
}

func createTables(ctx context.Context, tx pgx.Tx, citus bool) error {
	statements := []string{ // one by one: Citus sends all that comes with a SET to every server
		"SET LOCAL statement_timeout = 0",
		"SET LOCAL lock_timeout = 0",
		// Another process that makes them waits here.
		"SELECT pg_advisory_xact_lock(hashtext(concat(current_schema(), '.mayfly.schema')))",
		schemaSQL,
	}
	if citus {
		statements = append(statements, distributeSQL)
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, "INSERT INTO schema_version (version, distributed) VALUES ($1, $2)", schemaVersion, citus)
	return err
}

// checkSchema reports whether the database has the schema, which is an error if it is another one.
func checkSchema(ctx context.Context, pool *pgxpool.Pool, citus bool) (made bool, err error) {
	var exists bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return false, err
	}
	err = pool.QueryRow(ctx, "SELECT version = $1 AND distributed = $2 FROM schema_version", schemaVersion, citus).Scan(&made)
	if err == nil && !made {
		err = errOtherSchema
	}
	return made, err
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

// slot is a partition of the messages by when their inboxes were to expire at first: in the same hour,
// or, for inboxes that live longer than maxHourly, on the same day. It is the number of hours since
// 1970, or minus the number of days. When a slot is over and has no inbox left, its tables are dropped.
type slot int32

// maxHourly is the longest lifetime of inboxes in slots of an hour.
const maxHourly = 24 * time.Hour

// slotOf returns the slot of an inbox, which it keeps when its end changes.
func slotOf(in service.Inbox) slot {
	if in.Partition != 0 {
		return slot(in.Partition)
	}
	seconds := in.ExpiresAt.Unix()
	if in.ExpiresAt.Sub(in.CreatedAt) <= maxHourly {
		return slot(seconds / 3600)
	}
	return slot(-seconds / (24 * 3600))
}

// ends returns the instant at which the last inbox in it has expired, unless one is extended, see putOff.
func (s slot) ends() time.Time {
	if s >= 0 {
		return time.Unix((int64(s)+1)*3600, 0).UTC()
	}
	return time.Unix((1-int64(s))*24*3600, 0).UTC()
}

// table returns the name of its partition of the messages.
func (s slot) table() string {
	if s >= 0 {
		return time.Unix(int64(s)*3600, 0).UTC().Format("messages_h20060102_15")
	}
	return time.Unix(-int64(s)*24*3600, 0).UTC().Format("messages_d20060102")
}

// ensureSlot creates the table of a slot if it does not exist.
func (s *Store) ensureSlot(ctx context.Context, n slot) error {
	if _, known := s.slots.Load(n); known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// Asked first, since a slot can be created only while all servers are there.
	exists, err := query(ctx, s.pool, pgx.RowTo[slot], "SELECT slot FROM slots WHERE slot = $1", int32(n))
	if err != nil {
		return s.failure(ctx, s.pool, err)
	}
	if len(exists) == 0 {
		err = s.transact(ctx, s.coordinator, func(ctx context.Context, tx pgx.Tx) error { return createSlot(ctx, tx, n) })
	}
	if err == nil {
		s.slots.Store(n, true)
	}
	return err
}

// vacuumDeletedOnly are settings of a slot's tables that avoid useless work: a vacuum after inserts
// would read and write all rows again, though they are dropped soon, and no plan depends on
// statistics.
const vacuumDeletedOnly = "autovacuum_vacuum_insert_threshold = -1, toast.autovacuum_vacuum_insert_threshold = -1, " +
	"autovacuum_analyze_threshold = 2147483647"

func createSlot(ctx context.Context, tx pgx.Tx, n slot) error {
	// Another process that creates the slot waits here.
	inserted, err := tx.Exec(ctx, "INSERT INTO slots (slot, ends_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", int32(n), n.ends())
	if err != nil || inserted.RowsAffected() == 0 {
		return err
	}
	// Creating a table and then attaching it does not block the use of its parent. The constraint
	// saves the search for rows that do not belong in it.
	_, err = tx.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (LIKE messages INCLUDING ALL, CHECK (slot = %d)) WITH (%s)", n.table(), n, vacuumDeletedOnly))
	if err == nil {
		_, err = tx.Exec(ctx, fmt.Sprintf("ALTER TABLE messages ATTACH PARTITION %s FOR VALUES IN (%d)", n.table(), n))
	}
	return err
}

// How many slots are created ahead, and how often: those of the inboxes that can be created until
// the next time, and on a Citus cluster for a day, since it creates no tables while shards are moved
// or a server is down.
const (
	aheadHours    = 26
	aheadDays     = 32
	aheadOnCitus  = 24
	aheadInterval = 10 * time.Minute
)

// runSlotsAhead creates slots ahead, so that creating an inbox does not have to wait for tables.
func (s *Store) runSlotsAhead() {
	for {
		if err := s.createSlotsAhead(time.Now()); err != nil && s.ctx.Err() == nil {
			s.log.Warn("the tables for future messages could not be created, trying again later", "error", err)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(aheadInterval):
		}
	}
}

func (s *Store) createSlotsAhead(now time.Time) error {
	var ahead []slot
	hours := aheadHours
	if s.citus {
		hours += aheadOnCitus
	}
	for h := range hours {
		ahead = append(ahead, slot(now.Unix()/3600)+slot(h))
	}
	for d := range aheadDays {
		ahead = append(ahead, slot(-now.Unix()/(24*3600))-slot(d))
	}
	for _, n := range ahead {
		if err := s.ensureSlot(s.ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// dropAfter is how long the tables of a slot stay after its end: longer than the clocks of two
// processes differ.
const dropAfter = time.Hour

// dropSlots drops the tables of slots that were over at now and have no inbox left. Of a slot with inboxes
// that were extended it removes the other messages, row by row, and puts off its end. It only blocks
// what reads from such a slot. A slot that is in use for long, such as by a backup, is left for the
// next time.
func (s *Store) dropSlots(ctx context.Context, conn *pgxpool.Conn, now time.Time) error {
	over := now.Add(-dropAfter)
	next, err := s.nextExpiry(ctx)
	if err != nil {
		return err
	}
	if !next.IsZero() && next.Before(over) {
		over = next
	}
	slots, err := query(ctx, s.pool, pgx.RowTo[slot], "SELECT slot FROM slots WHERE ends_at <= $1 ORDER BY ends_at", over)
	for _, n := range slots {
		var kept bool
		if kept, err = s.putOff(ctx, conn, n); err == nil && !kept {
			s.slots.Delete(n)
			err = s.dropSlot(ctx, conn, n)
		}
		if err != nil {
			err = fmt.Errorf("drop the table %s: %w", n.table(), err)
			break
		}
	}
	if sqlState(err) == stateLocked {
		return nil
	}
	return err
}

// putOff lets a slot end with the last of its inboxes, and removes the messages of others. It reports false
// if there are no inboxes, whatever happens meanwhile: one that has expired is not extended.
func (s *Store) putOff(ctx context.Context, conn *pgxpool.Conn, n slot) (kept bool, err error) {
	var end *time.Time
	err = conn.QueryRow(ctx, "SELECT max(expires_at) FROM inboxes WHERE slot = $1", int32(n)).Scan(&end)
	if err != nil || end == nil {
		return false, err
	}
	_, err = conn.Exec(ctx, "DELETE FROM "+n.table()+" m WHERE NOT EXISTS (SELECT 1 FROM inboxes i WHERE i.key_id = m.key_id AND i.id = m.inbox_id)")
	if err == nil {
		_, err = conn.Exec(ctx, "UPDATE slots SET ends_at = $2 WHERE slot = $1", int32(n), *end)
	}
	return true, err
}

// dropSlot drops the table of a slot, or completes what an interrupted call has begun.
func (s *Store) dropSlot(ctx context.Context, conn *pgxpool.Conn, n slot) error {
	if !s.citus { // which cannot detach concurrently
		if err := detach(ctx, conn, n.table()); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// Others wait behind it for the table that it is a partition of, unless it was detached.
		_, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '500ms'")
		if err == nil {
			_, err = tx.Exec(ctx, "DROP TABLE IF EXISTS "+n.table())
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "DELETE FROM deleted WHERE slot = $1", int32(n))
	if err == nil {
		_, err = conn.Exec(ctx, "DELETE FROM slots WHERE slot = $1", int32(n))
	}
	return err
}

// detach makes a partition of the messages a table of its own, if it is not yet one.
func detach(ctx context.Context, conn *pgxpool.Conn, table string) error {
	if err := finishDetaching(ctx, conn); err != nil {
		return err
	}
	var attached bool
	err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1))", table).Scan(&attached)
	if err == nil && attached {
		_, err = conn.Exec(ctx, "ALTER TABLE messages DETACH PARTITION "+table+" CONCURRENTLY")
	}
	return err
}

// finishDetaching completes the detaching of a partition that was interrupted. Until then no other
// partition can be detached.
func finishDetaching(ctx context.Context, conn *pgxpool.Conn) error {
	var table string
	err := conn.QueryRow(ctx, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass('messages') AND inhdetachpending").Scan(&table)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = conn.Exec(ctx, "ALTER TABLE messages DETACH PARTITION "+table+" FINALIZE")
	}
	return err
}
