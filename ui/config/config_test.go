package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var usual = map[string][]string{
	"copy-code": {"c"}, "copy-address": {"y"}, "delete-inbox": {"d"}, "filter": {"/"}, "search": {"/"}, "down": {"j", "down"},
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, file string
		complaints []string
		keys       map[string][]string
	}{
		{"empty", "", nil, nil},
		{"a key", "[keys]\ncopy-code = \"C\"\n", nil, map[string][]string{"copy-code": {"C"}}},
		{"several keys", "[keys]\ndown = [\"j\", \"ctrl+n\"]\n", nil, map[string][]string{"down": {"j", "ctrl+n"}}},
		{"no key", "[keys]\ndelete-inbox = []\n", nil, map[string][]string{"delete-inbox": {}}},
		{"swapped", "[keys]\ncopy-code = \"y\"\ncopy-address = \"c\"\n", nil, map[string][]string{"copy-code": {"y"}, "copy-address": {"c"}}},
		{"shared where it usually is", "[keys]\nsearch = \"ctrl+s\"\nfilter = \"ctrl+s\"\n", nil, map[string][]string{"search": {"ctrl+s"}, "filter": {"ctrl+s"}}},
		{"unknown action", "\n[keys]\ncopy-cod = \"C\"\n", []string{`config.toml:3: no action is called "copy-cod"; did you mean "copy-code"?`}, nil},
		{"clash", "[keys]\ncopy-code = \"d\"\n", []string{`config.toml:2: "d" is already the key of delete-inbox; copy-code goes without it`}, map[string][]string{"copy-code": {}}},
		{"not a key", "[keys]\ncopy-code = 5\n", []string{"config.toml:2: copy-code: write a key"}, nil},
		{"unknown setting", "[ui]\ntheme = \"dusk\"\ncolour = 1\n", []string{`config.toml:3: "colour" is not a setting of [ui]`}, nil},
		{"not TOML", "[ui]\ntheme = \n", []string{"config.toml:2: "}, nil},
		{"wrong type", "[ui]\nmouse = \"yes\"\n", []string{"config.toml:2: "}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Parse("config.toml", []byte(c.file), usual)
			if len(got.Complaints) != len(c.complaints) {
				t.Fatalf("complaints: %q, want %q", got.Complaints, c.complaints)
			}
			for i, want := range c.complaints {
				if !strings.HasPrefix(got.Complaints[i], want) {
					t.Errorf("complaint %q, want %q", got.Complaints[i], want)
				}
			}
			for action, want := range c.keys {
				if !slices.Equal(got.Keys[action], want) {
					t.Errorf("%s has the keys %q, want %q", action, got.Keys[action], want)
				}
			}
		})
	}
}

func TestSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("[profiles.work]\nbase_url = \"https://x.example\"\n[ui]\ntheme = \"dusk\"\nmouse = false\ndownload_dir = \"~/mail\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Read(path, usual)
	if c.Theme != "dusk" || c.Mouse || c.DownloadDir != "~/mail" || len(c.Complaints) > 0 {
		t.Errorf("read %+v", c)
	}
	if c := Read(filepath.Join(t.TempDir(), "none.toml"), usual); !c.Mouse || len(c.Complaints) > 0 {
		t.Errorf("without a file: %+v", c)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[keys]\ncopy-code = [\"a\", 1]\n[ui]\ntheme = {x = 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range Parse("config.toml", data, usual).Complaints {
			if strings.Contains(c, "\n") {
				t.Errorf("a complaint of several lines: %q", c)
			}
		}
	})
}
