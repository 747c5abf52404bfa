package cli

import (
	"github.com/spf13/cobra"

	"mayfly/internal/server"
)

func (a *app) adminStoreCommand(store *string) *cobra.Command {
	return group(&cobra.Command{
		Use:     "store",
		Short:   "Distribute a store",
		Example: "mayfly admin store distribute --store postgres://mayfly@coordinator.example/mayfly",
	}, a.adminStoreDistribute(store))
}

// maxShards bounds the number of tables: each shard has all partitions.
const maxShards = 1024

func (a *app) adminStoreDistribute(store *string) *cobra.Command {
	var shards int
	cmd := &cobra.Command{
		Use:   "distribute --store URL",
		Short: "Distribute a database over the nodes of a Citus cluster",
		Long: "Distribute the tables of a database, empty or not, over the workers of a Citus cluster, so that all that belongs to an API key is on one of them. " +
			"The URL names the coordinator. Stop the service on all machines first. Versions of mayfly without this command cannot use the database afterwards, " +
			"and there is no way back but a backup. If it is interrupted, run it again.",
		Example: "mayfly admin store distribute --store postgres://mayfly@coordinator.example/mayfly",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if shards < 1 || shards > maxShards {
				return usagef("--shards %d: want 1 to %d", shards, maxShards)
			}
			return server.DistributeStore(cmd.Context(), *store, shards, a.adminLog())
		},
	}
	cmd.Flags().IntVar(&shards, "shards", 32, "`number` of parts of each table, which cannot be changed easily: several times as many as there will be workers")
	return cmd
}
