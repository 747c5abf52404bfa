package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
)

func (a *app) saveCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "save [INBOX] [MESSAGE]",
		Short: "Save a message and its attachments to files",
		Long: "Save a message and its attachments to files, and print their names. Names are made safe, and no file is overwritten. " +
			"If the service has no raw message, its text and HTML are saved instead.",
		Example:           "mayfly save\nmayfly save quiet-otter --dir mails",
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, m, err := a.message(ctx, args)
			if err != nil {
				return err
			}
			contents, err := a.attachments(ctx, s, m)
			if err != nil {
				return err
			}
			paths, err := m.Save(dir)
			for i := 0; i < len(m.Attachments) && err == nil; i++ {
				content, ok := contents[i]
				if !ok {
					continue
				}
				var path string
				if path, err = m.SaveAttachment(dir, i, content); err == nil {
					paths = append(paths, path)
				}
			}
			for _, path := range paths {
				fmt.Fprintln(a.env.Stdout, render.Clean(path))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "`folder` to save to, created if it does not exist")
	return cmd
}

// attachments returns the contents of a message's attachments by index, without those that the
// service does not provide.
func (a *app) attachments(ctx context.Context, s *connection, m *message.Message) (map[int][]byte, error) {
	contents := map[int][]byte{}
	for i, part := range m.Attachments {
		content, err := m.AttachmentContent(ctx, s.client, i)
		if errors.Is(err, api.ErrUnsupported) {
			fmt.Fprintf(a.env.Stderr, "mayfly: the service has no content for %s\n", render.CleanName(part.Filename))
			continue
		}
		if err != nil {
			return nil, err
		}
		contents[i] = content
	}
	return contents, nil
}
