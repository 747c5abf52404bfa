package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"mayfly/internal/manual"
	"mayfly/ui/dialog"
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
			if len(args) == 1 && slices.Contains(topicNames(), args[0]) {
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
			var words []cobra.Completion
			add := func(name, text string) {
				if strings.HasPrefix(name, start) {
					words = append(words, cobra.CompletionWithDesc(name, text))
				}
			}
			for _, c := range target.Commands() {
				if !c.Hidden && (len(args) > 0 || !slices.Contains(topicNames(), c.Name())) {
					add(c.Name(), c.Short)
				}
			}
			if len(args) == 0 {
				for _, t := range manual.Topics() {
					add(t.Name, strings.TrimSuffix(t.Summary, "."))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

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

func topicNames() []string {
	var names []string
	for _, t := range manual.Topics() {
		names = append(names, t.Name)
	}
	return names
}

// unknownTopic suggests the topics and commands with names like the one asked for, else lists the
// topics.
func unknownTopic(root *cobra.Command, name string) error {
	unknown := withNext(usageOf(root, "no command or help topic is called %q", name), "the topics are "+strings.Join(topicNames(), ", "))
	return didYouMean(unknown, name, append(topicNames(), commandNames(root)...))
}

// manualPage writes a page of the manual, through the pager where there is one.
func (a *app) manualPage(ctx context.Context, topic string) error {
	lines, err := manual.Render(topic, min(a.columns(), maxProse), dialog.ManualStyle(a.theme(ctx)))
	if err != nil {
		return err
	}
	return a.page(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}

func (a *app) help(w io.Writer, cmd *cobra.Command) error {
	out := &colorprofile.Writer{Forward: w, Profile: a.colorProfile()}
	_, err := io.WriteString(out, pageOf(cmd).terminal(a.columns()))
	return err
}
