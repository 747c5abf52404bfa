package html

// Bounds beyond which a body is read without parsing it into a tree, or without its styles. Real
// messages stay far below them.
const (
	maxTree     = 3 << 19 // bytes of source
	maxTags     = 40_000  // tags
	maxTagAttrs = 80_000  // attributes of all tags
	maxSpans    = 40_000  // runs of text of their own style
	maxLeaves   = 20_000  // blocks with text
	maxText     = 1 << 20 // bytes of text; the rest is left out
	maxTokens   = 250_000 // tags, and texts between them
	// maxReopened bounds how often the parser has to reopen elements that were never closed: each
	// of them once in every block that follows.
	maxReopened = 50_000
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

// formatting reports whether the parser reopens an element that was left open. name is in lower
// case.
func formatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}
