// Package near suggests the closest known name for a misspelled one.
package near

import "github.com/spf13/cobra"

// Names returns the names that begin with name or are one edit away from it, else those two edits away.
func Names(name string, names []string) []string {
	if name == "" {
		return nil
	}
	known := &cobra.Command{}
	for _, n := range names {
		known.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	for distance := range 2 {
		known.SuggestionsMinimumDistance = distance + 1
		if found := known.SuggestionsFor(name); len(found) > 0 {
			return found
		}
	}
	return nil
}
