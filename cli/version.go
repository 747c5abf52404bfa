package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

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
		Short:   "Print the version, and what mayfly was built from",
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
