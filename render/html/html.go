// Package html reads an HTML body into a document: it parses it, computes styles, sets hidden text
// aside and puts what stands side by side into columns. Time and memory are bounded for any input.
package html

import (
	"cmp"
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
	root, err := html.ParseWithOptions(strings.NewReader(b.source.html), html.ParseOptionEnableScripting(false))
	if err != nil { // more than 512 open elements
		b.bounds.simplified = "elements are nested too deeply: only the text is shown"
		b.textOnly()
		return b.finish()
	}
	b.styles(root)
	b.walk(root)
	return b.finish()
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
		shorten(n)
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
	d.Simplified = cmp.Or(b.bounds.simplified, b.source.lost)
	b.tidy()
	return d
}
