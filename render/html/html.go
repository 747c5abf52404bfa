// Package html reads an HTML body into a document: it parses it, computes styles, sets hidden text
// aside and puts what stands side by side into columns. Time and memory are bounded for any input.
package html

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
)

// Read reads an HTML body. It never fails: beyond its bounds the document is a simplified one, and
// says so.
func Read(source string) *doc.Document {
	b := newBuilder()
	b.source = limit(source)
	b.cascade.Quirks = !strings.Contains(strings.ToLower(b.source.html[:min(len(b.source.html), 1000)]), "<!doctype")
	root, err := parse(b.source)
	if err != nil { // more than 512 open elements
		b.bounds.simplified = "elements are nested too deeply: only the text is shown"
		b.textOnly()
		return b.finish()
	}
	b.styles(root)
	b.walk(root)
	return b.finish()
}

// Parse returns the tree of an HTML body, within the bounds of [Read]. It fails if elements are nested too deeply.
func Parse(source string) (*html.Node, error) {
	return parse(limit(source))
}

func parse(s source) (*html.Node, error) {
	return html.ParseWithOptions(strings.NewReader(s.html), html.ParseOptionEnableScripting(false))
}

// styles reads the style elements, which apply to the whole message wherever they are.
func (b *builder) styles(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.DataAtom == atom.Style {
			b.cascade.Add(n.Data)
		}
	}
}

func (b *builder) walk(n *html.Node) {
	if n.Type == html.TextNode {
		b.text(n.Data)
	}
	if n.Type == html.ElementNode {
		shorten(n)
		if n.DataAtom == atom.Script {
			b.doc.Scripts++
		}
		if n.DataAtom == atom.Table {
			footLast(n)
		}
		b.open(n)
		defer b.close()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.walk(c)
	}
}

// footLast moves the foot of a table below its other rows, where a browser shows it.
func footLast(table *html.Node) {
	for n := range table.ChildNodes() {
		if n.DataAtom == atom.Tfoot {
			table.RemoveChild(n)
			table.AppendChild(n)
			return
		}
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
	d.Dark = b.dark()
	if strings.HasPrefix(d.Simplified, beginning) { // said where it is cut, too: a pipe shows no notices
		d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Paragraph, Order: b.order + 1, Spans: []doc.Span{{Text: "[" + d.Simplified + "]"}}})
	}
	return d
}

// darkPage is the brightness below which a page is dark.
const darkPage = .3

// dark reports whether most of the text is on a dark page, or on a dark sheet on it.
func (b *builder) dark() bool {
	most := 0
	for i := range b.positions {
		if at := &b.positions[i]; luma(at.in.canvas()) < darkPage {
			most += at.weight
		} else {
			most -= at.weight
		}
	}
	return most > 0
}

// Bounds on the hidden text that is kept. All of it is counted.
const (
	maxHidden     = 1000    // pieces
	maxHiddenText = 1 << 16 // bytes
)

// hiddenText collects the text that a reader does not see.
type hiddenText struct {
	kept   int
	reason string
}

// add adds the text of a hidden node.
func (h *hiddenText) add(b *builder, s, reason string) {
	if empty(s) {
		return
	}
	b.doc.HiddenBytes += len(strings.TrimSpace(s))
	if h.kept+len(s) > maxHiddenText || len(b.doc.Hidden) >= maxHidden {
		return
	}
	h.kept += len(s)
	s = strings.Join(strings.Fields(clean.Text(s)), " ")
	if s == "" {
		return
	}
	if n := len(b.doc.Hidden); n > 0 {
		if last := &b.doc.Hidden[n-1]; h.reason == reason && last.Before == b.order+1 {
			last.Text += " " + s
			return
		}
	}
	h.reason = reason
	b.doc.Hidden = append(b.doc.Hidden, doc.Hidden{Text: s, Reason: reason, Before: b.order + 1})
}

// image notes a hidden image: if it is remote, it is a tracker.
func (h *hiddenText) image(b *builder, n *html.Node) {
	if n.DataAtom != atom.Img {
		return
	}
	if im := b.readImage(n, nil); im.Remote {
		im.Tracker, im.Spacer = true, true
		b.addImage(im)
	}
}

// preheader returns the hidden text before the first visible text.
func preheader(d *doc.Document) string {
	for _, h := range d.Hidden {
		if h.Before > 1 {
			break
		}
		if text := strings.Trim(h.Text, " \u00a0\u2800."); text != "" {
			return text
		}
	}
	return ""
}

// turned returns text as it is read where its direction is overridden, in whole or in parts, and
// counts it.
func (b *builder) turned(s string, whole bool) string {
	if strings.ContainsAny(s, "\n\r") && strings.ContainsRune(s, '\u202e') {
		s = strings.NewReplacer("\n", " ", "\r", " ").Replace(s) // no end of a line
	}
	out := clean.ReadingOrder(s)
	if whole && strings.TrimSpace(s) != "" {
		out = clean.Reversed(s)
	}
	if out != s {
		b.doc.Reversed++
	}
	return out
}
