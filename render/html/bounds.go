package html

// Bounds on what is read of a body. Real messages stay far below them.
const (
	maxTree   = 3 << 19 // bytes of source
	maxCost   = 100_000 // of the tree: a tag is 2, an attribute 1, an element that the parser reopens 2
	maxSpans  = 40_000  // runs of text of their own style
	maxLeaves = 20_000  // blocks with text
	maxText   = 1 << 20 // bytes of text; the rest is left out
	// maxDepth bounds the nested tables, divs and the like. The parser fails beyond 512 elements, of
	// which a table makes four.
	maxDepth = 100
	// maxOpen bounds the formatting elements that are open at once. The parser reopens each of them
	// in every block that follows until it is closed.
	maxOpen     = 16
	usuallyOpen = 4
)

// bounds counts what a document has used so far.
type bounds struct {
	spans      int
	text       int // bytes
	simplified string
}

// plain reports that there are too many runs: from now on text takes the style of the text before
// it.
func (b *bounds) plain() bool {
	if b.spans < maxSpans {
		return false
	}
	if b.simplified == "" {
		b.simplified = "too many styles: the rest is shown without"
	}
	return true
}

// exhausted reports that enough text was read. The rest of the source is left out.
func (b *bounds) exhausted() bool {
	if b.text < maxText {
		return false
	}
	b.simplified = "only its beginning is shown: the mail is too long"
	return true
}

// nesting reports whether an element can be nested in itself. name is in lower case.
func nesting(name string) bool {
	switch name {
	case "article", "blockquote", "center", "div", "dl", "fieldset", "form", "ol", "section", "span", "table", "ul":
		return true
	}
	return false
}

// formatting reports whether the parser reopens an element that was left open. name is in lower
// case.
func formatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}
