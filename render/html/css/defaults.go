package css

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

// defaults sets the style that an element has without any CSS.
func (s *Style) defaults(n *html.Node, quirks bool) {
	switch n.DataAtom {
	case atom.Center:
		s.Display, s.Text, s.Blocks = Block, ToCenter, doc.Center
	case atom.Html, atom.Body, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main,
		atom.Nav, atom.Aside, atom.Address, atom.Form, atom.Fieldset, atom.Legend, atom.Figure, atom.Figcaption,
		atom.Details, atom.Summary, atom.Hgroup, atom.Dt, atom.Dd, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot, atom.Frameset:
		s.Display = Block
	case atom.P, atom.Blockquote:
		s.Display = Block
		s.Margin = vertical(1)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
		s.Display = Block
		if n.Parent == nil || n.Parent.DataAtom != atom.Li {
			s.Margin = vertical(1)
		}
		s.Marker = ""
	case atom.Li:
		s.Display = ListItem
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext:
		s.Display, s.WhiteSpace, s.Mono = Block, Pre, true
		s.Margin = vertical(1)
	case atom.Textarea:
		s.WhiteSpace = Pre
	case atom.Hr:
		s.Display = Block
		s.Margin = vertical(.5)
		s.Margin[Left].Unit, s.Margin[Right].Unit = 'a', 'a'
	case atom.Table:
		s.Display, s.WhiteSpace = Table, Normal
		if quirks || s.Blocks != doc.Start { // a table does not inherit an align attribute
			s.Text = ToStart
		}
		s.Blocks = doc.Start
	case atom.Tr:
		s.Display = TableRow
	case atom.Td:
		s.Display = TableCell
	case atom.Th:
		s.Display, s.Bold = TableCell, true
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(n.Data[1] - '1')
		s.Display, s.Bold = Block, true
		s.Size = [6]float32{32, 24, 18.72, 16, 13.28, 10.72}[level]
		s.Margin = vertical([6]float32{.67, .83, 1, 1.33, 1.67, 2.33}[level])
	case atom.B, atom.Strong:
		s.Bold = true
	case atom.I, atom.Em, atom.Cite, atom.Var, atom.Dfn:
		s.Italic = true
	case atom.U, atom.Ins:
		s.Underline = true
	case atom.S, atom.Strike, atom.Del:
		s.Strike = true
	case atom.Code, atom.Tt, atom.Kbd, atom.Samp:
		s.Mono = true
	case atom.Sup:
		s.Sup = true
	case atom.Sub:
		s.Sub = true
	case atom.Small:
		s.Size /= 1.2
	case atom.Big:
		s.Size *= 1.2
	case atom.Button:
		s.Display, s.Transform = InlineBlock, AsWritten
	case atom.Bdo:
		s.RTL, s.Override = false, true
	case atom.Mark:
		s.Fill = doc.Color{R: 255, G: 255, Set: true}
		s.Background, s.OwnBackground = s.Fill, true
	}
}

func vertical(em float32) [4]Length {
	return [4]Length{Top: {em, 'e'}, Bottom: {em, 'e'}}
}

// attributes applies the presentational attributes. CSS overrides them.
func (s *Style) attributes(n *html.Node) {
	font := n.DataAtom == atom.Font
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			s.Display = None
		case "href":
			s.Underline = s.Underline || n.DataAtom == atom.A && len(a.Val) > 1 // "#" leads nowhere
		case "dir":
			keyword(&s.RTL, directions, strings.ToLower(strings.TrimSpace(a.Val)))
		case "bgcolor":
			s.paint(legacyColor(a.Val))
		case "background":
			s.OnImage = s.OnImage || strings.TrimSpace(a.Val) != ""
		case "align":
			s.alignAttribute(n, strings.ToLower(a.Val))
		case "valign":
			s.setVerticalAlign(strings.ToLower(a.Val))
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
		if *left, *right = (Length{}), (Length{}); v == "center" {
			left.Unit, right.Unit = 'a', 'a'
		} else if v == "right" {
			left.Unit = 'a'
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
