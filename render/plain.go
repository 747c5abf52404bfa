package render

import (
	"strings"

	"github.com/jaytaylor/html2text"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

// plain is the body as plain text: the text view of a mail without a text part, on the screen, in a
// pipe and for a search. html2text makes it of what a reader sees, pruned and sanitised, not of the
// mail's HTML.
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

// elements are what the kinds of blocks become. Cells stand on lines of their own: nothing is drawn
// as a grid.
var elements = map[doc.Kind]atom.Atom{
	doc.Pre: atom.Pre, doc.Code: atom.P, doc.Rule: atom.Hr, doc.List: atom.Ul, doc.Item: atom.Li, doc.Quote: atom.Blockquote,
}

// node adds a block to a tree of nothing but elements, text and web links.
func (m *Mail) node(parent *html.Node, b *doc.Block) {
	name, ok := elements[b.Kind]
	if !ok {
		name = atom.Div
		if b.Gap {
			name = atom.P
		}
	}
	n := &html.Node{Type: html.ElementNode, Data: name.String(), DataAtom: name}
	parent.AppendChild(n)
	for i := range b.Spans {
		s := &b.Spans[i]
		text := &html.Node{Type: html.TextNode, Data: strings.ReplaceAll(s.Text, "\u00a0", " ")}
		if s.Link > 0 && !m.body.Links[s.Link-1].Blocked && m.body.Links[s.Link-1].Host != "" {
			link := &html.Node{Type: html.ElementNode, Data: "a", DataAtom: atom.A,
				Attr: []html.Attribute{{Key: "href", Val: Clean(m.body.Links[s.Link-1].Target)}}}
			link.AppendChild(text)
			text = link
		}
		n.AppendChild(text)
	}
	for _, c := range b.Children {
		m.node(n, c)
	}
}
