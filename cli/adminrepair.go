package cli

import (
	"fmt"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"mayfly/internal/server"
	"mayfly/render"
)

func (a *app) adminStoreCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FOLDER",
		Short: "Say what of a store can be read",
		Long: "Read all of the store in a folder, change nothing, and say what is damaged or missing and what can be read. " +
			"No service may be running on it. The exit status is 0 only if all of it is whole.",
		Example: "mayfly admin store check /var/lib/mayfly",
		Args:    exactly(1, "the folder of a store"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := server.CheckStore(cmd.Context(), args[0])
			a.printReport(r, err)
			if err == nil && (len(r.Damage) > 0 || r.LostKeys > 0 || r.LostMessages > 0) {
				err = fmt.Errorf("the store is damaged: restore a backup, or save what is left: mayfly admin store repair %s --to NEW", render.Clean(args[0]))
			}
			return err
		},
	}
}

func (a *app) adminStoreRepair() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "repair FOLDER --to NEW",
		Short: "Save what can be read of a damaged store",
		Long: "Make a new store of what can be read of the store in a folder, which is not changed, and say what is lost. " +
			"No service may be running on it. Messages that were deleted shortly before the damage may be back.",
		Example: "mayfly admin store repair /var/lib/mayfly --to /var/lib/mayfly-repaired",
		Args:    exactly(1, "the folder of a store"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return usagef("--to is required: a new folder")
			}
			r, err := server.RepairStore(cmd.Context(), args[0], to)
			a.printReport(r, err)
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "new `folder` for the store")
	return cmd
}

// printReport prints what is damaged and, unless reading failed, what is whole and what is lost.
func (a *app) printReport(r server.StoreReport, err error) {
	for _, line := range r.Damage {
		fmt.Fprintln(a.env.Stdout, render.Clean(line))
	}
	if err != nil {
		return
	}
	fmt.Fprintf(a.env.Stdout, "whole: %s, %s, %s\n", english.Plural(r.Keys, "key", ""),
		english.Plural(r.Inboxes, "inbox", "inboxes"), english.Plural(r.Messages, "message", ""))
	if r.LostKeys == 0 && r.LostInboxes == 0 && r.LostMessages == 0 && !r.Unknown {
		return
	}
	more := ""
	if r.Unknown {
		more = ", and perhaps more"
	}
	fmt.Fprintf(a.env.Stdout, "lost: %s, %s, %s%s\n", english.Plural(r.LostKeys, "key", ""),
		english.Plural(r.LostInboxes, "inbox", "inboxes"), english.Plural(r.LostMessages, "message", ""), more)
}
