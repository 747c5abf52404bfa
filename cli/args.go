package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// noArgs and the functions after it are Cobra's checks of arguments, as usage errors.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, args[0])
	}
	return usageOf(cmd, "`%s` takes no argument, but was given %q", cmd.CommandPath(), args[0])
}

// noneEmpty refuses an empty argument, such as a variable that a script did not set: it must not
// mean the newest inbox.
func noneEmpty(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usageOf(cmd, "an argument is empty; leave it out for the newest")
	}
	return nil
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usageOf(cmd, "`%s` takes at most %s, but was given %d", cmd.CommandPath(), count(n, "argument", "arguments"), len(args))
		}
		return noneEmpty(cmd, args)
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageOf(cmd, "`%s` takes %s, but was given %d arguments", cmd.CommandPath(), what, len(args))
		}
		return noneEmpty(cmd, args)
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageOf(cmd, "`%s` needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// usageOf is a usage error that points at the help of cmd.
func usageOf(cmd *cobra.Command, format string, args ...any) error {
	return &failure{
		status: statusUsage,
		err:    fmt.Errorf(format, args...),
		next:   "see `" + cmd.CommandPath() + " --help`",
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	if near := like(cmd, name); len(near) > 0 {
		return usageOf(cmd, "unknown command %q for `%s`, did you mean %s?", name, cmd.CommandPath(), strings.Join(near, " or "))
	}
	return usageOf(cmd, "unknown command %q for `%s`", name, cmd.CommandPath())
}

// like are the names of the commands of cmd that begin with name or are at most two edits away from
// it.
func like(cmd *cobra.Command, name string) []string {
	cmd.SuggestionsMinimumDistance = 2
	return cmd.SuggestionsFor(name)
}

// group makes cmd a command that only holds others.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	names := make([]string, len(children))
	for i, c := range children {
		names[i] = c.Name()
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return usageOf(cmd, "`%s` needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	cmd.RunE = func(*cobra.Command, []string) error { return nil } // Args has refused
	return cmd
}
