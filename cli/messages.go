package cli

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/internal/term"
	"mayfly/render"
)

func (a *app) messagesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "messages [INBOX]",
		Short: "List the messages of an inbox",
		Long: "List the messages of an inbox, newest first. " +
			"In a pipe: ID, time of receipt, sender, subject and size in bytes, separated by tabs.",
		Example:           "mayfly messages\nmayfly messages quiet-otter\nmayfly messages --json | jq '.messages[].subject'",
		Args:              atMost(1),
		ValidArgsFunction: a.completeInbox,
		RunE: a.connected(func(ctx context.Context, s *connection, args []string) error {
			inbox, err := s.inbox(ctx, argument(args, 0))
			if err != nil {
				return err
			}
			list, err := s.client.Messages(ctx, inbox.ID)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.env.Stdout, asReceived(list.Raw, list))
			}
			return a.paged(ctx, func(w io.Writer) error { return a.table(w, a.messageRows(list.Messages)) })
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func (a *app) messageRows(messages []api.Summary) [][]string {
	rows := make([][]string, len(messages))
	for n, m := range messages {
		if term.Is(a.env.Stdout) {
			rows[n] = []string{localTime(m.ReceivedAt), message.Sender(m.FromName, m.From), render.Clean(m.Subject), render.Clean(m.ID)}
			continue
		}
		rows[n] = []string{render.Clean(m.ID), timestamp(m.ReceivedAt), message.Sender(m.FromName, m.From),
			render.Clean(m.Subject), strconv.FormatInt(m.Size, 10)}
	}
	return rows
}
