package html

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// arrange makes the container that the display property of an element asks for, if any, and reports
// whether it did.
func (b *builder) arrange(f *frame) bool {
	switch f.style.Display {
	case css.Grid:
		if !f.style.Width.IsSet() {
			f.style.Width = css.Length{Value: 100, Unit: '%'}
		}
		fallthrough
	case css.Table:
		b.push(f, &doc.Block{Kind: doc.Table})
	case css.TableRow, css.FlexRow:
		b.push(f, &doc.Block{Kind: doc.Row})
	case css.TableCell:
		b.openCell(f)
	case css.InlineBlock:
		whole := f.style.Width.Unit == '%' && f.style.Width.Value >= 100 // nothing is beside it
		if !f.flow || whole || f.node.DataAtom != atom.Div && !b.besideCell(&b.frames[len(b.frames)-2]) {
			return false
		}
		b.push(f, newCell(&f.style))
	default:
		return false
	}
	return true
}

// element handles the meaning of an element when it is opened. Most elements handled by arrange
// have no other.
func (b *builder) element(f *frame) {
	if b.voidElement(f) || f.node.DataAtom != atom.Blockquote && b.arrange(f) && f.node.DataAtom != atom.A {
		return
	}
	switch f.node.DataAtom {
	case atom.A:
		b.openLink(f)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		b.openList(f)
	case atom.Li:
		b.openItem(f)
	case atom.Dd:
		b.push(f, &doc.Block{Kind: doc.Item, Marker: " "}) // indented
	case atom.Blockquote:
		if !f.style.NoBorder {
			b.push(f, &doc.Block{Kind: doc.Quote})
			b.quoted++
		}
	case atom.Q:
		b.para.word("“", f)
	case atom.Rt:
		b.para.word("(", f)
	case atom.Form:
		b.doc.Forms++
	case atom.Html:
		b.doc.Lang, b.doc.RTL = clean.Line(f.style.Lang), f.style.RTL
	case atom.Body:
		b.canvas = f.style.Background
		b.doc.RTL = b.doc.RTL || f.style.RTL
	case atom.Button: // spaces separate it from the text around it, as other controls
		b.para.space, f.button = true, true
	case atom.Option, atom.Select, atom.Textarea:
		b.para.space = true
	}
}

// voidElement handles an element that has no content, and reports whether it is one.
func (b *builder) voidElement(f *frame) bool {
	switch f.node.DataAtom {
	case atom.Br:
		b.para.lineBreak()
	case atom.Hr:
		b.rule(&f.style)
	case atom.Img:
		b.image(f)
	case atom.Area:
		b.area(f)
	case atom.Input:
		b.input(f)
	default:
		return false
	}
	return true
}

// elementEnd handles the meaning of an element when it is closed.
func (b *builder) elementEnd(f *frame) {
	switch f.node.DataAtom {
	case atom.A:
		b.closeLink(f)
	case atom.Q:
		b.para.append("”", f, 0)
	case atom.Rt:
		b.para.append(")", f, 0)
	case atom.Th:
		if f.made != nil {
			f.made.Head = 1
		}
	}
	b.closeBox(f)
	if f.flow {
		b.para.flush()
	}
	if f.made != nil {
		b.closeContainer(f)
	} else if from := min(f.blocks, len(*b.out)); f.flow && b.loose > 0 {
		boxed := b.boxes((*b.out)[from:], &f.style.Inherited)
		*b.out = append((*b.out)[:from], boxed...)
	}
	if f.flow {
		b.box(f)
		b.emptyBox(f)
		b.alignBox(f)
	}
}

func (b *builder) closeContainer(f *frame) {
	made := b.pop(f)
	lined := made.Kind == doc.Cell && f.style.Lined || f.style.Border && f.box != nil && f.box.joined
	if over, under := f.style.Ruled[css.Top] || lined, f.style.Ruled[css.Bottom]; over || under {
		b.ruled[made] = ruled{over, under}
	}
	if made.Kind != doc.Row && made.Kind != doc.Table {
		made.Children = b.boxes(made.Children, &f.style.Inherited)
	}
	switch made.Kind {
	case doc.Table:
		if f.style.Display == css.Grid {
			made.Children = tracks(made.Children, f.style.Tracks, f.style.Even)
			for _, row := range made.Children[min(1, len(made.Children)):] {
				row.Gap = f.style.RowGap.Px(f.style.Size, 0) >= leastGap*lineHeight(&f.style.Inherited)
			}
		}
		b.closeTable(made, f)
		return
	case doc.Row:
		b.closeRow(made, f)
		return
	case doc.Cell:
		if b.far[made] && made.Width == (doc.Width{}) { // it is as wide as its text
			atEnd(made.Children, f.style.RTL)
		}
		made.Blank = len(made.Children) == 0 && len(b.doc.Images) == f.images
		*b.out = append(*b.out, made)
		if in := b.container(); in == nil || in.Kind != doc.Row && in.Kind != doc.Table {
			b.loose++
		}
		return
	case doc.Quote:
		b.quoted--
	case doc.List:
		if !slices.ContainsFunc(made.Children, func(c *doc.Block) bool { return c.Kind == doc.Item }) {
			*b.out = append(*b.out, made.Children...)
			return
		}
		made.Children = keepItems(made.Children)
	}
	if len(made.Children) == 0 {
		return
	}
	if first := made.Children[0]; first.Gap { // which is above all of it
		first.Gap, made.Gap = false, true
	}
	*b.out = append(*b.out, made)
}

// keepItems makes items of the children of a list that are not items.
func keepItems(children []*doc.Block) []*doc.Block {
	for i, c := range children {
		if c.Kind != doc.Item && c.Kind != doc.List {
			children[i] = &doc.Block{Kind: doc.Item, Children: []*doc.Block{c}, Gap: c.Gap && c.Kind != doc.Rule}
			c.Gap = false
		}
	}
	return children
}

// emptyBox adds the height of an empty block, and what a label leaves of a block's. A thin empty one with a
// colour is a rule.
func (b *builder) emptyBox(f *frame) {
	s := &f.style
	height := s.Height.Px(s.Size, 0)
	if b.order == f.leaves+1 && isLabel(b.last) { // which stands in the middle of it
		beside := min((height-lineHeight(&s.Inherited))/2, maxPad)
		b.space = max(b.space, beside)
		b.last.Gap = b.last.Gap || s.Display == css.TableCell && beside > 0 && f.above+beside >= leastGap*b.foot
	}
	if b.order != f.leaves || f.node.DataAtom == atom.Hr {
		return
	}
	line := s.Edge || s.OwnBackground && height > 0 && (height <= 4 || height <= maxStripe && alone(f) && isFill(s.Fill, b.frames[len(b.frames)-2].style.Background))
	if out := *b.out; f.style.Display == css.TableCell && len(out) > 0 && out[len(out)-1].Kind == doc.Cell {
		if cell := out[len(out)-1]; line && !s.Border && len(cell.Children) == 0 {
			cell.Children = []*doc.Block{{Kind: doc.Rule, Gap: true}}
			b.lines[cell.Children[0]] = f.box
			return
		}
	} else if (line || s.Border) && f.node.DataAtom != atom.Table {
		b.rule(s)
		return
	}
	if text := f.node.FirstChild; text != nil && text.Type == html.TextNode && strings.Contains(text.Data, blank) {
		height = max(height, lineHeight(&s.Inherited))
	}
	if all := f.above + min(height, maxPad); height > 0 && b.margin+b.space < all {
		b.space, b.margin = all, 0
	}
}

// maxStripe is the height in px up to which a strong colour alone in its row is a rule.
const maxStripe = 20

// halfPage is the width in px up to which a column stands beside another one.
const halfPage = 320

// edge adds the border above or below a block that has no other mark. Those of rows and cells are
// theirs.
func (b *builder) edge(f *frame, side int) {
	if f.style.Ruled[side] && f.link == 0 && !f.style.OwnBackground && !f.style.Bar && (f.style.Display == css.Block || f.style.Display == css.Table || f.style.Display == css.ListItem || f.style.Display == css.FlexRow) && (side == css.Top || b.order > f.leaves) {
		b.border(&f.style)
	}
}

// border adds a horizontal line where one divides what is in a column as wide as text.
func (b *builder) border(s *css.Style) {
	in := b.container()
	if (in == nil || in.Kind != doc.Table && in.Kind != doc.Row) && b.room(b.top()) >= halfPage {
		b.rule(s)
	}
}

// rule adds a horizontal line.
func (b *builder) rule(s *css.Style) {
	b.divide(&doc.Block{Kind: doc.Rule, Width: width(s), Align: s.BoxAlign, RTL: s.RTL})
}

// divide adds a rule, unless there is one already, or nothing that it divides.
func (b *builder) divide(rule *doc.Block) {
	out := *b.out
	if n := len(out); n > 0 && out[n-1].Kind == doc.Rule {
		return
	}
	if in := b.container(); len(out) == 0 && (in == nil || in.Kind != doc.Cell) {
		return
	}
	if _, ok := b.lines[rule]; !ok {
		b.lines[rule] = b.top().box
	}
	b.under, b.over = rule, b.margin+b.space
	*b.out = append(out, rule)
}

func (b *builder) openList(f *frame) {
	f.step = 1
	if _, reversed := attr(f.node, "reversed"); reversed {
		f.step = -1
		for c := range f.node.ChildNodes() {
			if c.DataAtom == atom.Li {
				f.items++
			}
		}
		f.items++
	}
	if n, ok := number(f.node, "start"); ok {
		f.items = n - f.step
	}
	b.push(f, &doc.Block{Kind: doc.List})
}

func (b *builder) openItem(f *frame) {
	item := &doc.Block{Kind: doc.Item, Marker: "•"} // without a marker it is a block like others
	if list, depth := b.list(); list != nil {
		list.items += list.step
		if n, ok := number(f.node, "value"); ok {
			list.items = n
		}
		item.Marker = marker(f.style.Marker, list.node.DataAtom == atom.Ol, list.items, depth)
	}
	if item.Marker != "" {
		b.push(f, item)
	}
}

// list returns the innermost open list, and its depth.
func (b *builder) list() (list *frame, depth int) {
	for i := len(b.frames) - 2; i > 0; i-- {
		if f := &b.frames[i]; f.made != nil && f.made.Kind == doc.List {
			if list == nil {
				list = f
			}
			depth++
		}
	}
	return list, depth
}

var bullets = map[string]string{"none": "", "disc": "•", "circle": "◦", "square": "▪"}

// marker returns the marker of the n-th item of a list.
func marker(kind string, ordered bool, n, depth int) string {
	if kind == "" {
		if ordered {
			kind = "decimal"
		} else {
			kind = [3]string{"disc", "circle", "square"}[min(max(depth, 1), 3)-1]
		}
	}
	if sign, ok := bullets[kind]; ok {
		return sign
	}
	text := strconv.Itoa(n)
	switch _, script, _ := strings.Cut(kind, "-"); script {
	case "alpha", "latin":
		text = letters(n)
	case "roman":
		text = roman(n)
	}
	if strings.HasPrefix(kind, "upper") {
		text = strings.ToUpper(text)
	}
	return text + "."
}

// letters returns n as letters: a, b, … z, aa, ab.
func letters(n int) string {
	if n < 1 {
		return strconv.Itoa(n)
	}
	s := ""
	for ; n > 0; n = (n - 1) / 26 {
		s = string(rune('a'+(n-1)%26)) + s
	}
	return s
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var s strings.Builder
	for _, d := range []struct {
		v int
		s string
	}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"},
		{9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}} {
		for ; n >= d.v; n -= d.v {
			s.WriteString(d.s)
		}
	}
	return s.String()
}

// input shows a control of a form, which does nothing.
func (b *builder) input(f *frame) {
	value := func(key string) string {
		v, _ := attr(f.node, key)
		return clean.Line(v)
	}
	_, checked := attr(f.node, "checked")
	at, text := *f, ""
	switch kind := strings.ToLower(strings.TrimSpace(value("type"))); {
	case f.style.Unseen, kind == "hidden":
		return
	case kind == "submit", kind == "button", kind == "reset", kind == "image":
		at.button, text = true, cmp.Or(value("value"), value("alt"), "Submit")
	case kind == "checkbox" && checked:
		text = "[x]"
	case kind == "checkbox":
		text = "[ ]"
	case kind == "radio" && checked:
		text = "(•)"
	case kind == "radio":
		text = "( )"
	default:
		text = "[" + cmp.Or(value("value"), value("placeholder"), "      ") + "]"
	}
	b.para.space = true
	b.showImage(&at, 0, text)
	if at.button && f.style.OwnBackground {
		b.para.spans[len(b.para.spans)-1].style.Background = f.style.Fill
	}
	b.para.space = true
}
