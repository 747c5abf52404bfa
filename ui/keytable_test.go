package ui

import (
	"strings"

	"mayfly/ui/action"
)

// keyTable lists actions and their keys as a Markdown table for each group.
func keyTable(table action.Table) string {
	var b strings.Builder
	for _, g := range action.Groups {
		b.WriteString("| " + g + " | |\n|---|---|\n")
		for _, c := range table {
			if c.Group != g {
				continue
			}
			keys := make([]string, len(c.Keys))
			for i, k := range c.Keys {
				keys[i] = inTable(action.KeyName(k))
			}
			b.WriteString("| " + strings.Join(keys, " ") + " | " + c.Title + " |\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// actionTable lists the names of actions in config.toml, with their usual keys.
func actionTable(table action.Table) string {
	var b strings.Builder
	b.WriteString("| Name | Usual keys | |\n|---|---|---|\n")
	for _, c := range table {
		keys := make([]string, len(c.Keys))
		for i, k := range c.Keys {
			keys[i] = inTable(k)
		}
		b.WriteString("| `" + c.ID + "` | " + strings.Join(keys, " ") + " | " + c.Title + " |\n")
	}
	return b.String()
}

// inTable is a key as code in a Markdown table, where bars separate cells.
func inTable(key string) string { return "`" + strings.ReplaceAll(key, "|", `\|`) + "`" }
