// Package doc represents the body of a message as a document: a tree of blocks with what a reader
// sees and how it stands out, independent of width, terminal and markup. Packages html, text and
// markdown build it; layout, find and check read it. All text in it has passed package clean. URLs
// are kept as they are in the message.
package doc

import (
	"iter"
	"slices"
	"strings"
)

// Document is one body of a message.
type Document struct {
	Title     string   // the <title>, not part of the body
	Lang      string   // the declared language, such as "de" or "pt-BR"; often empty
	Preheader string   // hidden text before the first visible text, which mail clients show in their list
	RTL       bool     // written from right to left as a whole
	Color     Color    // that most of its text has; unset: the default
	Dark      bool     // most of its text is on a dark page
	Blocks    []*Block // top level, in reading order
	Links     []Link   // link number n is Links[n-1]; no URL occurs twice
	Images    []Image  // in order, spacers and trackers included
	Hidden    []Hidden // text that a reader does not see, in order

	HiddenBytes int     // size of the hidden text in the source, including filler
	Simplified  string  // why the document is a simplified form of the body; empty when it is complete
	Forms       int     // form elements in the source
	Scripts     int     // script elements in the source
	Faint       []Faint // the first texts of which the contrast with their background is low
	Reversed    int     // texts that are written backwards, which a browser turns round
}

// Faint is a text that is hard to read on its background.
type Faint struct {
	Text     string
	Contrast float64
}

// Kind is the kind of a block, and says which of its fields are used.
type Kind uint8

const (
	Paragraph Kind = iota // Spans
	Heading               // Spans, Level 0 to 3
	Pre                   // Spans, with newlines and spaces as written
	Code                  // Spans: a one-time code in a block of its own
	Rule                  // a horizontal line
	List                  // Children: Items
	Item                  // Children; Marker
	Quote                 // Children
	Signature             // Children: the signature of a text body
	Footer                // Children: the secondary text at the end of a message
	Section               // Children; Background, Hue, Padded: what is filled, tinted or framed as a whole
	Table                 // Children: Rows; Head, Width. Its columns stand side by side
	Row                   // Children: Cells; Ruled, Background
	Cell                  // Children; Columns, Head, Width, VAlign, Blank, Background
)

// Align is the horizontal alignment that the message asks for.
type Align uint8

const (
	Start Align = iota // left, or right in text from right to left
	Center
	End
)

// VAlign is where a cell that is lower than its row stands.
type VAlign uint8

const (
	Top VAlign = iota
	Middle
	Bottom
)

// Width is how wide a message wants something to be in a window of 640 px: in px, or else in percent
// of what it stands in. The zero value is as wide as its content.
type Width struct{ Px, Percent float32 }

// Block is a node of a document.
type Block struct {
	Kind     Kind
	Spans    []Span
	Children []*Block

	Level   int    // Heading: its rank. 1 is the title of the mail, 3 a lesser heading, 0 a number
	Figure  bool   // Heading: a number that dominates what is around it
	Marker  string // Item: "•", "3.", "iv)"
	Role    Role   // Item: the colour of its marker
	Head    int    // Table: how many of its first rows are headers. Cell: 1 if it is a header
	Columns int    // Cell: how many columns it spans, at least 1
	Rows    int    // Cell: how many rows it spans, if more than 1. It is empty in all but the first
	Width   Width  // Table, Cell, Rule
	VAlign  VAlign // Cell
	Blank   bool   // Cell: it is empty, and its column is as wide as one with content
	Ruled   bool   // Row: there is a line above it
	Hue     Color  // Section: of the bar at its side; unset: it is a band of its Background. Paragraph, Heading: of the frame around it
	Padded  bool   // Section: there is space between its edges and its text. Rule: there is room below it
	Align   Align  // of the text of a leaf; Table, Rule: where it stands if it is narrower than what it is in
	RTL     bool
	Gap     bool // preceded by a blank line; Rule: there is room above it

	// How a leaf stands out, and its position.
	Boxed      bool  // in a box of its own: a border, or a background unlike what is around it
	Background Color // effective background; unset if it is that of the message. Of a Section, Row or Cell: its fill
	Order      int   // number of the leaf, from 1
	Offset     int   // Pre: bytes of the leaf before it, which goes on here
	InFooter   bool  // below a Footer
	Quoted     int   // depth of quotation
}

// Span is a run of text in one style. A "\n" in its text is a line break.
type Span struct {
	Text      string
	Style     Style
	Link      int  // number of the link it belongs to; 0 for none
	Button    bool // part of a link that looks like a button
	Element   int  // number of the element that makes it a link: several may lead to one place
	Continues bool // the link continues one in the leaf before
	Image     int  // number of the image it stands for (Images[n-1]); its text is the alternative text
}

// Style is how a run of text looks.
type Style struct {
	Bold, Italic, Underline, Strike, Mono, Sup, Sub bool

	Role       Role    // a colour of the reader's theme instead of those of the message
	Color      Color   // unset: the default
	Background Color   // of the run itself; the fill of a button
	Size       float32 // px; 16 by default
	Spacing    float32 // extra px between letters
}

// Role is a colour of the reader's theme, for what the message does not colour itself.
type Role uint8

const (
	Own Role = iota // the colour of the message
	Accent
	Good
	Warning
	Bad
	Secondary
	Soft   // of text that is between secondary and the default
	Bright // of headings
)

// Color is an RGB colour; the zero value is unset.
type Color struct {
	R, G, B uint8
	Set     bool
}

// Grey reports whether a colour has no hue to speak of.
func (c Color) Grey() bool {
	most, least := int(max(c.R, c.G, c.B)), int(min(c.R, c.G, c.B))
	return most < 0x48 || most-least < min(0x38, max(most*3/4, 0x28))
}

// Link is the target of a link in the body.
type Link struct {
	N       int
	Text    string // the first text of the link that is not empty, as a reader sees it
	URL     string // as in the message, with entities resolved
	Target  string // the destination: URL, or what it contains if it is that of a known click tracker
	Via     string // host of the click tracker, if any
	Host    string // host of Target, ASCII; empty for mailto and the like
	Warning string // what a reader should know before opening it, one line
	Blocked bool   // not http, https or mailto: never made a hyperlink
	Nowhere bool   // a script, or a place in the message itself: shown without a number
	Button  bool   // looks like a button at least once
	Order   int    // Block.Order of its first leaf
}

// Image is an image that the body refers to. Images are never fetched.
type Image struct {
	N             int
	Alt           string
	Src           string
	Width, Height int // declared size in px; 0 if unknown
	Link          int
	Align         Align
	Leaf, Offset  int  // Block.Order of the leaf that it stands in, or ahead of, and the bytes of that leaf's text before it
	Remote        bool // http or https
	Spacer        bool // invisible: tiny, or a spacer by its name
	Tracker       bool // remote and invisible
}

// Hidden is text in the source that a reader does not see.
type Hidden struct {
	Text   string
	Reason string // "display: none", "font size 0", …
	Before int    // Block.Order of the leaf that follows it
}

// SameColumns reports whether the columns of two tables are those of one: they are as many and ask for the same widths.
func (b *Block) SameColumns(o *Block) bool {
	return slices.EqualFunc(b.Children[0].Children, o.Children[0].Children, func(b, o *Block) bool {
		return b.Columns == o.Columns && b.Width == o.Width
	})
}

// Leaves iterates over the blocks with text of their own, in reading order.
func (d *Document) Leaves() iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for _, b := range d.Blocks {
			if !b.leaves(yield) {
				return
			}
		}
	}
}

// Leaves iterates over the block and those within it that have text of their own, in reading order.
func (b *Block) Leaves() iter.Seq[*Block] {
	return func(yield func(*Block) bool) { b.leaves(yield) }
}

// First returns the first leaf, or nil.
func (b *Block) First() *Block {
	for leaf := range b.Leaves() {
		return leaf
	}
	return nil
}

func (b *Block) leaves(yield func(*Block) bool) bool {
	if len(b.Spans) > 0 && !yield(b) {
		return false
	}
	for _, c := range b.Children {
		if !c.leaves(yield) {
			return false
		}
	}
	return true
}

// Text returns the block's text without styles. Blocks within it are separated by newlines, the
// cells of a row by tabs.
func (b *Block) Text() string {
	if len(b.Spans) == 1 && len(b.Children) == 0 {
		return b.Spans[0].Text
	}
	if len(b.Spans) == 0 && len(b.Children) == 1 {
		return b.Children[0].Text()
	}
	var s strings.Builder
	b.text(&s)
	return s.String()
}

func (b *Block) text(s *strings.Builder) {
	for _, span := range b.Spans {
		s.WriteString(span.Text)
	}
	for i, c := range b.Children {
		switch {
		case i == 0 && len(b.Spans) == 0:
		case b.Kind == Row:
			s.WriteByte('\t')
		default:
			s.WriteByte('\n')
		}
		c.text(s)
	}
}

// Text returns the document's text without styles, one block a line.
func (d *Document) Text() string {
	var s strings.Builder
	for i, b := range d.Blocks {
		if i > 0 {
			s.WriteByte('\n')
		}
		b.text(&s)
	}
	return s.String()
}
