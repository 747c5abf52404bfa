package html

// Bounds beyond which a mail is read without making a tree of it, or without its styles. Real mails stay
// far below them.
const (
	maxTree     = 3 << 19 // bytes of source
	maxTags     = 40_000  // tags
	maxTagAttrs = 80_000  // attributes of all tags
	maxSpans    = 40_000  // runs of text of their own style
	maxLeaves   = 20_000  // blocks with text
	maxText     = 1 << 20 // bytes of text; what follows is left out
	maxTokens   = 250_000 // tags and texts between them
	// maxReopened bounds how many elements the parser may have to open again because they were never closed:
	// each of them once for each block that follows.
	maxReopened = 50_000
)

// bounds is what a document has used up.
type bounds struct {
	spans      int
	text       int // bytes
	simplified string
}

// plain reports that there are enough runs: from here on text takes the style of what is before it.
func (b *bounds) plain() bool {
	if b.spans < maxSpans {
		return false
	}
	if b.simplified == "" {
		b.simplified = "too many styles: shown without from some point on"
	}
	return true
}

// spent reports that enough was read: the rest of the source is left out.
func (b *bounds) spent() bool {
	if b.text < maxText {
		return false
	}
	b.simplified = "only its beginning is shown: the mail is too long"
	return true
}

// formatting reports whether an element, whose name is in lower case, is one of those that the parser opens again when they were left open.
func formatting(name string) bool {
	switch name {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}
