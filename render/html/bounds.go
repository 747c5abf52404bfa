package html

import "strings"

// Bounds beyond which a mail is read without making a tree of it, or without its styles. Real mails stay
// far below them.
const (
	maxTree   = 3 << 20 // bytes of source
	maxTags   = 60_000  // tags
	maxSpans  = 60_000  // runs of text of their own style
	maxLeaves = 30_000  // blocks with text
	maxText   = 2 << 20 // bytes of text; what follows is left out
	maxTokens = 250_000 // tags and texts between them
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

// affordable reports whether a tree of the source is of bounded size.
func affordable(source string) bool {
	if len(source) > maxTree {
		return false
	}
	tags, open, reopened := 0, 0, 0
	for i := 0; ; {
		n := strings.IndexByte(source[i:], '<')
		if n < 0 {
			return true
		}
		i += n + 1
		if tags++; tags > maxTags {
			return false
		}
		rest := source[i:min(len(source), i+12)]
		switch {
		case strings.HasPrefix(rest, "!--"):
			if n := strings.Index(source[i:], "-->"); n >= 0 {
				i += n
			}
		case strings.HasPrefix(rest, "/"):
			if formatting(rest[1:]) && open > 0 {
				open--
			}
		case formatting(rest):
			open++
		default:
			if reopened += max(open-8, 0); reopened > maxReopened {
				return false
			}
		}
	}
}

// formatting reports whether a tag is one of those that the parser opens again when they were left open.
func formatting(tag string) bool {
	end := 0
	for end < len(tag) && (tag[end]|0x20 >= 'a' && tag[end]|0x20 <= 'z') {
		end++
	}
	switch strings.ToLower(tag[:end]) {
	case "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u":
		return true
	}
	return false
}
