package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mayfly/internal/message"
	"mayfly/internal/term"
)

func (a *app) readCommand() *cobra.Command {
	var f *viewFlags
	cmd := &cobra.Command{
		Use:   "read [INBOX] [MESSAGE]",
		Short: "Show a message",
		Long:  "Show a message as the application does: without arguments, the newest message of the newest inbox.",
		Example: `mayfly read
mayfly read quiet-otter
mayfly read quiet-otter msg_01 --view headers
mayfly read --json | jq -r .code`,
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			ctx := cmd.Context()
			_, m, err := a.message(ctx, args)
			if err != nil {
				return err
			}
			if m.Raw == nil && (f.view == "raw" || f.view == "headers") {
				fmt.Fprintln(a.env.Stderr, "mayfly: the service has no raw message; this is the rich view")
				f.view = "rich"
			}
			return f.show(ctx, a, m)
		},
	}
	f = a.viewFlags(cmd)
	f.imagesFlag(a, cmd)
	return cmd
}

// show shows one message, a page at a time on a terminal.
func (f *viewFlags) show(ctx context.Context, a *app, m *message.Message) error {
	if f.json {
		return f.print(a, a.env.Stdout, m, f.theme(ctx, a))
	}
	if f.view == "raw" && !term.Is(a.env.Stdout) {
		_, err := a.env.Stdout.Write(m.Raw)
		return err
	}
	theme := f.theme(ctx, a)
	if f.imageMode(a).Protocol.Placed() { // pagers do not let them through
		return f.print(a, a.env.Stdout, m, theme)
	}
	return a.paged(ctx, func(w io.Writer) error { return f.print(a, w, m, theme) })
}
