package assets

import "embed"

// Themes holds the colours of the terminal application, themes/NAME.toml.
//
//go:embed themes
var Themes embed.FS
