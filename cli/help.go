package cli

import (
	"context"
	"image/color"
	"os"
	"runtime/debug"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
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
