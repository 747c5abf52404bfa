package ui

import "strings"

// keyTable lists actions and their keys as a Markdown table for each group.
func keyTable(table []*action) string {
	var b strings.Builder
	for _, g := range groups {
		b.WriteString("| " + g + " | |\n|---|---|\n")
		for _, c := range table {
			if c.group != g {
				continue
			}
			keys := make([]string, len(c.keys))
			for i, k := range c.keys {
				keys[i] = "`" + showKey(k) + "`"
			}
			b.WriteString("| " + strings.Join(keys, " ") + " | " + c.title + " |\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// actionTable lists the names of actions in config.toml, with their usual keys.
func actionTable(table []*action) string {
	var b strings.Builder
	b.WriteString("| Name | Usual keys | |\n|---|---|---|\n")
	for _, c := range table {
		keys := make([]string, len(c.keys))
		for i, k := range c.keys {
			keys[i] = "`" + k + "`"
		}
		b.WriteString("| `" + c.id + "` | " + strings.Join(keys, " ") + " | " + c.title + " |\n")
	}
	return b.String()
}
