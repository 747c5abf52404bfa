package theme

import (
	"fmt"
	"image/color"
	"strconv"

	"github.com/charmbracelet/x/ansi"
)

// basic is a colour of the user's own palette by its index.
func basic(index string) color.Color {
	n, err := strconv.Atoi(index)
	if err != nil {
		return nil
	}
	return ansi.BasicColor(n)
}

// gray is the gray of the 256 colours that is as light as c: the nearest other colour would be too
// strong a background for text.
func gray(c color.Color) (Style, color.Color) {
	if c == nil {
		return "", nil
	}
	level := int(color.GrayModel.Convert(c).(color.Gray).Y)
	n := 232 + min(23, max(0, (level-3)/10))
	return Style(fmt.Sprintf("\x1b[48;5;%dm", n)), ansi.IndexedColor(n)
}
