// Package docs embeds the pages of this folder.
package docs

import "embed"

// Pages are the Markdown pages, each at the root under its file name.
//
//go:embed *.md
var Pages embed.FS
