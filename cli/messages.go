package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

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
			"In a pipe: ID, time received, sender, subject and size in bytes, separated by tabs.",
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
			rows[n] = []string{a.localTime(m.ReceivedAt), message.Sender(m.FromName, m.From), render.Clean(m.Subject), render.Clean(m.ID)}
			continue
		}
		rows[n] = []string{render.Clean(m.ID), timestamp(m.ReceivedAt), message.Sender(m.FromName, m.From),
			render.Clean(m.Subject), strconv.FormatInt(m.Size, 10)}
	}
	return rows
}

func (a *app) readCommand() *cobra.Command {
	var f *viewFlags
	shot := screenshotFlags{}
	cmd := &cobra.Command{
		Use:   "read [INBOX] [MESSAGE]",
		Short: "Show a message",
		Long: "Show a message as the application does. Without arguments, this is the newest message of the newest inbox.\n\n" +
			"In a pipe, the views text, html and raw are the message's own bytes, text and html decoded to UTF-8, and only the rich view wraps lines. " +
			"With --width they are laid out as on a terminal, where the headers view begins with the delivery details.",
		Example: `mayfly read
mayfly read quiet-otter
mayfly read quiet-otter msg_01 --view headers
mayfly read --json | jq -r .code
mayfly read --screenshot mail.png --phone`,
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			ctx := cmd.Context()
			s, m, err := a.message(ctx, args)
			if err != nil {
				return err
			}
			m.Rules.DKIMKey = f.key
			if shot.picture != "" {
				return cmp.Or(shot.take(ctx, a, s.client, m, 0), f.verdict(m))
			}
			if f.json || f.view == "headers" && (f.width > 0 || term.Is(a.env.Stdout)) {
				m.AddDelivery(ctx, s.client)
			}
			if m.Raw == nil && (f.view == "raw" || f.view == "headers") {
				fmt.Fprintln(a.env.Stderr, "mayfly: the service has no raw message; this is the rich view")
				f.view = "rich"
			}
			if f.format != "text" {
				err = writeFindings(a.env.Stdout, f.format, examine(m))
			} else {
				err = f.show(ctx, a, m)
			}
			return cmp.Or(err, f.verdict(m))
		},
	}
	f = a.viewFlags(cmd)
	f.imagesFlag(cmd)
	f.failOnFlag(cmd)
	formatFlag(cmd, &f.format, findingsFormat)
	shot.add(cmd)
	return cmd
}

// show shows one message, a page at a time on a terminal.
func (f *viewFlags) show(ctx context.Context, a *app, m *message.Message) error {
	if f.json {
		return f.print(a, a.env.Stdout, m, f.theme(ctx, a))
	}
	theme := f.theme(ctx, a)
	if f.imageMode(a).Protocol.Placed() { // pagers do not let them through
		return f.print(a, a.env.Stdout, m, theme)
	}
	return a.paged(ctx, func(w io.Writer) error { return f.print(a, w, m, theme) })
}

func (a *app) saveCommand() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:   "save [INBOX] [MESSAGE]",
		Short: "Save a message and its attachments to files",
		Long: "Save a message and its attachments to files, and print the file names. Names are sanitised, and no file is overwritten; a file with the same content is used again. " +
			"If the service has no raw message, its text and HTML are saved instead.\n\n" +
			"With - as first argument, write them to standard output instead, as a tar archive.",
		Example:           "mayfly save\nmayfly save quiet-otter --dir mails\nmayfly save - quiet-otter | tar x",
		Args:              atMost(3),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			archive := len(args) > 0 && args[0] == "-"
			switch {
			case archive && term.Is(a.env.Stdout):
				return withNext(usagef("an archive is not for a terminal"), "pipe it, as in `mayfly save - | tar x`")
			case archive:
				args = args[1:]
			case a.visit != nil:
				return withNext(usagef("no files are saved on the machine of the service"), "`mayfly save - | tar x` saves them on yours")
			case len(args) > 2:
				return atMost(2)(cmd, args)
			}
			s, m, err := a.message(ctx, args)
			if err != nil {
				return err
			}
			contents, err := a.attachments(ctx, s, m)
			if err != nil {
				return err
			}
			if archive {
				return writeArchive(a.env.Stdout, m, contents)
			}
			files, err := m.Save(dir)
			for i := 0; i < len(m.Attachments) && err == nil; i++ {
				content, ok := contents[i]
				if !ok {
					continue
				}
				var file message.Saved
				if file, err = m.SaveAttachment(dir, i, content); err == nil {
					files = append(files, file)
				}
			}
			for _, file := range files {
				fmt.Fprintln(a.env.Stdout, render.Clean(file.Path))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "`directory` to save to, created if it does not exist")
	return cmd
}

// attachments returns the contents of a message's attachments by index, without those that the
// service does not provide.
func (a *app) attachments(ctx context.Context, s *connection, m *message.Message) (map[int][]byte, error) {
	contents := map[int][]byte{}
	for i, part := range m.Attachments {
		got, err := m.Attachment(ctx, s.client, i)
		if errors.Is(err, api.ErrUnsupported) {
			fmt.Fprintf(a.env.Stderr, "mayfly: the service has no content for %s\n", render.CleanName(part.Filename))
			continue
		}
		if err != nil {
			return nil, err
		}
		contents[i] = got.Content
	}
	return contents, nil
}

func (a *app) releaseCommand() *cobra.Command {
	var to []string
	cmd := &cobra.Command{
		Use:   "release [INBOX] [MESSAGE]",
		Short: "Release a message through the service's relay",
		Long: "Release a message, as it was received, to addresses that the service allows, and return once its relay has accepted the message for all of them. " +
			"A service has no relay unless its operator sets one up; see `mayfly help relay`.",
		Example:           "mayfly release --to qa@example.com\nmayfly release quiet-otter msg_01 --to qa@example.com --to dev@example.com",
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(to) == 0 {
				return usagef("missing recipient: use --to ADDRESS")
			}
			ctx := cmd.Context()
			s, inbox, m, err := a.summary(ctx, args)
			if err != nil {
				return err
			}
			if err := s.release(ctx, inbox, m, to); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.env.Stderr, "sent %s to %s\n", render.Clean(m.ID), render.Clean(strings.Join(to, ", ")))
			return err
		},
	}
	cmd.Flags().StringArrayVar(&to, "to", nil, "`address` to release to; can be repeated")
	completeFlag(cmd, "to", cobra.NoFileCompletions)
	return cmd
}

// release releases a message. Its error has the next step if there is no relay.
func (s *connection) release(ctx context.Context, inbox api.Inbox, m api.Summary, to []string) error {
	err := s.client.Release(ctx, inbox.ID, m.ID, to)
	switch local := s.session != nil; {
	case errors.Is(err, api.ErrUnsupported) && local:
		return withNext(errors.New("the local service has no relay"), "set one up under [relay] in config.toml, then `mayfly down`")
	case errors.Is(err, api.ErrUnsupported):
		return withNext(errors.New("the service has no relay"), "only its operator can set one up")
	case errors.Is(err, api.ErrForbidden) && local:
		return withNext(err, "add it to allow under [relay] in config.toml, then `mayfly down`")
	case errors.Is(err, api.ErrForbidden):
		return withNext(err, "only the operator of the service can allow it")
	}
	return err
}
