package cli

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man [COMMAND...]",
		Short:   "Print the manual page of a command",
		Long:    "Print the manual page of mayfly or of one of its commands, as roff. With --dir, write all of them to a folder.",
		Example: "mayfly man | man -l -\nmayfly man key set | man -l -\nmayfly man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			header := &doc.GenManHeader{Section: "1", Source: "mayfly " + version(), Manual: "Mayfly", Date: buildTime()}
			if dir != "" {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return fmt.Errorf("making the folder of the manual pages: %w", err)
				}
				return doc.GenManTree(cmd.Root(), header, dir)
			}
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageOf(cmd, "there is no command %q", strings.Join(args, " "))
			}
			return doc.GenMan(topic, header, a.env.Stdout)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write all pages to")
	return cmd
}

// buildTime is the time of the commit this was built from, nil when it is not known.
func buildTime() *time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
			return &t
		}
	}
	return nil
}
