package ui

import (
	"os"
	"strings"
	"testing"

	"mayfly/internal/config"
	"mayfly/internal/fortest"
)

// keyTable lists the actions by group, with their usual keys and their names in config.toml.
func keyTable(table []*action) string {
	var b strings.Builder
	for _, g := range []string{essentials, navigation, ofMessage, ofInboxes, application} {
		b.WriteString("| " + g + " | | Name |\n|---|---|---|\n")
		for _, c := range table {
			if c.Group != g {
				continue
			}
			keys := make([]string, len(c.Keys))
			for i, k := range c.Keys {
				keys[i] = "`" + strings.ReplaceAll(k, "|", `\|`) + "`"
			}
			b.WriteString("| " + strings.Join(keys, " ") + " | " + c.Title + " | `" + c.ID + "` |\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestTheListOfKeys holds the list of keys in docs/keybindings.md to the table of actions; with -update it
// writes it.
func TestTheListOfKeys(t *testing.T) {
	const file = "../docs/keybindings.md"
	const begin = "<!-- keys: made from the table of actions; go test ./ui -update writes it anew -->\n"
	data, err := os.ReadFile(file)
	fortest.Must(t, err)
	before, rest, ok := strings.Cut(string(data), begin)
	list, after, found := strings.Cut(rest, "<!-- /keys -->")
	want := keyTable(newActions())
	switch {
	case !ok || !found:
		t.Fatalf("%s has no place for the list", file)
	case list == want:
	case !*update:
		t.Errorf("the list in %s is not that of the application; go test ./ui -update writes it", file)
	default:
		fortest.Must(t, os.WriteFile(file, []byte(before+begin+want+"<!-- /keys -->"+after), 0o644))
	}
}

func TestActionsKeepTheirFormerNames(t *testing.T) {
	c := config.Parse("config.toml", []byte("[keys]\nlabels = 'ctrl+l'\nread-on = 'ctlr+y'\nhidden = 'Q'\nhidden-text = 'x'\n"), DefaultKeys())
	var problems []string
	for _, p := range c.Problems {
		problems = append(problems, p.String())
	}
	if text := strings.Join(problems, "\n"); !strings.HasPrefix(text, "config.toml:3: next-page: unknown key") || !strings.Contains(text, `config.toml:4: no action is called "hidden"`) || len(problems) != 2 {
		t.Errorf("reported are %q", problems)
	}
	if got := c.Keys["link-hints"]; len(got) != 1 || got[0] != "ctrl+l" {
		t.Errorf("the labels have the keys %q", got)
	}
}
