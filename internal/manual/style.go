package manual

import (
	"fmt"
	"image/color"

	glamour "charm.land/glamour/v2/ansi"
	"github.com/charmbracelet/x/ansi"
)

// A list item is indented by listIndent and begins with bullet.
const (
	listIndent = "    "
	bullet     = "· "
)

// config is s as Glamour takes it: headings at the left edge and what they head indented, so that a page is clear without
// colours too.
func (s Style) config() glamour.StyleConfig {
	yes, body, indented := true, uint(2), uint(len(listIndent))
	block := glamour.StyleBlock{Margin: &body}
	heading := glamour.StylePrimitive{BlockPrefix: "\n", BlockSuffix: "\n\n", Bold: &yes, Color: name(s.Accent)}
	none, row := "", "─" // between the columns are the margins of the cells: Lip Gloss miscounts separators
	return glamour.StyleConfig{
		Paragraph:   block,
		BlockQuote:  block,
		List:        glamour.StyleList{StyleBlock: glamour.StyleBlock{Margin: &indented}, LevelIndent: 2},
		Heading:     glamour.StyleBlock{StylePrimitive: heading},
		H1:          glamour.StyleBlock{StylePrimitive: glamour.StylePrimitive{Upper: &yes}},
		Emph:        glamour.StylePrimitive{Italic: &yes},
		Strong:      glamour.StylePrimitive{Bold: &yes},
		Item:        glamour.StylePrimitive{BlockPrefix: bullet},
		Enumeration: glamour.StylePrimitive{BlockPrefix: ". "},
		Link:        glamour.StylePrimitive{Color: name(s.Dim)},
		LinkText:    glamour.StylePrimitive{Color: name(s.Link), Underline: &yes},
		Code:        glamour.StyleBlock{StylePrimitive: glamour.StylePrimitive{Color: name(s.Code)}},
		CodeBlock: glamour.StyleCodeBlock{StyleBlock: glamour.StyleBlock{
			StylePrimitive: glamour.StylePrimitive{Color: name(s.Dim)}, Margin: &indented}},
		Table: glamour.StyleTable{CenterSeparator: &none, ColumnSeparator: &none, RowSeparator: &row},
	}
}

// name is a colour as Glamour takes it: the index of one of the terminal's own, else #rrggbb; nil stays nil.
func name(c color.Color) *string {
	var s string
	switch c := c.(type) {
	case nil:
		return nil
	case ansi.BasicColor, ansi.IndexedColor:
		s = fmt.Sprintf("%d", c)
	default:
		r, g, b, _ := c.RGBA()
		s = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return &s
}
