package theme

import (
	"image/color"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// basic is a colour of the user's own palette, by its index.
func basic(index string) color.Color {
	n, err := strconv.Atoi(index)
	if err != nil {
		return nil
	}
	return ansi.BasicColor(n)
}
