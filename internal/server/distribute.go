package server

import (
	"context"
	"errors"
	"log/slog"

	"mayfly/service/postgres"
)

// DistributeStore distributes the tables of a database over the workers of its Citus cluster, each
// over a number of shards. Nothing else may use the database meanwhile. It can be repeated, and must
// be if it was interrupted. The log gets each thing that it has done.
func DistributeStore(ctx context.Context, database string, shards int, log *slog.Logger) error {
	if !isDatabase(database) {
		return errors.New("only a database can be distributed: --store postgres://user@coordinator/database")
	}
	if err := checkStore(database); err != nil {
		return err
	}
	return postgres.Distribute(ctx, database, shards, log)
}
