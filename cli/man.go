package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man [COMMAND...]",
		Short:   "Print the manual page of a command",
		Long:    "Print the manual page of mayfly or of one of its commands, as roff. With --dir, write all pages to a folder.",
		Example: "mayfly man | man -l -\nmayfly man key set | man -l -\nmayfly man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return fmt.Errorf("making the folder of the manual pages: %w", err)
				}
				return writeManuals(cmd.Root(), dir)
			}
			target, err := findCommand(cmd.Root(), args)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.env.Stdout, manualOf(target))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "`folder` to write all pages to, created if it does not exist")
	return cmd
}

// writeManuals writes the pages of cmd and all commands below it to files in dir.
func writeManuals(cmd *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, manualName(cmd)+".1"), []byte(manualOf(cmd)), 0o644); err != nil {
		return fmt.Errorf("writing a manual page: %w", err)
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writeManuals(c, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func manualName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

var manualFiles = section{"files", []row{
	{"~/.config/mayfly/config.toml", "settings (`mayfly doctor` shows where these are on a machine)"},
	{"~/.local/share/mayfly", "stores of the local service and of `mayfly serve`"},
	{"~/.local/state/mayfly", "the inboxes this machine knows, logs"},
}}

// manualOf returns the manual page of cmd in the macros of man(7).
func manualOf(cmd *cobra.Command) string {
	p := pageOf(cmd)
	if !cmd.HasParent() {
		p.sections = append(p.sections, manualFiles)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	heading := func(title string) { line(`.SH "%s"`, roff(strings.ToUpper(title))) }
	text := func(text string) string { return roff(strings.Join(wrap(text, 70), "\n")) }
	code := func(text string) { line(".EX\n%s\n.EE", roff(text)) }

	line(`.TH "%s" 1 "%s" "mayfly %s" "Mayfly"`, strings.ToUpper(manualName(cmd)), buildDate(), version())
	heading("name")
	line(`%s \- %s`, roff(manualName(cmd)), roff(p.summary))
	heading("synopsis")
	line(".B %s", roff(p.usage))
	heading("description")
	for i, paragraph := range p.prose {
		if i > 0 {
			line(".PP")
		}
		if strings.HasPrefix(paragraph, "\t") {
			code(strings.TrimSpace(paragraph))
			continue
		}
		line("%s", text(paragraph))
	}
	for _, s := range p.sections {
		heading(s.title)
		for _, r := range s.rows {
			line(".TP\n.B %s\n%s", roff(r.name), text(r.text))
		}
	}
	if len(p.examples) > 0 {
		heading("examples")
		code(strings.Join(p.examples, "\n"))
	}
	var related []string
	if cmd.HasParent() {
		related = append(related, manualName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			related = append(related, manualName(c))
		}
	}
	heading("see also")
	for i, name := range related {
		comma := ","
		if i == len(related)-1 {
			comma = ""
		}
		line(`.BR %s (1)%s`, roff(name), comma)
	}
	return b.String()
}

var (
	roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "\t", "    ")
	roffQuoted  = regexp.MustCompile("`([^`]*)`")
	roffControl = regexp.MustCompile(`(?m)^[.']`)
)

// roff escapes text for man(7). What is in back quotes becomes bold.
func roff(text string) string {
	text = roffQuoted.ReplaceAllString(roffEscapes.Replace(text), `\fB$1\fR`)
	return roffControl.ReplaceAllString(text, `\&$0`)
}

// buildDate is the day of the commit this was built from, "" when it is not known, so that a page
// is the same whenever it is written.
func buildDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			day, _, _ := strings.Cut(s.Value, "T")
			return day
		}
	}
	return ""
}
