package ui

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestTheListsOfKeys holds the lists of keys in the documents to the table of actions; with -update
// it writes them.
func TestTheListsOfKeys(t *testing.T) {
	for _, c := range []struct{ file, begin, end, want string }{
		{"../README.md", "<!-- keys: made from the table of actions, see CONTRIBUTING.md -->\n", "<!-- /keys -->", keyTable(newApp(context.Background(), Options{}, nil).table)},
		{"../docs/keys.md", "<!-- actions: made from the table of actions; go test ./ui -update writes it anew -->\n", "<!-- /actions -->", actionTable(newApp(context.Background(), Options{}, nil).table)},
	} {
		data, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok := strings.Cut(string(data), c.begin)
		list, after, found := strings.Cut(rest, c.end)
		switch {
		case !ok || !found:
			t.Fatalf("%s has no place for the list", c.file)
		case list == c.want:
		case !*update:
			t.Errorf("the list in %s is not that of the application; go test ./ui -update writes it", c.file)
		default:
			if err := os.WriteFile(c.file, []byte(before+c.begin+c.want+c.end+after), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
