package cli

import (
	"github.com/spf13/cobra"

	"mayfly/message"
	"mayfly/render"
	"mayfly/server"
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
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			ctx := cmd.Context()
			return administerExisting(ctx, *store, func(admin *server.Admin) error {
				if len(args) == 0 {
					list, err := admin.Postmaster(ctx)
					if err != nil {
						return err
					}
					return a.listPostmaster(list, f.json)
				}
				raw, err := admin.PostmasterRaw(ctx, args[0])
				if service.ErrorCode(err) == service.NotFound {
					return notFoundf("`mayfly admin postmaster` lists them", "there is no such message for the postmaster")
				}
				if err != nil {
					return err
				}
				return f.show(ctx, a, message.File(args[0], "eml", string(raw)))
			})
		},
	}
	f = a.viewFlags(cmd)
	return cmd
}

func (a *app) listPostmaster(list []server.PostmasterMessage, asJSON bool) error {
	var rows [][]string
	for _, m := range list {
		if asJSON {
			if err := writeJSON(a.env.Stdout, m); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{m.ID, m.ReceivedAt.UTC().Format("2006-01-02T15:04:05Z"), render.Clean(m.From), render.Clean(m.Subject)})
	}
	return a.table(a.env.Stdout, rows)
}
