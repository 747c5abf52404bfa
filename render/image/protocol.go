package image

import (
	"fmt"
	"strings"
)

// Protocol is a way to show images in a terminal.
type Protocol uint8

const (
	Off        Protocol = iota
	Blocks              // half blocks in the colours of text
	Kitty               // kitty's graphics protocol, placed at the cursor
	KittyCells          // the same, placed by placeholder characters: for screens redrawn in parts
	ITerm2              // OSC 1337 of iTerm2
	Sixel
)

// Placed reports whether a protocol draws over cells that are blank in the text.
func (p Protocol) Placed() bool { return p == Kitty || p == ITerm2 || p == Sixel }

// Detect returns the best protocol that the environment of a terminal names. In a multiplexer it is
// half blocks: it redraws the screen without the images.
func Detect(getenv func(string) string) Protocol {
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	case getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
	case getenv("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty") || strings.Contains(term, "ghostty") || program == "ghostty":
		return Kitty
	case program == "iTerm.app" || program == "WezTerm":
		return ITerm2
	case strings.Contains(term, "sixel") || program == "foot" || term == "foot" || strings.HasPrefix(term, "foot-") || term == "mlterm":
		return Sixel
	}
	return Blocks
}

// KnowsPlaceholders reports, from a terminal's answer to XTVERSION, whether it supports
// placeholders: kitty does since 0.28, and Ghostty.
func KnowsPlaceholders(version string) bool {
	if strings.HasPrefix(version, "ghostty ") {
		return true
	}
	var major, minor int
	n, err := fmt.Sscanf(version, "kitty(%d.%d", &major, &minor)
	return err == nil && n == 2 && (major > 0 || minor >= 28)
}
