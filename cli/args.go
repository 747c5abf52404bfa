package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/api"
	"mayfly/internal/near"
)

// noArgs and the functions after it are Cobra's checks of arguments, as usage errors.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, args[0])
	}
	return usagef("`%s` takes no argument, but was given %q", cmd.CommandPath(), args[0])
}

// noneEmpty refuses an empty argument, such as a variable that a script did not set: it must not
// mean the newest inbox.
func noneEmpty(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usagef("an argument is empty; leave it out for the newest")
	}
	return nil
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usagef("`%s` takes at most %s, but was given %d", cmd.CommandPath(), english.Plural(n, "argument", ""), len(args))
		}
		return noneEmpty(cmd, args)
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("`%s` takes %s, but was given %s", cmd.CommandPath(), what, english.Plural(len(args), "argument", ""))
		}
		return noneEmpty(cmd, args)
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("`%s` needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// usageOf is a usage error that points at the help of cmd, which need not be the command that runs.
func usageOf(cmd *cobra.Command, format string, args ...any) error {
	return &failure{
		status: statusUsage,
		err:    fmt.Errorf(format, args...),
		next:   "see `" + cmd.CommandPath() + " --help`",
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	unknown := usageOf(cmd, "unknown command %q for `%s`", name, cmd.CommandPath())
	if !cmd.HasParent() && slices.Contains(topicNames(), name) {
		return withNext(unknown, "`"+cmd.CommandPath()+" help "+name+"` shows a page about it")
	}
	return didYouMean(unknown, name, commandNames(cmd))
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// didYouMean adds the names for which an unknown one may be meant.
func didYouMean(unknown error, name string, names []string) error {
	if found := near.Names(name, names); len(found) > 0 {
		return withNext(unknown, "did you mean "+strings.Join(found, " or ")+"?")
	}
	return unknown
}

// alternatives are flags of which a command can have one, since each alone decides what is printed, or which messages are meant.
var alternatives = [][]string{
	{"view", "images", "json", "format", "screenshot", "explain"}, // only the rich view, the default, has images
	{"width", "format", "screenshot", "explain"},
	{"code", "link"}, {"again", "since"}, {"count", "exactly", "none"}, {"again", "none"},
}

// required names, for flags that change nothing without another one, the other one.
var required = [][2]string{
	{"phone", "screenshot"}, {"dark", "screenshot"}, {"settle", "exactly"}, {"summary", "keep-mails"}, {"no-pictures", "keep-mails"},
}

// flagsFit refuses flags that other flags would silently override, or that nothing would use.
func flagsFit(flags *pflag.FlagSet) error {
	given := func(name string) bool {
		f := flags.Lookup(name)
		return f != nil && f.Changed && f.Value.String() != f.DefValue
	}
	for _, names := range alternatives {
		if both := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !given(name) }); len(both) > 1 {
			return usagef("--%s and --%s cannot be combined", both[0], both[1])
		}
	}
	for _, pair := range required {
		if given(pair[0]) && !given(pair[1]) {
			return usagef("--%s needs --%s", pair[0], pair[1])
		}
	}
	return nil
}

// flagError is the usage error for a flag that is unknown or has no valid value.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return usagef("%s needs a value", flagRow(missing.GetFlag()).name)
	case errors.As(err, &invalid):
		return usagef("--%s %w", invalid.GetFlag().Name, invalidValue(invalid))
	}
	return usagef("%w", err)
}

// invalidValue names the value of a flag, and says what is wrong with it.
func invalidValue(invalid *pflag.InvalidValueError) error {
	return fmt.Errorf("%q: %w", invalid.GetValue(), invalid.Unwrap())
}

// unknownFlag suggests the flags with names like the one given, also for -json, or of the same meaning.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	given, meant := "--"+err.GetSpecifiedName(), "--"+err.GetSpecifiedName()
	if short := err.GetSpecifiedShortnames(); short != "" {
		given, meant = "-"+short, "--"+short
	}
	if other := map[string]string{"name": "username", "lifetime": "ttl"}[err.GetSpecifiedName()]; cmd.Flags().Lookup(other) != nil {
		meant = "--" + other
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && len(given) > len("-x") {
			names = append(names, "--"+f.Name)
		}
	})
	return didYouMean(usagef("unknown flag %s", given), meant, names)
}

// group makes cmd a command that only holds others.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return usagef("`%s` needs one of %s", cmd.CommandPath(), strings.Join(commandNames(cmd), ", "))
	}
	cmd.RunE = func(*cobra.Command, []string) error { return nil } // Args has refused
	return cmd
}

// unquoteUsages takes the back quotes that name a flag's value from the texts shown as completions.
func unquoteUsages(cmd *cobra.Command) {
	unquote := func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") }
	cmd.Flags().VisitAll(unquote)
	cmd.PersistentFlags().VisitAll(unquote)
	for _, child := range cmd.Commands() {
		unquoteUsages(child)
	}
}

// choice is a flag's value: one of some words.
type choice struct {
	value *string
	words []string
}

func (c choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return errors.New("must be " + english.WordSeries(c.words, "or"))
	}
	*c.value = s
	return nil
}

func (c choice) String() string { return *c.value }

func (c choice) Type() string { return "string" }

// choiceFlag adds a flag that takes one of some words, which shells complete.
func choiceFlag(cmd *cobra.Command, flags *pflag.FlagSet, value *string, name, byDefault, usage string, words ...string) {
	*value = byDefault
	flags.Var(choice{value, words}, name, usage)
	completeFlag(cmd, name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// duration is a flag's value: a Go duration (30m, 1h30m), whole days (2d), or a bare number of
// seconds. It is never negative.
type duration time.Duration

func (d *duration) Set(s string) error {
	v, err := parseDuration(s)
	if err != nil {
		return err
	}
	*d = duration(v)
	return nil
}

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return d.text()
}

// text formats the duration without trailing units of zero: 1h, not 1h0m0s.
func (d duration) text() string { return withoutZeros.Replace(time.Duration(d).String()) }

var withoutZeros = strings.NewReplacer("h0m0s", "h", "m0s", "m")

func (d *duration) Type() string { return "duration" }

func parseDuration(s string) (time.Duration, error) {
	d, err := api.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errors.New("must be a duration such as 90, 30m, 1h30m or 2d")
	}
	return d, nil
}
