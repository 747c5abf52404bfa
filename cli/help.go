package cli

import (
	"context"
	"image/color"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"mayfly/manual"
	"mayfly/term"
	"mayfly/ui/theme"
)

// maxProse is the width in cells beyond which prose is hard to read.
const maxProse = 100

// helpCommand shows the manual. Cobra's own help command knows commands only.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [TOPIC | COMMAND]",
		Short:   "Show a page of the manual, or the help of a command",
		Long:    "Show a page of the manual, or the help of a command. Without either, list both.",
		Example: "mayfly help ci\nmayfly help key set",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isTopic(args[0]) {
				return a.manualPage(cmd.Context(), args[0])
			}
			target, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0 && target.HasParent():
				return unknownCommand(target, rest[0])
			case len(rest) > 0:
				return unknownTopic(target, rest[0])
			}
			return a.help(cmd.Context(), target)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			children := target.Commands()
			if len(args) == 0 {
				children = append(children, topicCommands()...)
			}
			var words []cobra.Completion
			for _, c := range children {
				if !c.Hidden && strings.HasPrefix(c.Name(), start) {
					words = append(words, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func isTopic(name string) bool {
	return slices.ContainsFunc(manual.Topics(), func(t manual.Topic) bool { return t.Name == name })
}

// topicCommands are the topics as commands, to be listed beside them.
func topicCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, t := range manual.Topics() {
		commands = append(commands, &cobra.Command{
			Use:   t.Name,
			Short: strings.TrimSuffix(t.Summary, "."),
			Run:   func(*cobra.Command, []string) {},
		})
	}
	return commands
}

// unknownTopic suggests the topics and commands with names like the one asked for, else lists the
// topics.
func unknownTopic(root *cobra.Command, name string) error {
	topics := &cobra.Command{}
	topics.AddCommand(topicCommands()...)
	if near := append(like(topics, name), like(root, name)...); len(near) > 0 {
		return usageOf(root, "no command or help topic is called %q, did you mean %s?", name, strings.Join(near, " or "))
	}
	var names []string
	for _, t := range topics.Commands() {
		names = append(names, t.Name())
	}
	return usageOf(root, "no command or help topic is called %q; the topics are %s", name, strings.Join(names, ", "))
}

// manualPage writes a page of the manual, through the pager where there is one.
func (a *app) manualPage(ctx context.Context, topic string) error {
	lines, err := manual.Render(topic, min(a.columns(), maxProse), a.manualStyle())
	if err != nil {
		return err
	}
	return a.page(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}

func (a *app) manualStyle() manual.Style {
	profile := a.colorProfile()
	if profile < colorprofile.ANSI {
		return manual.Style{}
	}
	chosen, err := theme.Load(a.config().UI.Theme, a.darkBackground(), profile)
	if err != nil {
		return manual.Style{Profile: profile}
	}
	c := chosen.Colors
	return manual.Style{Profile: profile, Accent: c.Accent, Dim: c.Dim, Code: c.Code, Link: c.Link}
}

// help shows the help of cmd through Fang. Fang is asked for nothing else: for an error it would
// first ask the terminal for its colours, and wait for the answer.
func (a *app) help(ctx context.Context, cmd *cobra.Command) error {
	root := (&app{env: a.env}).root()
	if !cmd.HasParent() {
		addGroup(root, "help topics", topicCommands()...)
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	root.SetArgs(append(path, "--help"))
	if term.Is(a.env.Stdout) {
		// Fang asks the terminal for its background, for seconds where there is no answer, unless
		// os.Stdin is no terminal. The colours below need no answer.
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
