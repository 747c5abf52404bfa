package html

import (
	"strings"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// maxUnended bounds the text that is shown of a comment, in bytes.
const maxUnended = 64 << 10

// Unended returns the text in a comment that is never closed, without its tags: a browser shows
// nothing of such a message, but its sender meant it to be read. It is empty if there is no such
// comment.
func Unended(source string) *doc.Document {
	start := strings.LastIndex(source, "-->")
	open := strings.Index(source[max(start, 0):], "<!--")
	if open < 0 {
		return &doc.Document{}
	}
	source = source[max(start, 0)+open:]
	var text strings.Builder
	for part := range strings.SplitSeq(source, "<") {
		if _, after, tag := strings.Cut(part, ">"); tag {
			part = " " + after
		}
		if text.WriteString(strings.TrimPrefix(part, "!--")); text.Len() > maxUnended {
			break
		}
	}
	words := strings.Join(strings.Fields(clean.Text(text.String()[:min(text.Len(), maxUnended)])), " ")
	if words == "" {
		return &doc.Document{}
	}
	return &doc.Document{
		Blocks:     []*doc.Block{{Kind: doc.Paragraph, Order: 1, Spans: []doc.Span{{Text: words, Style: doc.Style{Size: 16}}}}},
		Simplified: "all text of this mail is in a comment: it is shown here",
	}
}
