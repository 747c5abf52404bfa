// Package doc is a mail's body as a document: a tree of blocks that holds what a reader sees and how it
// stands out, independent of any width, terminal or markup. The HTML and the text readers build it; layout,
// and the finding of codes and links, read it. All text in it is clean: no control, bidi or zero-width
// characters, valid UTF-8. URLs are kept as the mail has them.
package doc

import (
	"iter"
	"strings"
)

// Document is one body.
type Document struct {
	Title     string   // the <title>, which is not part of the body
	Lang      string   // the language the mail declares, such as "de" or "pt-BR"; often empty
	Preheader string   // hidden text ahead of the first visible text, shown by mail clients in their list
	RTL       bool     // written from right to left as a whole
	Blocks    []*Block // top level, in reading order
	Links     []Link   // Links[n-1] has number n; each URL once
	Images    []Image  // in order, spacers and trackers included
	Hidden    []Hidden // what a reader of the mail does not see, in order

	HiddenBytes int    // size of the hidden text in the source, filler included
	Simplified  string // why the document is a simplified form of the mail; empty when it is whole
	Forms       int    // form elements in the source
	Scripts     int    // script elements in the source
}

// Kind says what a block is and which of its fields mean something.
type Kind uint8

const (
	Paragraph Kind = iota // Spans
	Heading               // Spans, Level 1 to 6
	Pre                   // Spans, with newlines and spaces as written
	Code                  // Spans: a one-time code that stands alone, or "" elsewhere
	Rule                  // a line across
	List                  // Children: Items
	Item                  // Children; Marker
	Quote                 // Children
	Signature             // Children: the signature of a text body
	Footer                // Children: the secondary text at the end of a mail
	Table                 // Children: Rows with cells that belong in columns; Head
	Row                   // Children: Cells; outside a Table, a few short cells side by side
	Cell                  // Children; Columns, Head
)

// Align is the horizontal alignment that the mail asks for.
type Align uint8

const (
	Start Align = iota // left, or right in text from right to left
	Center
	End
)

// Block is a node of the tree.
type Block struct {
	Kind     Kind
	Spans    []Span
	Children []*Block

	Level   int    // Heading: 1 to 6
	Marker  string // Item: "•", "3.", "iv)"
	Head    int    // Table: how many of its first rows are headers. Cell: 1 when it is a header
	Columns int    // Cell: how many columns it spans, at least 1
	Align   Align
	RTL     bool
	Gap     bool // a blank line stands before it

	// Evidence of how a leaf stands out, and where it stands.
	Boxed      bool  // in a box of its own: a border, or a background unlike what is around it
	Background Color // effective background; unset when it is the mail's own
	Order      int   // running number of the leaf, from 1
	InFooter   bool  // below a Footer
	Quoted     int   // depth of quotation
}

// Span is a run of text in one style. A "\n" in its text is a line break.
type Span struct {
	Text   string
	Style  Style
	Link   int  // number of the link it belongs to; 0 for none
	Button bool // part of a link that looks like a button
	GoesOn bool // the link goes on in the next leaf
	Image  int  // number of the image it stands for (Images[n-1]); its text is the alternative text
}

// Style is how a run of text looks.
type Style struct {
	Bold, Italic, Underline, Strike, Mono, Sup, Sub bool

	Color      Color   // unset: the default
	Background Color   // of the run itself; for a button its fill
	Size       float32 // px; 16 when the mail says nothing
	Spacing    float32 // extra px between letters
}

// Color is an RGB colour; the zero value is unset.
type Color struct {
	R, G, B uint8
	Set     bool
}

// Link is a target that the body names.
type Link struct {
	N       int
	Text    string // the first text that is not empty, as a reader sees it
	URL     string // as the mail has it, entities resolved
	Target  string // where it leads: URL, or what a known click wrapper carries in its query
	Via     string // host of the click wrapper that Target was taken out of
	Host    string // host of Target, ASCII; empty for mailto and the like
	Warning string // what a reader should know before following it, one line
	Blocked bool   // neither http, https nor mailto: never a hyperlink
	Button  bool   // looks like a button somewhere in the mail
	Order   int    // Block.Order of its first leaf
}

// Image is an image that the body refers to; none is ever fetched.
type Image struct {
	N             int
	Alt           string
	HasAlt        bool // there is an alt attribute, though it may be empty
	Src           string
	Width, Height int // px as declared; 0 when not
	Link          int
	Leaf, Offset  int  // Block.Order of the leaf that it stands in, or ahead of, and the bytes of that leaf's text before it
	Remote        bool // http or https
	Spacer        bool // nothing to see: too small, or a shim
	Tracker       bool // remote and invisible
}

// Hidden is text of the source that a reader does not see.
type Hidden struct {
	Text   string
	Reason string // "display: none", "font size 0", …
	Before int    // Block.Order of the leaf that follows it
}

// Leaves goes through the blocks that have text of their own, in reading order.
func (d *Document) Leaves() iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for _, b := range d.Blocks {
			if !b.leaves(yield) {
				return
			}
		}
	}
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

// Text is the block's text without styles; blocks below it are separated by newlines, cells of a row by tabs.
func (b *Block) Text() string {
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

// Text is the document's text without styles, a block a line.
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
