package assets

import "embed"

// Lexicons holds the words that sign-up, login and other messages use: lexicons/LANGUAGE.txt.
//
//go:embed lexicons
var Lexicons embed.FS
