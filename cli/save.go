package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/letter"
	"mayfly/render"
	"mayfly/save"
)

func (a *app) saveCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "save [INBOX] [MESSAGE]",
		Short: "Save a message and its attachments to files",
		Long: "Save a message and its attachments to files, and print their names. The names are made safe, and no file is written over. " +
			"Where the service does not give the raw message, its text and HTML are saved.",
		Example:           "mayfly save\nmayfly save quiet-otter --dir mails",
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, inbox, l, err := a.letter(ctx, args)
			if err != nil {
				return err
			}
			files, err := a.attachments(cmd, s, inbox.ID, l)
			if err != nil {
				return err
			}
			paths, err := saveLetter(dir, l, files)
			for _, path := range paths {
				fmt.Fprintln(a.env.Stdout, render.Clean(path))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "folder to save to; it is made when it is not there")
	return cmd
}

// attachments are the attachments of a letter: out of its raw form, else asked for one by one. What the service does not
// give is told and left out.
func (a *app) attachments(cmd *cobra.Command, s *connection, inboxID string, l letter.Letter) ([]save.File, error) {
	var files []save.File
	if l.Raw != nil {
		for _, part := range l.Content().Attachments {
			files = append(files, save.File{Name: part.Filename, Content: part.Content})
		}
		return files, nil
	}
	for _, part := range l.Message.Attachments {
		content, err := s.client.AttachmentContent(cmd.Context(), inboxID, l.Message.ID, part)
		if errors.Is(err, api.ErrUnsupported) {
			fmt.Fprintf(a.env.Stderr, "mayfly: the service does not give the content of %s\n", render.Clean(part.Filename))
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, save.File{Name: part.Filename, Content: content})
	}
	return files, nil
}

// saveLetter writes the files and returns the paths of those it wrote.
func saveLetter(dir string, l letter.Letter, attachments []save.File) ([]string, error) {
	if l.Raw == nil {
		paths, err := save.Bodies(dir, l.Message.Subject, l.Message.Text, l.Message.HTML)
		if err != nil {
			return paths, err
		}
		files, err := save.Attachments(dir, attachments, nil)
		return append(paths, files...), err
	}
	path, err := save.Message(dir, l.Raw, l.Message.Subject)
	if err != nil {
		return nil, err
	}
	paths, err := save.Attachments(dir, attachments, nil)
	return append([]string{path}, paths...), err
}
