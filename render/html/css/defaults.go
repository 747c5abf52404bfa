package css

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

// builtin is the style that an element has without any CSS.
type builtin struct {
	display Display
	margin  float32 // em, above and below
	set     func(s *Style)
}

var (
	boldly    = func(s *Style) { s.Bold = true }
	slanted   = func(s *Style) { s.Italic = true }
	under     = func(s *Style) { s.Underline = true }
	struck    = func(s *Style) { s.Strike = true }
	mono      = func(s *Style) { s.Mono = true }
	monospace = func(s *Style) { s.WhiteSpace, s.Mono = Pre, true }
	unmarked  = func(s *Style) { s.Marker = "" }
)

var builtins = map[atom.Atom]builtin{
	atom.Center: {Block, 0, func(s *Style) { s.Text, s.Blocks = ToCenter, doc.Center }},
	atom.P:      {Block, 1, nil}, atom.Blockquote: {Block, 1, nil},
	atom.Ul: {Block, 1, unmarked}, atom.Ol: {Block, 1, unmarked}, atom.Menu: {Block, 1, unmarked}, atom.Dir: {Block, 1, unmarked}, atom.Dl: {Block, 1, unmarked},
	atom.Li:  {ListItem, 0, nil},
	atom.Pre: {Block, 1, monospace}, atom.Xmp: {Block, 1, monospace}, atom.Listing: {Block, 1, monospace}, atom.Plaintext: {Block, 1, monospace},
	atom.Textarea: {Inline, 0, func(s *Style) { s.WhiteSpace = Pre }},
	atom.Hr:       {Block, .5, func(s *Style) { s.Margin[Left].Unit, s.Margin[Right].Unit = 'a', 'a' }},
	atom.Table:    {Table, 0, func(s *Style) { s.WhiteSpace = Normal }},
	atom.Tr:       {TableRow, 0, nil}, atom.Td: {TableCell, 0, nil}, atom.Th: {TableCell, 0, boldly},
	atom.B: {set: boldly}, atom.Strong: {set: boldly},
	atom.I: {set: slanted}, atom.Em: {set: slanted}, atom.Cite: {set: slanted}, atom.Var: {set: slanted}, atom.Dfn: {set: slanted},
	atom.U: {set: under}, atom.Ins: {set: under},
	atom.S: {set: struck}, atom.Strike: {set: struck}, atom.Del: {set: struck},
	atom.Code: {set: mono}, atom.Tt: {set: mono}, atom.Kbd: {set: mono}, atom.Samp: {set: mono},
	atom.Sup: {set: func(s *Style) { s.Sup = true }}, atom.Sub: {set: func(s *Style) { s.Sub = true }},
	atom.Small: {set: func(s *Style) { s.Size /= 1.2 }}, atom.Big: {set: func(s *Style) { s.Size *= 1.2 }},
	atom.Button: {InlineBlock, 0, func(s *Style) { s.Transform = AsWritten }},
	atom.Bdo:    {set: func(s *Style) { s.RTL, s.Override = false, true }},
	atom.Mark: {set: func(s *Style) {
		s.Fill = doc.Color{R: 255, G: 255, Set: true}
		s.Background, s.OwnBackground = s.Fill, true
	}},
}

func init() {
	for _, block := range [...]atom.Atom{atom.Html, atom.Body, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main,
		atom.Nav, atom.Aside, atom.Address, atom.Form, atom.Fieldset, atom.Legend, atom.Figure, atom.Figcaption,
		atom.Details, atom.Summary, atom.Hgroup, atom.Dt, atom.Dd, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot, atom.Frameset} {
		builtins[block] = builtin{display: Block}
	}
	headings := [...]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}
	for level, size := range [...]float32{32, 24, 18.72, 16, 13.28, 10.72} {
		margin := [...]float32{.67, .83, 1, 1.33, 1.67, 2.33}[level]
		builtins[headings[level]] = builtin{Block, margin, func(s *Style) { s.Size, s.Bold = size, true }}
	}
}

// defaults sets the style that an element has without any CSS.
func (s *Style) defaults(n *html.Node, quirks bool) {
	b := builtins[n.DataAtom]
	if s.Display = b.display; b.margin > 0 {
		s.Margin[Top], s.Margin[Bottom] = Length{b.margin, 'e'}, Length{b.margin, 'e'}
	}
	if b.set != nil {
		b.set(s)
	}
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
		if n.Parent != nil && n.Parent.DataAtom == atom.Li {
			s.Margin = [4]Length{}
		}
	case atom.Table:
		if quirks || s.Blocks != doc.Start { // a table does not inherit an align attribute
			s.Text = ToStart
		}
		s.Blocks, s.Cells, s.CellSpace, s.Lined = doc.Start, Length{}, Length{}, false
	case atom.Td, atom.Th:
		s.Padding = [4]Length{s.Cells, s.Cells, s.Cells, s.Cells}
	}
}

// maxLang bounds the name of a language, in bytes.
const maxLang = 35

// attributes applies the presentational attributes. CSS overrides them.
func (s *Style) attributes(n *html.Node) {
	font := n.DataAtom == atom.Font
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			s.Display = None
		case "href":
			s.Underline = s.Underline || n.DataAtom == atom.A
		case "lang":
			s.Lang = a.Val[:min(len(a.Val), maxLang)]
		case "dir":
			s.setDirection(strings.ToLower(strings.TrimSpace(a.Val)))
		case "bgcolor":
			s.paint(legacyColor(a.Val))
		case "background":
			s.OnImage = s.OnImage || strings.TrimSpace(a.Val) != ""
		case "align":
			s.alignAttribute(n, strings.ToLower(a.Val))
		case "valign":
			s.setVerticalAlign(strings.ToLower(a.Val))
		case "cellpadding":
			if n.DataAtom == atom.Table {
				setDimension(&s.Cells, a.Val)
			}
		case "border":
			s.Lined = n.DataAtom == atom.Table && strings.Trim(a.Val, "0 ") != ""
		case "cellspacing":
			setDimension(&s.CellSpace, a.Val)
		case "height":
			setDimension(&s.Height, a.Val)
		case "width":
			setDimension(&s.Width, a.Val)
		case "text", "color":
			if a.Key == "text" && n.DataAtom == atom.Body || a.Key == "color" && font {
				s.paintText(legacyColor(a.Val))
			}
		case "size":
			if font {
				s.setFontSize(a.Val)
			}
		case "type":
			s.listType(n, a.Val)
		}
	}
}

// alignAttribute applies an align attribute: to a table or a line itself, else to what is in it.
func (s *Style) alignAttribute(n *html.Node, v string) {
	switch n.DataAtom {
	case atom.Img:
	case atom.Table, atom.Hr:
		left, right := &s.Margin[Left], &s.Margin[Right]
		if *left, *right = (Length{}), (Length{}); v != "left" {
			left.Unit = 'a'
		}
		if v != "right" {
			right.Unit = 'a'
		}
		if n.DataAtom == atom.Table {
			s.setFloat(v)
		}
	default:
		s.setAlign(v)
		s.Blocks = s.Text.Within(s.RTL)
	}
}

// setDimension sets a width or a height from an attribute; no browser takes 0 literally.
func setDimension(l *Length, v string) {
	v = strings.TrimSpace(v)
	number := strings.TrimLeft(v, "0123456789.")
	n := len(v) - len(number)
	if strings.HasPrefix(number, "%") {
		n++
	}
	setLength(l, v[:n])
	if l.Value == 0 {
		*l = Length{}
	}
}

// setFontSize parses the size of a font element: 1 to 7, or relative.
func (s *Style) setFontSize(v string) {
	v = strings.TrimSpace(v)
	n, err := strconv.Atoi(strings.TrimPrefix(v, "+"))
	if err != nil {
		return
	}
	if v[0] == '+' || v[0] == '-' {
		n += 3
	}
	s.Size = [7]float32{10, 13, 16, 18, 24, 32, 48}[min(max(n, 1), 7)-1]
}

func (s *Style) listType(n *html.Node, v string) {
	if n.DataAtom != atom.Ol && n.DataAtom != atom.Ul && n.DataAtom != atom.Li {
		return
	}
	if kind, ok := listTypes[strings.TrimSpace(v)]; ok {
		s.Marker = kind
	} else {
		s.setMarker(strings.ToLower(v))
	}
}

var listTypes = map[string]string{"1": "decimal", "a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
