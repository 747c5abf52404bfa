// Package layout turns a document into lines for a width and a theme.
package layout

import "image/color"

// Line is one row.
type Line struct {
	Styled string   // with SGR and OSC 8 sequences, each closed on the line
	Plain  string   // without
	Links  []LinkAt // in order of column
}

// LinkAt is a stretch of a row that belongs to a link.
type LinkAt struct {
	N          int // number of the link
	Col, Width int // columns, from 0
}

// Profile is how many colours a terminal has.
type Profile uint8

const (
	NoColor   Profile = iota // bold, underline and the like only
	ANSI16                   // the sixteen
	ANSI256                  // the 256
	TrueColor                // 24 bits
)

// Theme is the colours and abilities of a terminal. An unset role is the default colour.
type Theme struct {
	Dark       bool
	Profile    Profile
	Hyperlinks bool        // write OSC 8
	Background color.Color // what text stands on; nil for black or white after Dark

	Accent, Good, Warning, Bad, Dim color.Color
}
