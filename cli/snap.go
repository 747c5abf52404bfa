package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/internal/files"
	"mayfly/internal/message"
	"mayfly/internal/snapshot"
	"mayfly/render"
	"mayfly/render/check"
)

func (a *app) snapCommand() *cobra.Command {
	var o snapshot.Options
	var format string
	cmd := &cobra.Command{
		Use:   "snap NAME [INBOX] [MESSAGE]",
		Short: "Compare a message with its snapshot",
		Long: "Compare a message that arrived with NAME.txt, a text file to be committed: the header fields that a reader sees, the text, links, attachments and " +
			"the findings of the checks. What differs from run to run is masked: «code», «token», «date», «time», «id», «inbox» and the like.\n\n" +
			"If the message differs, the differences are printed word by word, and the exit status is 1. --update accepts them. A snapshot that does not exist is " +
			"created; where the variable CI is set on this machine, that fails. When it exits, `mayfly exec` prints which snapshots of the directory no test used.\n\n" +
			"Over SSH, the snapshot is read from standard input, and a new one is printed: with --update, or if there is none.",
		Example: "mayfly wait \"$ADDRESS\" >/dev/null && mayfly snap signup \"$ADDRESS\"\nmayfly snap signup --update",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 3 {
				return usagef("`%s` needs a name, and at most an inbox and a message", cmd.CommandPath())
			}
			return noneEmpty(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, inbox, summary, err := a.summary(cmd.Context(), args[1:])
			if err != nil {
				return err
			}
			m, err := message.Fetch(cmd.Context(), s.client, inbox.ID, summary.ID)
			if err != nil {
				return err
			}
			m.Rules = s.rules
			o.CI, o.State = a.env.Getenv("CI") != "", a.env.Getenv(stateVariable)
			file, written, text := args[0], false, snapshot.Text(m, inbox.Email)
			if a.visit == nil {
				file, written, err = snapshot.Check(args[0], text, o)
			} else {
				err = a.compareInput(file, text, o.Update)
			}
			var differs *snapshot.Mismatch
			result := examined{file: filepath.ToSlash(file), name: args[0], by: "snapshot"}
			if err != nil {
				result.findings = []check.Finding{{ID: "snapshot", Level: check.Error, Message: err.Error()}}
			} else if written {
				fmt.Fprintf(a.env.Stderr, "mayfly: wrote %s\n", render.Clean(file))
			}
			if errors.As(err, &differs) {
				result.findings[0].Line = differs.Line
				first, _, _ := strings.Cut(err.Error(), ":\n")
				err = withNext(errors.New(first), "`mayfly snap --update` accepts it")
				if format == "text" {
					fmt.Fprintln(a.env.Stdout, differs.Words)
				}
			}
			if format != "text" {
				err = cmp.Or(writeFindings(a.env.Stdout, format, result), err)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&o.Dir, "dir", "mails", "`directory` of the snapshots")
	cmd.Flags().BoolVar(&o.Update, "update", false, "accept the message as it is")
	formatFlag(cmd, &format, "`format` of what is printed: text, or the difference as github (annotation), sarif or junit")
	return cmd
}

// compareInput compares a text with the snapshot on standard input, since a session has no files. A new one is printed.
func (a *app) compareInput(name, text string, update bool) error {
	var kept []byte
	if !update && a.visit.terminal == nil {
		var err error
		if kept, err = files.ReadAll(a.env.Stdin, snapshot.MaxBytes); err != nil {
			return fmt.Errorf("read the snapshot: %w", err)
		}
	}
	if len(kept) == 0 {
		_, err := io.WriteString(a.env.Stdout, text)
		return err
	}
	return snapshot.Compare(name, string(kept), text)
}
