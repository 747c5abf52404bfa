package cli

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"mayfly/internal/server"
)

func (a *app) adminStoreCommand(store *string) *cobra.Command {
	return group(&cobra.Command{
		Use:     "store",
		Short:   "Check, repair, move and distribute a store",
		Example: "mayfly admin store check ./store",
	}, a.adminStoreCheck(), a.adminStoreRepair(), a.adminStoreCopy(), a.adminStoreDistribute(store))
}

func (a *app) adminStoreCopy() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "copy --from FOLDER --to URL",
		Short: "Copy a live store from a folder to a database",
		Long: "Copy the store in a folder, even while it is being served, to an empty database. A second run copies only what has changed since. " +
			"To move a store: run this, stop the service, run this again, and serve the database. The password can be in the file that PGPASSFILE names.",
		Example: "mayfly admin store copy --from ./store --to postgres://mayfly@db.example/mayfly",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return usagef("--from and --to are required")
			}
			begun := time.Now()
			var state atomic.Pointer[server.Copied]
			state.Store(&server.Copied{})
			stop := a.progress(cmd.Context(), func() string {
				c := state.Load()
				return fmt.Sprintf("copying · %s inboxes · %s messages", humanize.Comma(int64(c.Inboxes)), humanize.Comma(int64(c.Messages)))
			})
			defer stop()
			c, err := server.CopyStore(cmd.Context(), from, to, func(c server.Copied) { state.Store(&c) })
			stop()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.env.Stderr, "the database has %s and %s; %s copied and %s removed in %s\n",
				english.Plural(c.Keys, "key", ""), english.Plural(c.Inboxes, "inbox", "inboxes"),
				english.Plural(c.Messages, "message", ""), english.Plural(c.Removed, "inbox", "inboxes"),
				time.Since(begun).Round(100*time.Millisecond))
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`folder` of the store")
	cmd.Flags().StringVar(&to, "to", "", "`URL` of the database: postgres://user@host/database")
	return cmd
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
