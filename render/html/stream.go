package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth bounds the elements open at once. Deeper ones count as part of their parent.
const maxDepth = 512

// stream drives the builder by the tokens of the source, without a tree. It closes elements that
// authors may leave open, with simple rules.
func (b *builder) stream(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	b.streaming = true
	for tokens := 0; ; tokens++ {
		if tokens > maxTokens || b.order >= maxLeaves {
			b.bounds.simplified = "only its beginning is shown: the mail has too many elements"
			if b.order == 0 && len(b.para.spans) == 0 {
				b.textOnly(z)
			}
			return
		}
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			b.text(string(z.Text()))
		case html.StartTagToken:
			b.startTag(z, false)
		case html.SelfClosingTagToken:
			b.startTag(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			b.endTag(atom.Lookup(name), string(name))
		}
	}
}

// maxTextOnly bounds the text taken from what follows the last token, in bytes.
const maxTextOnly = 64 << 10

// textOnly adds the text of the rest of a source, without its elements: what was read so far shows
// nothing.
func (b *builder) textOnly(z *html.Tokenizer) {
	b.truncate(1)
	for opaque := false; b.bounds.text < maxTextOnly; {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken:
			name, _ := z.TagName()
			opaque = isOpaque(atom.Lookup(name))
		case html.EndTagToken:
			opaque = false
		case html.TextToken:
			if !opaque {
				b.text(string(z.Text()))
			}
		}
	}
}

// startTag opens an element. closed says that its tag ends in "/>", which matters in foreign
// content such as SVG.
func (b *builder) startTag(z *html.Tokenizer, closed bool) {
	name, more := z.TagName()
	n := &html.Node{Type: html.ElementNode, DataAtom: atom.Lookup(name), Data: string(name), Parent: b.top().node}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if len(n.Attr) < 32 {
			n.Attr = append(n.Attr, html.Attribute{Key: string(key), Val: string(value)})
		}
	}
	if n.DataAtom == atom.Script {
		b.doc.Scripts++
	}
	if closed && b.top().opaque {
		return
	}
	b.imply(n.DataAtom)
	n.Parent = b.top().node
	if len(b.frames) >= maxDepth {
		if !void(n.DataAtom) {
			b.surplus++
			return
		}
	}
	b.open(n)
	if void(n.DataAtom) {
		b.close()
	}
}

// What ends the search for an element that a tag closes.
var (
	listScope      = []atom.Atom{atom.Ul, atom.Ol, atom.Dl, atom.Td, atom.Th, atom.Table}
	tableScope     = []atom.Atom{atom.Table}
	paragraphScope = []atom.Atom{atom.Td, atom.Th, atom.Table, atom.Div, atom.Li, atom.Blockquote}
)

// imply closes the elements that a start tag ends implicitly.
func (b *builder) imply(a atom.Atom) {
	switch a {
	case atom.Li:
		b.closeWithin(listScope, atom.Li)
	case atom.Dt, atom.Dd:
		b.closeWithin(listScope, atom.Dt, atom.Dd)
	case atom.Td, atom.Th:
		b.closeWithin(tableScope, atom.Td, atom.Th)
	case atom.Tr, atom.A, atom.Option:
		b.closeWithin(tableScope, a)
	case atom.Tbody, atom.Thead, atom.Tfoot:
		b.closeWithin(tableScope, atom.Tr)
		b.closeWithin(tableScope, atom.Tbody, atom.Thead)
	case atom.P, atom.Div, atom.Ul, atom.Ol, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote,
		atom.Pre, atom.Hr, atom.Table, atom.Center, atom.Form, atom.Section:
		b.closeWithin(paragraphScope, atom.P)
	case atom.Body, atom.Html:
		b.closeWithin(nil, atom.Head)
	}
}

// maxScan bounds how many open elements are searched for the one that a tag closes.
const maxScan = 128

// closeWithin closes the innermost open element that is one of some, unless one in scope comes first.
func (b *builder) closeWithin(scope []atom.Atom, some ...atom.Atom) {
	for i := len(b.frames) - 1; i > max(0, len(b.frames)-maxScan); i-- {
		a := b.frames[i].node.DataAtom
		if slices.Contains(some, a) {
			b.truncate(i)
			return
		}
		if slices.Contains(scope, a) {
			return
		}
	}
}

// truncate closes the open elements from index i on.
func (b *builder) truncate(i int) {
	b.surplus = 0
	for len(b.frames) > i {
		b.close()
	}
}

func (b *builder) endTag(a atom.Atom, name string) {
	switch a {
	case atom.Html, atom.Body:
		return
	case atom.Br:
		b.para.lineBreak()
		return
	}
	if b.surplus > 0 {
		b.surplus--
		return
	}
	for i := len(b.frames) - 1; i > max(0, len(b.frames)-maxScan); i-- {
		n := b.frames[i].node
		if n.DataAtom == a && n.Data == name {
			b.truncate(i)
			return
		}
		// The end tag of an inline element does not end a cell, and only a table's own tags end a
		// table.
		if n.DataAtom == atom.Table || (n.DataAtom == atom.Td || n.DataAtom == atom.Th) && !slices.Contains(inTable, a) {
			return
		}
	}
}

// inTable are the elements of tables.
var inTable = []atom.Atom{atom.Table, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot}

func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
		atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
