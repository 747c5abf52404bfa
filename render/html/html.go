// Package html reads an HTML body into a document: it parses it, computes styles, sets hidden text
// aside and puts what stands side by side into columns. Time and memory are bounded for any input.
package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

// Read reads an HTML body. It never fails: beyond its bounds the document is a simplified one, and
// says so.
func Read(source string) *doc.Document {
	b := newBuilder()
	b.source = limit(source)
	b.cascade.Quirks = !strings.Contains(strings.ToLower(b.source.html[:min(len(b.source.html), 1000)]), "<!doctype")
	if root := b.source.parse(); root != nil {
		b.styles(root)
		b.walk(root)
	} else {
		b.bounds.simplified = "too much HTML for a full rendering"
		b.stream(b.source.html)
	}
	return b.finish()
}

// parse returns the tree, or nil if it would be too large or too deep.
func (s *source) parse() *html.Node {
	if !s.tree {
		return nil
	}
	root, err := html.ParseWithOptions(strings.NewReader(s.html), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil // more than 512 open elements
	}
	return root
}

// styles reads the style elements, which apply to the whole message wherever they are.
func (b *builder) styles(n *html.Node) {
	if n.Type == html.ElementNode && n.DataAtom == atom.Style {
		if _, ok := attr(n, "amp4email-boilerplate"); ok {
			return // hides the body until a script shows it
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			b.cascade.Add(c.Data)
		}
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.styles(c)
	}
}

func (b *builder) walk(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		b.text(n.Data)
	case html.ElementNode:
		if n.DataAtom == atom.Script {
			b.doc.Scripts++
		}
		if n.Data == "amp-img" {
			n.DataAtom = atom.Img
		}
		b.open(n)
		b.children(n)
		b.close()
	default:
		b.children(n)
	}
}

func (b *builder) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.walk(c)
	}
}

// finish completes the document.
func (b *builder) finish() *doc.Document {
	for len(b.frames) > 1 {
		b.close()
	}
	b.para.flush()
	d := b.doc
	d.Preheader = preheader(d)
	d.Links = b.links.Finish()
	if b.bounds.simplified == "" && b.cascade.Full() {
		b.bounds.simplified = "too many style rules: only the first ones apply"
	}
	if b.bounds.simplified == "" && b.source.cut {
		b.bounds.simplified = "a part of the text is cut: it is too long"
	}
	d.Simplified = b.bounds.simplified
	b.tidy()
	return d
}
