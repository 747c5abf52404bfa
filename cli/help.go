package cli

import (
	"context"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"mayfly/manual"
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
			target, err := findCommand(cmd.Root(), args)
			if err != nil {
				return err
			}
			return a.page(cmd.Context(), func(w io.Writer) error { return a.help(w, target) })
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			children := target.Commands()
			if len(args) == 0 {
				children = append(children, slices.DeleteFunc(topicCommands(), func(t *cobra.Command) bool {
					return slices.ContainsFunc(children, func(c *cobra.Command) bool { return c.Name() == t.Name() })
				})...)
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

// findCommand returns the command that args name.
func findCommand(root *cobra.Command, args []string) (*cobra.Command, error) {
	target, rest, err := root.Find(args)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0 && target.HasParent():
		return nil, unknownCommand(target, rest[0])
	case len(rest) > 0:
		return nil, unknownTopic(target, rest[0])
	}
	return target, nil
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
	unknown := usageOf(root, "no command or help topic is called %q", name)
	if near := append(like(topics, name), like(root, name)...); len(near) > 0 {
		return withNext(unknown, "did you mean "+strings.Join(near, " or ")+"?")
	}
	var names []string
	for _, t := range topics.Commands() {
		names = append(names, t.Name())
	}
	return withNext(unknown, "the topics are "+strings.Join(names, ", "))
}

// manualPage writes a page of the manual, through the pager where there is one.
func (a *app) manualPage(ctx context.Context, topic string) error {
	lines, err := manual.Render(topic, min(a.columns(), maxProse), a.manualStyle(ctx))
	if err != nil {
		return err
	}
	return a.page(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}

func (a *app) manualStyle(ctx context.Context) manual.Style {
	profile := a.colorProfile()
	if profile < colorprofile.ANSI {
		return manual.Style{}
	}
	chosen, err := theme.Load(a.config().UI.Theme, a.darkBackground(ctx, profile), profile)
	if err != nil {
		return manual.Style{Profile: profile}
	}
	c := chosen.Colors
	return manual.Style{Profile: profile, Accent: c.Accent, Dim: c.Dim, Code: c.Code, Link: c.Link}
}

// help writes the help of cmd.
func (a *app) help(w io.Writer, cmd *cobra.Command) error {
	out := &colorprofile.Writer{Forward: w, Profile: a.colorProfile()}
	_, err := io.WriteString(out, pageOf(cmd).terminal(a.columns()))
	return err
}

// version is the module's version, else the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit := buildSetting("vcs.revision"); len(commit) >= 12 {
		return "built from " + commit[:12]
	}
	return "built from source"
}

// buildSetting is a setting of the build, "" if it is not known.
func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	n := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if n < 0 {
		return ""
	}
	return info.Settings[n].Value
}
