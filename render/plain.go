package render

import (
	"slices"
	"strings"

	"github.com/jaytaylor/html2text"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/internal/guard"
	"mayfly/render/doc"
)

// Plain is the body as plain text: the text view of a message without a text part, on the screen, in a
// pipe and for a search. html2text makes it of what a reader sees, pruned and sanitised, not of the
// mail's HTML.
func (m *Mail) Plain() (text string) {
	if !guard.Run("make plain text of a message", func() { text = m.plain() }) {
		text = m.asText().Text()
	}
	return text
}

func (m *Mail) plain() string {
	root := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	for _, b := range m.body.Blocks {
		m.node(root, b)
	}
	text, err := html2text.FromHTMLNode(root, html2text.Options{})
	if err != nil {
		return m.body.Text()
	}
	return text
}

// elements are what the kinds of blocks become. Nothing is drawn as a grid.
var elements = map[doc.Kind]atom.Atom{
	doc.Heading: atom.P, doc.Pre: atom.Pre, doc.Code: atom.P, doc.List: atom.Ul, doc.Quote: atom.Blockquote, doc.Table: atom.P,
}

// node adds a block to a tree of nothing but elements, text and web links.
func (m *Mail) node(parent *html.Node, b *doc.Block) {
	name, ok := elements[b.Kind]
	switch {
	case b.Kind == doc.Item && b.Marker == "•":
		name = atom.Li
	case !ok && (b.Gap || b.Kind == doc.Rule):
		name = atom.P
	case !ok:
		name = atom.Div
	}
	n := &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name}
	parent.AppendChild(n)
	switch {
	case b.Kind == doc.Rule:
		addText(n, "---")
	case b.Kind == doc.Item && name != atom.Li && b.Marker != "":
		addText(n, b.Marker+" ")
	}
	m.spans(n, b)
	line := b.Kind == doc.Row && isLine(b)
	for i, c := range b.Children {
		switch {
		case line:
			if i > 0 {
				addText(n, " | ")
			}
			if leaf := c.First(); leaf != nil {
				m.spans(n, leaf)
			}
		case i == 0 && (b.Kind == doc.Item || b.Kind == doc.Quote) && len(c.Spans) > 0:
			m.spans(n, c) // on the line of the marker
		default:
			m.node(n, c)
		}
	}
}

// isLine reports whether each cell of a row is one paragraph or nothing, so that they fit on a line.
func isLine(row *doc.Block) bool {
	return !slices.ContainsFunc(row.Children, func(cell *doc.Block) bool { return len(slices.Collect(cell.Leaves())) > 1 })
}

// spans adds the text of a leaf, each run with one link as a whole: html2text puts a space between two
// texts.
func (m *Mail) spans(n *html.Node, leaf *doc.Block) {
	for spans := leaf.Spans; len(spans) > 0; {
		link, text := spans[0].Link, ""
		for len(spans) > 0 && spans[0].Link == link {
			text, spans = text+spans[0].Text, spans[1:]
		}
		to := n
		if link > 0 && !m.body.Links[link-1].Blocked && m.body.Links[link-1].Host != "" {
			to = &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A,
				Attr: []html.Attribute{{Key: "href", Val: Clean(m.body.Links[link-1].Target)}}}
			n.AppendChild(to)
		}
		addText(to, strings.ReplaceAll(text, "\u00a0", " "))
	}
}

func addText(n *html.Node, text string) {
	n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}
