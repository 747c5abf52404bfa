package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schemaVersion changes with the files.
const schemaVersion = 7

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed distribute.sql
	distributeSQL string
)

var errOtherSchema = errors.New("its tables are not of this version, or it has become a Citus cluster since: name an empty database")

// makeSchema creates the tables of an empty database, on a Citus cluster distributed ones. A database
// that has others is refused. The coordinator may be down, unless it has to create them.
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
	// They may be those that another process has just created, which other servers may not have yet.
	if made, err = checkSchema(ctx, s.coordinator, s.citus); err == nil && !made {
		err = errOtherSchema
	}
	return err
}

func createTables(ctx context.Context, tx pgx.Tx, citus bool) error {
	statements := []string{ // one by one: Citus sends all that comes with a SET to every server
		"SET LOCAL statement_timeout = 0",
		"SET LOCAL lock_timeout = 0",
		// Another process that creates them waits here.
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
		return fmt.Errorf("its encoding is %s: create one with ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
}
