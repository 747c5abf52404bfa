package assets

import (
	"embed"
	"strings"
)

// Themes holds the themes of the terminal application: themes/NAME.toml.
//
//go:embed themes
var Themes embed.FS

// ThemeNames returns the names of the themes, sorted.
func ThemeNames() []string {
	files, err := Themes.ReadDir("themes")
	if err != nil {
		return nil // it is embedded
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".toml")
	}
	return names
}
