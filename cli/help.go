package cli

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"runtime/debug"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"
)

// help shows the help of cmd through Fang. Fang is asked for nothing else: for an error it would first ask the terminal
// for its colours, and wait for the answer.
func (a *app) help(ctx context.Context, cmd *cobra.Command) error {
	root := (&app{env: a.env}).root()
	path := strings.Fields(cmd.CommandPath())[1:]
	root.SetArgs(append(path, "--help"))
	if isTerminal(a.env.Stdout) {
		// Fang asks the terminal for its background, for seconds where there is no answer, unless os.Stdin is no
		// terminal. The colours below need no answer.
		if null, err := os.Open(os.DevNull); err == nil {
			defer func(stdin *os.File) { os.Stdin = stdin; null.Close() }(os.Stdin)
			os.Stdin = null
		}
	}
	return fang.Execute(ctx, root, fang.WithoutManpage(), fang.WithoutVersion(), fang.WithColorSchemeFunc(helpColors))
}

// helpColors are colours of the terminal's own palette that can be read on any background.
func helpColors(lipgloss.LightDarkFunc) fang.ColorScheme {
	plain := lipgloss.NoColor{}
	return fang.ColorScheme{
		Base: plain, Title: lipgloss.Blue, Description: plain, Comment: plain,
		Flag: lipgloss.Magenta, FlagDefault: plain, Command: lipgloss.Cyan, Program: lipgloss.Blue,
		QuotedString: lipgloss.Green, Argument: plain, DimmedArgument: plain, Help: plain, Dash: plain,
		Codeblock: plain, ErrorHeader: [2]color.Color{plain, plain}, ErrorDetails: plain,
	}
}

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man",
		Short:   "Print the manual page",
		Long:    "Print the manual page of mayfly and its commands, as roff.",
		Example: "mayfly man | man -l -\nmayfly man > /usr/local/share/man/man1/mayfly.1",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			page, err := mango.NewManPage(1, cmd.Root())
			if err != nil {
				return fmt.Errorf("building the manual page: %w", err)
			}
			_, err = fmt.Fprintln(a.env.Stdout, page.Build(roff.NewDocument()))
			return err
		},
	}
}

// version is the module's version, else the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "built from " + s.Value[:12]
		}
	}
	return "built from source"
}
