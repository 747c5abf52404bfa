package ui

import (
	"os"
	"strings"
	"testing"
)

// TestReadme holds the README's list of keys to the table of actions; with -update it writes the list.
func TestReadme(t *testing.T) {
	const (
		file  = "../README.md"
		begin = "<!-- keys: made from the table of actions, see CONTRIBUTING.md -->\n"
		end   = "<!-- /keys -->"
	)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	list, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatal("the README has no place for the keys")
	}
	want := KeyTable()
	if list == want {
		return
	}
	if !*update {
		t.Fatal("the README's keys are not those of the application; run go test ./ui -update")
	}
	if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
