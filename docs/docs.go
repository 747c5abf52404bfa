// Package docs embeds the pages of this directory.
package docs

import "embed"

// Pages are the Markdown pages, each under its file name: at the root, or in guides for frameworks.
//
//go:embed *.md guides/*.md
var Pages embed.FS
