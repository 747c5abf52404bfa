package html

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// Word writes lists as paragraphs: mso-list names the list and the level of each. An element with
// "mso-list: Ignore" has the marker that Word would draw itself.

// openWordItem opens an item if a paragraph is one, and reports whether it is.
func (b *builder) openWordItem(f *frame) bool {
	if f.style.ListLevel == 0 || !f.flow || f.node.DataAtom == atom.Li || b.wordItem != nil {
		return false
	}
	b.wordItem = &doc.Block{Kind: doc.Item}
	b.push(f, b.wordItem)
	return true
}

// markWordItem adds to the marker of the open item.
func (b *builder) markWordItem(s string) {
	if mark := strings.Trim(clean.Line(s), " \u00a0"); mark != "" && len(b.wordItem.Marker)+len(mark) <= 12 {
		b.wordItem.Marker += mark
	}
}

// closeWordItem adds an item to the list of its level.
func (b *builder) closeWordItem(item *doc.Block, name string, level int) {
	b.wordItem = nil
	if len(item.Children) == 0 {
		return
	}
	if mark, _ := utf8.DecodeRuneInString(item.Marker); utf8.RuneCountInString(item.Marker) <= 1 && !unicode.IsDigit(mark) {
		// A letter that is a bullet in a symbol font, or nothing.
		item.Marker = marker("", false, 0, level)
	}
	hoist(item)
	out, last := b.out, b.wordList
	if n := len(*out); last == nil || n == 0 || (*out)[n-1] != last || level == 1 && name != b.wordName {
		last = &doc.Block{Kind: doc.List, Gap: item.Gap}
		*out, b.wordList = append(*out, last), last
		item.Gap, b.wordName = false, name
	}
	for range level - 1 {
		n := len(last.Children)
		if n == 0 {
			break
		}
		in := last.Children[n-1]
		if under := in.Children[len(in.Children)-1]; under.Kind == doc.List {
			last = under
			continue
		}
		under := &doc.Block{Kind: doc.List}
		in.Children, last = append(in.Children, under), under
	}
	last.Children = append(last.Children, item)
}
