package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
	"mayfly/render/link"
)

// builder makes a document from elements and text in source order.
type builder struct {
	doc     *doc.Document
	source  source
	cascade css.Cascade
	links   link.Set
	frames  []frame
	out     *[]*doc.Block // where finished blocks go
	para    paragraph

	order     int     // leaves so far
	margin    float32 // px, the largest margin since the last leaf
	inside    float32 // px of margin and padding inside boxes that are closed
	space     float32 // px, padding and empty height since the last leaf
	weight    map[float32]int
	quoted    int
	canvas    doc.Color  // background of the body
	positions []position // of each leaf, by its order
	areas     []*box     // boxes, each before those in it
	written   int        // weight of all leaves
	foot      float32    // px, the height of a line of the last leaf
	last      *doc.Block // the last leaf
	loose     int        // cells that are not yet in a table
	ruled     map[*doc.Block]ruled
	far       map[*doc.Block]bool // cells that float where their row ends
	lines     map[*doc.Block]*box // around rules
	under     *doc.Block          // the rule since the last leaf
	over      float32             // px above it
	anchor    anchor              // the innermost open link
	anchors   int                 // links opened so far
	idle      idle                // the last link without a target
	roomy     int                 // the last link with room above its text
	hidden    hiddenText
	bounds    bounds
}

// frame is an open element.
type frame struct {
	node   *html.Node
	style  css.Style
	link   int
	button bool
	opaque bool          // its text is not part of the body: script, style, title
	flow   bool          // on lines of its own
	made   *doc.Block    // its container
	outer  *[]*doc.Block // where blocks went before it was opened
	leaves int           // builder.order when it was opened
	images int           // of the document when it was opened
	spans  int           // spans of the paragraph when it was opened
	box    *box          // the innermost one around its text
	fill   doc.Color     // of its text, as of a word in a line
	left   float32       // px, of its text
	items  int           // for a list: the number of the last item
	step   int           // to the next one
	celled bool          // the frame around it is a cell made for it
	blocks int           // of where blocks go when it was opened
	above  float32       // px of space above it
	below  float32       // px, for a row: the most below a cell of it
	widest float32       // px, that something in it asks for
}

func newBuilder() *builder {
	b := &builder{doc: &doc.Document{}, weight: make(map[float32]int), ruled: make(map[*doc.Block]ruled), far: make(map[*doc.Block]bool), lines: make(map[*doc.Block]*box)}
	b.out = &b.doc.Blocks
	b.frames = append(b.frames, frame{node: &html.Node{Type: html.DocumentNode}, style: css.Style{Inherited: css.Initial}})
	b.para.b = b
	return b
}

func (b *builder) top() *frame { return &b.frames[len(b.frames)-1] }

// open opens an element. The caller closes it, unless it is void.
func (b *builder) open(n *html.Node) {
	parent := b.top()
	f := frame{node: n, link: parent.link, box: parent.box, left: parent.left, button: parent.button, opaque: parent.opaque || isOpaque(n.DataAtom)}
	if f.opaque {
		b.frames = append(b.frames, f)
		return
	}
	f.style = b.cascade.Compute(n, &parent.style.Inherited)
	if f.style.Hidden != "" {
		b.hidden.image(b, n)
		b.frames = append(b.frames, f)
		return
	}
	if f.style.Inlined || b.floats(&f) || parent.made != nil && (parent.style.Display == css.FlexRow || parent.style.Display == css.Grid) {
		b.openItsCell(&f)
	}
	if f.flow = b.flows(&f); !f.flow {
		if f.fill = parent.fill; f.style.OwnBackground {
			f.fill = f.style.Fill
		}
	}
	if f.flow {
		b.para.flush()
		b.beside(parent)
		b.margin = max(b.margin, f.style.Margin[css.Top].Px(f.style.Size, 0))
		b.openBox(&f)
	}
	f.leaves, f.spans, f.images = b.order, len(b.para.spans), len(b.doc.Images)
	b.frames = append(b.frames, f)
	if f.flow {
		b.edge(&f, css.Top)
		b.pad(&f.style, css.Top)
	}
	b.top().above, b.top().blocks = b.margin+b.space, len(*b.out)
	b.element(b.top())
	if !f.flow {
		b.para.edge(&f.style, css.Left)
	}
}

// openItsCell makes a cell around an element that its parent, or itself as a table, puts beside
// others. The element itself stays what it is: a link, a list, a table.
func (b *builder) openItsCell(f *frame) {
	parent, leaves := b.top(), b.order
	b.para.flush()
	if out := *b.out; b.order > leaves && f.style.Far { // it floats beside that text
		out[len(out)-1] = &doc.Block{Kind: doc.Cell, Columns: 1, Children: []*doc.Block{out[len(out)-1]}}
		b.loose++
	}
	cell := frame{node: &html.Node{Type: html.ElementNode, Parent: parent.node}, link: parent.link, box: parent.box, left: parent.left, button: parent.button, flow: true, leaves: b.order}
	cell.style.Inherited, cell.style.Display = parent.style.Inherited, css.TableCell
	b.frames = append(b.frames, cell)
	made := newCell(&f.style)
	b.far[made] = f.style.Far
	b.push(b.top(), made)
	if f.celled = true; f.style.Display == css.Inline || f.style.Display == css.InlineBlock {
		f.style.Display = css.Block
	}
}

// noRoom is the width in px from which on nothing is beside a column.
const noRoom = 480

// floats reports whether an element is a column beside others: there are none if it is all that is in a cell.
func (b *builder) floats(f *frame) bool {
	s := &f.style
	if b.top().style.Display == css.TableCell && only(f.node) {
		return false
	}
	if f.node.DataAtom == atom.Table {
		return s.Float && s.Width.IsSet() && s.Width.Px(s.Size, 640) < noRoom
	}
	return s.Float && (s.Display == css.Block || s.Far || f.node.DataAtom == atom.Div)
}

// flows reports whether an element is a block on lines of its own. The only child of an inline box is
// not.
func (b *builder) flows(f *frame) bool {
	s := &f.style
	switch s.Display {
	case css.Inline:
		return false
	case css.Block:
		if in := b.top(); in.style.Display == css.InlineBlock && !in.flow && only(f.node) {
			return false
		}
	case css.InlineBlock:
		// A column beside others rather than a word in a line.
		return f.node.DataAtom != atom.A && f.node.DataAtom != atom.Span && s.Width.Unit == 'p' && s.Width.Value >= 100 ||
			f.node.DataAtom == atom.Div && s.Width.Unit == '%' || b.besideCell(b.top())
	}
	return true
}

// besideCell reports whether a cell is before what comes next in an element, on the same line.
func (b *builder) besideCell(in *frame) bool {
	out := *b.out
	return b.loose > 0 && len(b.para.spans) == 0 && len(out) > in.blocks && out[len(out)-1].Kind == doc.Cell
}

// only reports whether an element is all that is in another one.
func only(n *html.Node) bool {
	for c := range n.Parent.ChildNodes() {
		if c != n && c.Type != html.CommentNode && (c.Type != html.TextNode || !empty(c.Data)) {
			return false
		}
	}
	return true
}

// close closes the innermost open element.
func (b *builder) close() {
	f := b.top()
	if !f.opaque && f.style.Hidden == "" {
		b.elementEnd(f)
		if f.flow {
			b.para.flush()
			b.pad(&f.style, css.Bottom)
			if f.box != b.frames[len(b.frames)-2].box {
				b.inside = b.margin + b.space
				f.box.padded = f.box.padded || b.order > f.leaves && b.inside >= leastPadding
				f.box.small = b.narrow()
			}
			b.edge(f, css.Bottom)
			b.margin = max(b.margin, f.style.Margin[css.Bottom].Px(f.style.Size, 0))
			b.endCell(f)
		} else {
			b.para.edge(&f.style, css.Right)
		}
	}
	around := &b.frames[len(b.frames)-2]
	around.widest = max(around.widest, f.widest, width(&f.style).Px)
	b.frames = b.frames[:len(b.frames)-1]
	if f.style.Hidden != "" && b.top().style.Hidden == "" {
		b.hidden.reason = "" // what is hidden after it is a separate piece
	}
	if f.celled {
		b.close()
	}
}

// text adds the text of a text node.
func (b *builder) text(s string) {
	f := b.top()
	if f.opaque {
		if f.node.DataAtom == atom.Title && b.doc.Title == "" {
			b.doc.Title = clean.Line(s[:min(len(s), maxTitle)])
		}
		return
	}
	if why := f.style.Unreadable(); why != "" && (why != css.Blended || !empty(s)) {
		b.hidden.add(b, s, why)
		b.para.space = b.para.space || why == css.Blended && strings.ContainsAny(s, white+blank)
		return
	}
	if f.made != nil && (f.made.Kind == doc.Table || f.made.Kind == doc.Row) && empty(s) {
		return
	}
	if strings.TrimSpace(s) == "-->" { // the end of a comment that is none
		return
	}
	s = b.bounds.room(s)
	if ratio, low := f.style.Contrast(); low && len(b.doc.Faint) < maxFaint && !empty(s) {
		b.doc.Faint = append(b.doc.Faint, doc.Faint{Text: clean.Line(s[:min(len(s), maxTitle)]), Contrast: ratio})
	}
	b.para.text(clean.Text(b.turned(s, f.style.Override && f.style.RTL)), f)
}

// maxFaint bounds how many texts of low contrast are noted.
const maxFaint = 1000

func empty(s string) bool { return strings.Trim(s, white) == "" }

// isOpaque reports whether the text of an element is not part of the body.
func isOpaque(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Iframe, atom.Head, atom.Svg, atom.Datalist,
		atom.Noembed, atom.Noframes, atom.Applet:
		return true
	}
	return false
}

// leaf adds a finished block with text of its own.
func (b *builder) leaf(l *doc.Block, s *css.Inherited) {
	if b.order >= maxLeaves {
		b.bounds.simplified = beginning + ": the mail has too many paragraphs"
		return
	}
	b.order++
	l.Order = b.order
	l.Quoted = b.quoted
	b.boxed(l, b.margin+b.space)
	b.setGap(l, s)
	b.last = l
	*b.out = append(*b.out, l)
}

// push makes a container for the innermost element, which collects blocks until it is closed.
func (b *builder) push(f *frame, made *doc.Block) {
	f.made, f.outer = made, b.out
	b.out = &made.Children
}

// pop ends the container of an element and returns it. It is not yet part of the document.
func (b *builder) pop(f *frame) *doc.Block {
	made := f.made
	b.out, f.made = f.outer, nil
	return made
}

// attr returns the value of an attribute, and whether the element has it.
func attr(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

// number returns the whole number in an attribute, and whether it has one.
func number(n *html.Node, key string) (int, bool) {
	v, _ := attr(n, key)
	i, err := strconv.Atoi(strings.TrimSpace(v))
	return i, err == nil
}
