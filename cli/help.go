package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/internal/manual"
	"mayfly/ui/dialog"
)

// maxProse is the width in cells beyond which prose is hard to read.
const maxProse = 100

// helpCommand shows the manual. Cobra's own help command knows commands only.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [TOPIC | COMMAND]",
		Short:   "Show a manual page or the help for a command",
		Long:    "Show a manual page or the help for a command. Without arguments, list both.",
		Example: "mayfly help ci\nmayfly help key set",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(topicNames(), args[0]) {
				return a.manualPage(cmd.Context(), args[0])
			}
			target, err := findCommand(cmd.Root(), args)
			if err != nil {
				return err
			}
			return a.paged(cmd.Context(), func(w io.Writer) error { return a.help(w, target) })
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []cobra.Completion // a shell takes those that begin with what is typed
			for _, c := range target.Commands() {
				if !c.Hidden && (len(args) > 0 || !slices.Contains(topicNames(), c.Name())) {
					words = append(words, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			if len(args) == 0 {
				for _, t := range manual.Topics() {
					words = append(words, cobra.CompletionWithDesc(t.Name, strings.TrimSuffix(t.Summary, ".")))
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
		unknown := withNext(usageOf(root, "unknown command or help topic %q", rest[0]), "the topics are "+strings.Join(topicNames(), ", "))
		return nil, didYouMean(unknown, rest[0], append(topicNames(), commandNames(root)...))
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

// manualPage writes a page of the manual, through the pager where there is one.
func (a *app) manualPage(ctx context.Context, topic string) error {
	lines, err := manual.Render(topic, min(a.columns(), maxProse), dialog.ManualStyle(a.theme(ctx)))
	if err != nil {
		return err
	}
	return a.paged(ctx, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
		return err
	})
}

func (a *app) help(w io.Writer, cmd *cobra.Command) error {
	out := &colorprofile.Writer{Forward: w, Profile: a.colorProfile()}
	page := pageOf(cmd)
	if a.visit != nil {
		page = a.visit.page(page)
	}
	_, err := io.WriteString(out, page.terminal(a.columns()))
	return err
}

// helpPage is the help of a command, as a terminal and a manual page show it.
type helpPage struct {
	usage    string
	prose    []string // paragraphs
	sections []section
	examples []string // lines
	more     []string // sentences on where to read on
}

// section lists commands, flags or other names, and what each is.
type section struct {
	title string
	rows  []row
}

type row struct{ name, text string }

var environment = section{"environment", []row{
	{"MAYFLY_BASE_URL", "URL of the service, unless --base-url is given"},
	{"MAYFLY_API_KEY", "API key of the service named by the environment or config.toml; overrides a stored one"},
	{"MAYFLY_PROFILE", "profile in config.toml, unless --profile is given"},
	{"MAYFLY_SMTP", "SMTP server (host:port) for `mayfly sendmail` and agents, instead of the local service"},
	{"NO_COLOR", "show no colours"},
	{"PAGER", "program that shows long output on a terminal (default less)"},
}}

var exitStatuses = section{"exit status", []row{
	{"0", "done"},
	{"1", "error"},
	{"2", "wrong usage"},
	{"3", "not found"},
	{"4", "API key missing, invalid or not permitted"},
	{"5", "timed out waiting"},
	{"6", "rate limit reached"},
	{"128+N", "terminated by signal N"},
}}

// pageOf describes cmd. What holds for all commands is on the page of the root only.
func pageOf(cmd *cobra.Command) helpPage {
	cmd.InheritedFlags() // adds them to Flags
	p := helpPage{usage: cmd.UseLine(), prose: strings.Split(cmp.Or(cmd.Long, cmd.Short+"."), "\n\n")}
	if cmd.Example != "" {
		p.examples = strings.Split(cmd.Example, "\n")
	}
	if cmd.HasAvailableSubCommands() {
		word := " COMMAND"
		if cmd.Runnable() && !cmd.HasParent() {
			word = " [COMMAND]"
		}
		p.usage = cmd.CommandPath() + word + strings.TrimPrefix(p.usage, cmd.CommandPath())
		p.sections = commandSections(cmd)
	}
	if cmd.HasParent() {
		p.sections = append(p.sections, flagSections(cmd)...)
		p.more = []string{"`mayfly help` lists the global flags, environment variables and exit statuses."}
		return p
	}
	topics := section{title: "help topics"}
	for _, t := range manual.Topics() {
		topics.rows = append(topics.rows, row{t.Name, strings.TrimSuffix(t.Summary, ".")})
	}
	p.sections = append(append(append(p.sections, topics), flagSections(cmd)...), environment, exitStatuses)
	p.more = []string{"`mayfly COMMAND --help` explains a command.", "`mayfly help TOPIC` shows a manual page."}
	return p
}

func init() { cobra.EnableCommandSorting = false } // the order says which come first

// commandSections lists the commands below cmd by their groups.
func commandSections(cmd *cobra.Command) []section {
	sections := []section{{title: "commands"}}
	for _, g := range cmd.Groups() {
		sections = append(sections, section{title: g.ID})
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		i := max(0, slices.IndexFunc(sections, func(s section) bool { return s.title == c.GroupID }))
		sections[i].rows = append(sections[i].rows, row{c.Name(), c.Short})
	}
	return slices.DeleteFunc(sections, func(s section) bool { return len(s.rows) == 0 })
}

// flagGroup is the annotation of a flag that names its section of the help.
const flagGroup = "mayfly_group"

// groupFlags puts the flags that are in no section yet into the section called title.
func groupFlags(flags *pflag.FlagSet, title string) {
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[flagGroup] == nil {
			_ = flags.SetAnnotation(f.Name, flagGroup, []string{title}) // it exists
		}
	})
}

// flagSections lists the flags of cmd by their groups, without those of the root.
func flagSections(cmd *cobra.Command) []section {
	var sections []section
	global := cmd.Root().PersistentFlags()
	list := func(f *pflag.Flag) {
		if f.Hidden || cmd.HasParent() && global.Lookup(f.Name) != nil {
			return
		}
		title := "flags"
		if group := f.Annotations[flagGroup]; len(group) > 0 {
			title = group[0]
		}
		i := slices.IndexFunc(sections, func(s section) bool { return s.title == title })
		if i < 0 {
			i = len(sections)
			sections = append(sections, section{title: title})
		}
		sections[i].rows = append(sections[i].rows, flagRow(f))
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().VisitAll(list)
	return sections
}

func flagRow(f *pflag.Flag) row {
	value, text := pflag.UnquoteUsage(f)
	switch {
	case f.Value.Type() == "bool":
		value, text = "", f.Usage
	case value == "int":
		value = "n"
	case value == "directory":
		value = "dir"
	}
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if value != "" {
		name += " " + strings.ToUpper(value)
	}
	if value := strings.Trim(f.DefValue, "[]"); value != "" && value != "0" && value != "false" {
		text += " (default " + value + ")"
	}
	return row{name, text}
}

const (
	indent    = "  "
	minColumn = 12 // cells of a column of names
	minTexts  = 26 // cells of the column beside it; with less, texts stand below names
)

// terminal lays the page out in lines of at most width cells, as far as their words allow. Its colours
// are the terminal's own, so that it need not be asked for its background.
func (p helpPage) terminal(width int) string {
	title := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Blue)
	name := lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	prose := min(width, maxProse)

	var b strings.Builder
	heading := func(text string) { b.WriteString("\n" + title.Render(strings.ToUpper(text)) + "\n") }
	for i, paragraph := range p.prose {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(fill(paragraph, "", "", "", prose))
	}
	heading("usage")
	b.WriteString(fill(p.usage, indent, indent+indent, "", prose))
	for _, s := range p.sections {
		heading(s.title)
		column := minColumn
		for _, r := range s.rows {
			column = max(column, ansi.StringWidth(r.name)+len(indent))
		}
		for _, r := range s.rows {
			first := indent + name.Render(r.name)
			if rest := strings.Repeat(" ", len(indent)+column); prose-len(rest) >= minTexts {
				b.WriteString(fill(r.text, first+rest[ansi.StringWidth(first):], rest, "", prose))
				continue
			}
			b.WriteString(first + "\n" + fill(r.text, indent+indent, indent+indent, "", prose))
		}
	}
	if len(p.examples) > 0 {
		heading("examples")
	}
	for _, line := range p.examples {
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			b.WriteString(fill(comment, indent+"# ", indent+"# ", "", width))
			continue
		}
		b.WriteString(fill(line, indent, indent+indent, ` \`, width))
	}
	heading("learn more")
	for _, sentence := range p.more {
		b.WriteString(fill(sentence, indent, indent, "", prose))
	}
	return b.String()
}

// fill breaks text at its spaces into lines of at most width cells. The first line begins with
// first, the others with rest, and all but the last end with end. It breaks no word.
func fill(text, first, rest, end string, width int) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return "\n"
	}
	line, lines := first+words[0], ""
	for _, word := range words[1:] {
		if ansi.StringWidth(line+" "+word+end) > width {
			lines += line + end + "\n"
			line = rest + word
			continue
		}
		line += " " + word
	}
	return lines + line + "\n"
}
