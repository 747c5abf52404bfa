// Package css computes the styles of the elements of a message as a browser on a desktop does: from
// its style sheets, its style attributes and what elements look like without any. It knows the
// properties that make a difference in a terminal. Time and memory are bounded for any input.
package css

import "mayfly/render/doc"

// Display is the kind of box that an element makes.
type Display uint8

const (
	Inline Display = iota
	Block
	InlineBlock
	ListItem
	FlexRow // its children stand beside each other
	Grid    // its children stand in Style.Tracks columns
	Table
	TableRow
	TableCell
	None
)

// WhiteSpace says which white space counts.
type WhiteSpace uint8

const (
	Normal  WhiteSpace = iota
	PreLine            // newlines are kept
	Pre                // newlines and spaces are kept
)

// Transform says what becomes of the letters of a text.
type Transform uint8

const (
	AsWritten Transform = iota
	Uppercase
	Lowercase
	Capitalize // those that begin a word
)

// TextAlign is a value of text-align.
type TextAlign uint8

const (
	ToStart TextAlign = iota
	ToCenter
	ToEnd
	ToLeft
	ToRight
)

// Within returns where text stands, by its direction.
func (t TextAlign) Within(rtl bool) doc.Align {
	switch {
	case t == ToCenter:
		return doc.Center
	case t == ToEnd, t == ToRight && !rtl, t == ToLeft && rtl:
		return doc.End
	}
	return doc.Start
}

// Inherited is the part of a computed style that children inherit.
type Inherited struct {
	Size       float32 // px
	LineHeight Length  // unset: that of the font
	Spacing    float32 // extra px between letters
	Bold       bool
	Italic     bool
	Underline  bool
	Strike     bool
	Mono       bool
	Sup        bool
	Sub        bool
	RTL        bool
	Auto       bool   // each paragraph has the direction of its text
	Override   bool   // the direction of characters is overridden: unicode-bidi
	Unseen     bool   // visibility: hidden, which a child may override
	OnImage    bool   // on a background image: the background is unknown
	CellSpace  Length // between cells, by a table; unset: hardly any
	Cells      Length // the padding of its cells, by the cellpadding of a table
	Lined      bool   // its cells have borders, by the border of a table
	WhiteSpace WhiteSpace
	Transform  Transform
	Text       TextAlign
	Blocks     doc.Align // of the boxes in it, which an align attribute moves, too
	Color      doc.Color
	Background doc.Color // effective background
	Marker     string    // list-style-type
	Lang       string    // of the text
	Hidden     string    // why the content is invisible; "" if it is visible

	clear bool // the colour is transparent
}

// Style is the computed style of an element.
type Style struct {
	Inherited
	Display       Display
	Inlined       bool // a table inline with others
	Spread        bool // its children are as far apart as there is room
	Tracks        int  // columns of a grid; 0 if unknown
	Even          bool // they are equally wide
	Span          int  // columns of a grid that it spans
	OwnBackground bool // it has a background other than its parent's
	Fill          doc.Color
	Border        bool       // a border all around, or nearly
	Bar           bool       // a thick border where lines begin that is unlike the others
	Hue           doc.Color  // of the border where lines begin or all around; unset: that of the text
	Edge          bool       // a border above or below
	Ruled         [4]bool    // a border on that side alone
	NoBorder      bool       // border: none is declared
	Float         bool       // beside what follows
	Far           bool       // it floats where lines end
	BoxAlign      doc.Align  // where it stands if what it is in is wider
	VAlign        doc.VAlign // of a cell
	Width, Height Length
	Margin        [4]Length // Top, Right, Bottom, Left
	Padding       [4]Length
	RowGap        Length // between rows of a grid

	borders    [4]line
	floatRight bool
	parent     *Inherited // only while it is computed
	overflow   bool       // overflow is hidden
	absolute   bool
	clipped    bool // the background is cut to the shape of the text
	opacity    float32
	maxHeight  Length
	maxWidth   Length
	left, top  Length
	textIndent Length
}

// The sides of a box.
const (
	Top = iota
	Right
	Bottom
	Left
)

// Initial is what the root of a document inherits.
var Initial = Inherited{Size: 16}

// hide notes why the content of an element is invisible, if it is.
func (s *Style) hide() {
	if s.Hidden != "" {
		return
	}
	switch {
	case s.Display == None:
		s.Hidden = "display: none"
	case s.opacity <= .01:
		s.Hidden = "opacity: 0"
	case s.overflow && s.flat():
		s.Hidden = "no height"
	case s.offScreen():
		s.Hidden = "off-screen"
	}
}

// low is the height and width, in px, below which a box that hides what overflows shows no text.
const low = 6

// flat reports whether a box is too low or too narrow for text. Height made of padding is room for
// an image.
func (s *Style) flat() bool {
	if s.Padding[Top].Value > 0 || s.Padding[Bottom].Value > 0 {
		return false
	}
	return s.Height.below(low) || s.maxHeight.below(low) || s.Display != TableCell && s.Width.below(low)
}

// far is the position, in px, beyond which a box is off-screen.
const far = -500

func (s *Style) offScreen() bool {
	if s.absolute && (s.left.Px(s.Size, 0) <= far || s.top.Px(s.Size, 0) <= far) {
		return true
	}
	return s.textIndent.Px(s.Size, 0) <= far || s.Margin[Left].Px(s.Size, 0) <= far || s.Margin[Top].Px(s.Size, 0) <= far
}

// Blended is why text in the colour of its background is invisible. Spaces in it are seen between words that have another.
const Blended = "colour of the background"

// Unreadable returns why text in this style is invisible, or "".
func (s *Inherited) Unreadable() string {
	switch {
	case s.Hidden != "":
		return s.Hidden
	case s.Unseen:
		return "visibility: hidden"
	case s.Size <= 1:
		return "font size"
	case s.clear:
		return "transparent"
	case s.Color.Set && !s.OnImage:
		back := s.Background
		if !back.Set {
			back = White
		}
		if Same(s.Color, back) || faint(s.Color, back) {
			return Blended
		}
	}
	return ""
}

// Contrast returns the contrast ratio of text with its background, and whether it is less than text of its size needs
// (WCAG 2, level AA).
func (s *Inherited) Contrast() (ratio float64, low bool) {
	back, need := s.Background, 4.5
	if !back.Set {
		back = White
	}
	if s.Size >= 24 || s.Bold && s.Size >= 18.66 {
		need = 3
	}
	ratio = doc.Contrast(s.Color, back)
	return ratio, ratio < need && s.Color.Set && !s.OnImage
}

// faint reports whether a colour is as good as that behind it: a pale yellow on white.
func faint(c, back doc.Color) bool {
	d := func(x, y uint8) int { return int(max(x, y) - min(x, y)) }
	r, g, b := d(c.R, back.R), d(c.G, back.G), d(c.B, back.B)
	return max(r, g, b) <= 20 && 2*r+5*g+b <= 8*4
}
