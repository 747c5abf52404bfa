package cli

import (
	"slices"
	"strings"

	"charm.land/fang/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is the help of a command, as a terminal and a manual page show it.
type page struct {
	name     string // such as mayfly key set
	summary  string
	usage    string
	prose    []string // paragraphs; one that starts with a tab is code
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
	{"MAYFLY_API_KEY", "API key to use instead of the stored one"},
	{"MAYFLY_PROFILE", "profile in config.toml, unless --profile is given"},
	{"NO_COLOR", "show no colours"},
	{"PAGER", "program that shows long output on a terminal (default less)"},
}}

var exitStatuses = section{"exit status", []row{
	{"0", "done"},
	{"1", "error"},
	{"2", "wrong usage"},
	{"3", "not found"},
	{"4", "API key missing, invalid or not allowed to do this"},
	{"5", "timed out waiting"},
	{"6", "rate limit reached"},
	{"128+N", "ended by signal N"},
}}

// pageOf describes cmd. What holds for all commands is on the page of the root only.
func pageOf(cmd *cobra.Command) page {
	cmd.InheritedFlags() // adds them to Flags
	p := page{name: cmd.CommandPath(), summary: cmd.Short, usage: cmd.UseLine()}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		p.prose = append(p.prose, strings.TrimLeft(paragraph, "# "))
	}
	if cmd.Example != "" {
		p.examples = strings.Split(cmd.Example, "\n")
	}
	if cmd.HasAvailableSubCommands() {
		word := " COMMAND"
		if cmd.Runnable() && !cmd.HasParent() {
			word = " [COMMAND]"
		}
		p.usage = p.name + word + strings.TrimPrefix(p.usage, p.name)
		p.sections = commandSections(cmd)
	}
	if cmd.HasParent() {
		p.sections = append(p.sections, flagSections(cmd)...)
		p.more = []string{"`mayfly help` lists the global flags, environment variables and exit statuses."}
		return p
	}
	topics := section{title: "help topics"}
	for _, t := range topicCommands() {
		topics.rows = append(topics.rows, row{t.Name(), t.Short})
	}
	p.sections = append(append(append(p.sections, topics), flagSections(cmd)...), environment, exitStatuses)
	p.more = []string{"`mayfly COMMAND --help` explains a command.", "`mayfly help TOPIC` shows a page of the manual."}
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
	switch f.Value.Type() {
	case "bool":
		value, text = "", f.Usage
	case "int":
		value, text = "n", f.Usage
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
	indent   = "  "
	minTable = 26 // cells for what a name is; with less it stands below the name
)

// terminal lays the page out in lines of at most width cells, as far as their words allow, with
// colours of the terminal's own palette, which are Fang's. Fang itself cannot wrap, or group flags.
func (p page) terminal(width int) string {
	colors := fang.AnsiColorScheme(lipgloss.LightDark(true))
	title := lipgloss.NewStyle().Bold(true).Foreground(colors.Title)
	name := lipgloss.NewStyle().Foreground(colors.Command)
	comment := lipgloss.NewStyle().Faint(true)

	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.Join(parts, "") + "\n") }
	heading := func(text string) { line("\n", title.Render(strings.ToUpper(text))) }
	code := func(text string) {
		for _, l := range wrapCode(strings.TrimSpace(text), width-len(indent)) {
			if strings.HasPrefix(l, "#") {
				l = comment.Render(l)
			}
			line(strings.TrimRight(indent+l, " "))
		}
	}
	prose := min(width, maxProse)
	for i, paragraph := range p.prose {
		if i > 0 {
			line()
		}
		if strings.HasPrefix(paragraph, "\t") {
			code(paragraph)
			continue
		}
		line(strings.Join(wrap(paragraph, prose), "\n"))
	}
	heading("usage")
	line(indent, strings.Join(wrap(p.usage, prose-2*len(indent)), "\n"+indent+indent))
	for _, s := range p.sections {
		heading(s.title)
		column := 12
		for _, r := range s.rows {
			column = max(column, ansi.StringWidth(r.name)+2)
		}
		below := prose-len(indent)-column < minTable
		for _, r := range s.rows {
			if below {
				line(indent, name.Render(r.name))
				line(indent, indent, strings.Join(wrap(r.text, prose-2*len(indent)), "\n"+indent+indent))
				continue
			}
			padding := strings.Repeat(" ", column)
			text := strings.Join(wrap(r.text, prose-len(indent)-column), "\n"+indent+padding)
			line(indent, name.Render(r.name), padding[ansi.StringWidth(r.name):], text)
		}
	}
	if len(p.examples) > 0 {
		heading("examples")
		for _, example := range p.examples {
			code(example)
		}
	}
	heading("learn more")
	for _, sentence := range p.more {
		line(indent, strings.Join(wrap(sentence, prose-len(indent)), "\n"+indent))
	}
	return b.String()
}

// wrap breaks text at its spaces into lines of at most width cells. It never breaks a word.
func wrap(text string, width int) []string { return fill(strings.Fields(text), width, "", "") }

// wrapCode breaks a line of a shell script so that it can still be pasted.
func wrapCode(code string, width int) []string {
	if ansi.StringWidth(code) <= width {
		return []string{code}
	}
	if comment, ok := strings.CutPrefix(code, "# "); ok {
		return fill(strings.Fields(comment), width, "# ", "")
	}
	var quote rune
	words := strings.FieldsFunc(code, func(r rune) bool {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case r == quote:
			quote = 0
		}
		return r == ' ' && quote == 0
	})
	lines := fill(words, width-2*len(indent), "", ` \`)
	for i := range lines[1:] {
		lines[i+1] = indent + lines[i+1]
	}
	return lines
}

// fill puts words into lines of at most width cells that begin with prefix. All but the last end
// with suffix, which comes on top of the width.
func fill(words []string, width int, prefix, suffix string) []string {
	lines := []string{prefix}
	for i, word := range words {
		last := &lines[len(lines)-1]
		switch {
		case i == 0:
			*last += word
		case ansi.StringWidth(*last)+1+ansi.StringWidth(word) > width:
			*last += suffix
			lines = append(lines, prefix+word)
		default:
			*last += " " + word
		}
	}
	return lines
}
