package cli

import (
	"context"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/internal/server"
	"mayfly/render"
	"mayfly/service"
)

func (a *app) adminPostmasterCommand(store *string) *cobra.Command {
	var f *viewFlags
	cmd := &cobra.Command{
		Use:   "postmaster [MESSAGE]",
		Short: "List the mail for the postmaster, or show one",
		Long: "List the mail that came for the postmaster of the service's domains, newest first: ID, time, sender and subject, separated by tabs in a pipe. " +
			"With an ID, show that message. Each is kept for 14 days. With --catch-all this mail belongs to the catch-all key.",
		Example: `mayfly admin postmaster
mayfly admin postmaster msg_01 --view raw > report.eml`,
		Args:    atMost(1),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return f.check(cmd) },
		RunE: a.administerExisting(store, func(ctx context.Context, admin server.Admin, args []string) error {
			if len(args) == 0 {
				mail, err := admin.Postmaster(ctx)
				if err != nil {
					return err
				}
				return list(a, mail, f.json, func(m server.PostmasterMessage) []string {
					return []string{m.ID, m.ReceivedAt.UTC().Format("2006-01-02T15:04:05Z"), render.Clean(m.From), render.Clean(m.Subject)}
				})
			}
			raw, err := admin.PostmasterRaw(ctx, args[0])
			if service.ErrorCode(err) == service.NotFound {
				return notFoundf("`mayfly admin postmaster` lists them", "there is no such message for the postmaster")
			}
			if err != nil {
				return err
			}
			return f.show(ctx, a, message.File(args[0], "eml", string(raw)))
		}),
	}
	f = a.viewFlags(cmd)
	return cmd
}
