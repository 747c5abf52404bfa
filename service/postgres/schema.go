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
const schemaVersion = 1

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed distribute.sql
	distributeSQL string
)

var errOtherSchema = errors.New("its tables are not of this version, or it has become a Citus cluster since: name an empty database")

// makeSchema makes the tables of an empty database, on a Citus cluster distributed ones. A database
// that has others is refused.
func makeSchema(ctx context.Context, pool *pgxpool.Pool, citus bool) error {
	if err := pool.AcquireFunc(ctx, checkEncoding); err != nil {
		return err
	}
	if made, err := checkSchema(ctx, pool, citus); err != nil || made {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Another process that makes them waits here.
		_, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
			SELECT pg_advisory_xact_lock(hashtext(concat(current_schema(), '.mayfly.schema')))`)
		if err != nil {
			return err
		}
		if made, err := checkSchema(ctx, tx, citus); err != nil || made {
			return err
		}
		statements := schemaSQL
		if citus {
			statements += distributeSQL
		}
		if _, err := tx.Exec(ctx, statements); err != nil {
			if sqlState(err) == stateTableExists {
				return errOtherSchema
			}
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO schema_version (version, distributed) VALUES ($1, $2)", schemaVersion, citus)
		return err
	})
}

// checkSchema reports whether the database has the schema, which is an error if it is another one.
func checkSchema(ctx context.Context, db interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, citus bool) (bool, error) {
	var exists, same bool
	if err := db.QueryRow(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return false, err
	}
	err := db.QueryRow(ctx, "SELECT version = $1 AND distributed = $2 FROM schema_version", schemaVersion, citus).Scan(&same)
	if err == nil && !same {
		err = errOtherSchema
	}
	return same, err
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
