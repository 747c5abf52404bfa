package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) manCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man [COMMAND...]",
		Short:   "Print the manual page of a command",
		Long:    "Print the manual page of mayfly or of one of its commands, as roff. With --dir, write all pages to a directory.",
		Example: "mayfly man | man -l -\nmayfly man key set | man -l -\nmayfly man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return fmt.Errorf("creating the directory of the manual pages: %w", err)
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
	cmd.Flags().StringVar(&dir, "dir", "", "`directory` to write all pages to, created if it does not exist")
	return cmd
}

// writeManuals writes the pages of cmd and all commands below it to files in dir.
func writeManuals(cmd *cobra.Command, dir string) error {
	err := os.WriteFile(filepath.Join(dir, manualName(cmd)+".1"), []byte(manualOf(cmd)), 0o644)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			err = errors.Join(err, writeManuals(c, dir))
		}
	}
	return err
}

func manualName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

var manualFiles = section{"files", []row{
	{"~/.config/mayfly/config.toml", "settings (`mayfly doctor` shows where these are on a machine)"},
	{"~/.local/share/mayfly", "stores of the local service and of `mayfly serve`"},
	{"~/.local/state/mayfly", "the inboxes recorded on this machine, logs"},
}}

// manualOf returns the manual page of cmd in the macros of man(7).
func manualOf(cmd *cobra.Command) string {
	p := pageOf(cmd)
	var related []string
	if cmd.HasParent() {
		related = append(related, manualName(cmd.Parent()))
	} else {
		p.sections = append(p.sections, manualFiles)
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			related = append(related, manualName(c))
		}
	}

	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	// The day of the commit, so that a page is the same whenever it is written.
	built := buildOf(debug.ReadBuildInfo())
	day, _, _ := strings.Cut(built.Date, "T")
	line(`.TH "%s" 1 "%s" "mayfly %s" "Mayfly"`, strings.ToUpper(manualName(cmd)), day, built.Version)
	line(".SH NAME\n%s \\- %s", roff(manualName(cmd)), roff(cmd.Short))
	line(".SH SYNOPSIS\n.B %s\n.SH DESCRIPTION", roff(p.usage))
	for i, paragraph := range p.prose {
		if i > 0 {
			line(".PP")
		}
		line("%s", roffText(paragraph))
	}
	for _, s := range p.sections {
		line(".SH %s", roff(strings.ToUpper(s.title)))
		for _, r := range s.rows {
			line(".TP\n.B %s\n%s", roff(r.name), roffText(r.text))
		}
	}
	if cmd.Example != "" {
		line(".SH EXAMPLES\n.EX\n%s\n.EE", roff(cmd.Example))
	}
	line(".SH SEE ALSO\n.BR %s (1)", roffEscapes.Replace(strings.Join(related, " (1),\n.BR ")))
	return b.String()
}

var (
	roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...")
	roffQuoted  = regexp.MustCompile("`([^`]*)`")
	roffControl = regexp.MustCompile(`(?m)^[.']`)
)

// roff escapes text for man(7). What is in back quotes becomes bold.
func roff(text string) string {
	text = roffQuoted.ReplaceAllString(roffEscapes.Replace(text), `\fB$1\fR`)
	return roffControl.ReplaceAllString(text, `\&$0`)
}

// roffText is roff in short lines.
func roffText(text string) string { return strings.TrimSpace(roff(fill(text, "", "", "", 70))) }

// build is what a binary knows of how it was made. What the Go command did not record is left out.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version and build information",
		Long:    "Print the version, the commit that mayfly was built from and its date, the version of Go, and the system it was built for.",
		Example: "mayfly version\nmayfly version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := buildOf(debug.ReadBuildInfo())
			if asJSON {
				return writeJSON(a.env.Stdout, b)
			}
			for _, line := range [][2]string{{"mayfly", b.Version}, {"commit", b.Commit}, {"date", b.Date}, {"go", b.Go}, {"system", b.System}} {
				if line[1] == "" {
					continue
				}
				if _, err := fmt.Fprintf(a.env.Stdout, "%-8s%s\n", line[0], line[1]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// version is the version that the module was released as, or else "devel" and the commit.
func version() string {
	return buildOf(debug.ReadBuildInfo()).Version
}

// buildOf reads what the Go command recorded in a binary: for a module from a proxy its version, in a
// clone the commit and the version that a tag gives it. Nothing is set by flags of the linker, so any
// way to build a commit gives the same answer.
func buildOf(info *debug.BuildInfo, ok bool) build {
	b := build{Version: "devel", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return b
	}
	setting := func(key string) string {
		n := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		if n < 0 {
			return ""
		}
		return info.Settings[n].Value
	}
	b.Commit, b.Date = setting("vcs.revision"), setting("vcs.time")
	short := b.Commit[:min(12, len(b.Commit))]
	switch v := info.Main.Version; {
	case b.Commit == "" && v != "" && v != "(devel)":
		b.Version = v
	case setting("vcs.modified") == "true":
		b.Version = "devel-" + short + "+modified"
	case b.Commit != "" && (v == "" || v == "(devel)" || strings.HasSuffix(v, "-"+short)): // untagged: a pseudo-version
		b.Version = "devel-" + short
	case b.Commit != "":
		b.Version = v
	}
	return b
}
