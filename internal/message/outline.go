package message

import (
	"strings"

	"mayfly/render/doc"
)

// Outline returns the body as a reader sees it, a line for each paragraph, wherever lines are wrapped.
func (m *Message) Outline() string {
	var b strings.Builder
	for _, block := range m.Mail().Document().Blocks {
		write(&b, block, "")
	}
	return b.String()
}

// write adds a block and what is in it; marker is that of the item it begins.
func write(b *strings.Builder, block *doc.Block, marker string) {
	switch {
	case block.Kind == doc.Row:
		b.WriteString(strings.ReplaceAll(block.Text(), "\t", "   ") + "\n")
		return
	case block.Kind == doc.Item:
		marker = block.Marker + " "
	case len(block.Spans) > 0:
		b.WriteString(marker + block.Text() + "\n")
	}
	for _, child := range block.Children {
		write(b, child, marker)
		marker = ""
	}
}
