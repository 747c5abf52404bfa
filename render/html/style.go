package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
)

type display uint8

const (
	inline display = iota
	block
	inlineBlock
	listItem
	flexRow
	grid
	tableDisplay
	rowDisplay
	cellDisplay
	none
)

type whiteSpace uint8

const (
	normal  whiteSpace = iota
	preLine            // newlines are kept
	pre                // newlines and spaces are kept
)

// inherited is the part of a computed style that children inherit.
type inherited struct {
	size    float32
	spacing float32
	bold    bool
	italic  bool
	under   bool
	strike  bool
	mono    bool
	sup     bool
	sub     bool
	rtl     bool
	unseen  bool // visibility: hidden, which a child may override
	clear   bool // the colour is transparent
	onImage bool // on a background image: the background is unknown
	white   whiteSpace
	align   doc.Align
	color   doc.Color
	back    doc.Color // effective background
	marking bool      // it is the marker of a list item of Word
	vars    *variable // the last custom property declared
	marker  string    // list-style-type
	hidden  string    // why the content is invisible; "" if it is visible
}

// style is the computed style of an element.
type style struct {
	inherited
	display    display
	ownBack    bool // it has a background other than its parent's
	fill       doc.Color
	border     bool    // a border all around, or nearly
	edge       bool    // a border above or below
	ruled      [4]bool // a border on that side alone
	noBorder   bool    // border: none is declared
	overflow   bool    // overflow is hidden
	absolute   bool
	clipped    bool
	msoHide    bool
	opacity    float32
	height     length
	maxHeight  length
	width      length
	maxWidth   length
	left, top  length
	textIndent length
	margin     [4]length // top, right, bottom, left
	padding    [4]length
	isButton   bool
	inlined    bool       // a table inline with others
	float      bool       // beside what follows
	valign     doc.VAlign // of a cell
	parted     bool       // its children are on one line, spread apart
	tracks     int        // columns of a grid; 0 if unknown
	span       int        // columns of a grid that it spans
	wordList   string     // the list of a list item of Word
	listLevel  int        // and its level there, from 1; 0 otherwise
}

const (
	top = iota
	right
	bottom
	left
)

var initial = inherited{size: 16}

// cascade computes styles from the rules of a message and the style attributes.
type cascade struct {
	sheet  sheet
	inline map[string][]decl
	found  []int32
	vars   variables
}

// maxInline bounds how many different style attributes are cached.
const maxInline = 4096

// compute returns the style of an element whose parent has the style parent. outlookOff says that
// mso-hide hides from Outlook alone here.
func (r *cascade) compute(n *html.Node, parent *inherited, outlookOff bool) style {
	s := style{inherited: *parent, opacity: 1}
	s.defaults(n)
	s.attributes(n)
	r.found = r.sheet.match(n, r.found[:0])
	own := r.inlineDecls(n)
	for _, i := range r.found {
		r.vars.declare(&s, r.sheet.rules[i].decls)
	}
	r.vars.declare(&s, own)
	important := false
	for _, i := range r.found {
		important = r.apply(&s, r.sheet.rules[i].decls, false, parent) || important
	}
	important = r.apply(&s, own, false, parent) || important
	if important {
		for _, i := range r.found {
			r.apply(&s, r.sheet.rules[i].decls, true, parent)
		}
		r.apply(&s, own, true, parent)
	}
	if s.width.unit == '%' && s.maxWidth.unit == 'p' && s.maxWidth.v < s.width.px(s.size, 640) {
		s.width = s.maxWidth
	}
	if s.display == grid && s.tracks < 2 {
		s.display = block
	}
	s.hide(n, outlookOff)
	return s
}

func (r *cascade) inlineDecls(n *html.Node) []decl {
	for _, a := range n.Attr {
		if a.Key != "style" {
			continue
		}
		if d, ok := r.inline[a.Val]; ok {
			return d
		}
		d := parseDecls(a.Val)
		if r.inline == nil {
			r.inline = make(map[string][]decl)
		}
		if len(r.inline) < maxInline {
			r.inline[a.Val] = d
		}
		return d
	}
	return nil
}

// apply sets the important declarations, or the others, and reports whether there are important
// ones.
func (r *cascade) apply(s *style, decls []decl, important bool, parent *inherited) (more bool) {
	for i := range decls {
		d := &decls[i]
		if d.important != important {
			more = more || d.important
			continue
		}
		value := d.value
		if d.varies {
			var ok bool
			if value, ok = r.vars.replace(value, s.vars); !ok {
				continue
			}
		}
		s.set(d.property, value, parent)
	}
	return more
}

func (s *style) set(p property, v string, parent *inherited) {
	switch p {
	case pDisplay:
		s.setDisplay(v)
	case pVisibility:
		s.unseen = v == "hidden" || v == "collapse"
	case pMSOHide:
		s.msoHide = v == "all"
	case pOpacity:
		s.setOpacity(v)
	case pHeight:
		setLength(&s.height, v)
	case pMaxHeight:
		setLength(&s.maxHeight, v)
	case pWidth:
		setLength(&s.width, v)
	case pMaxWidth:
		setLength(&s.maxWidth, v)
	case pOverflow:
		s.overflow = strings.HasPrefix(v, "hidden") || strings.HasPrefix(v, "clip")
	case pPosition:
		s.absolute = v == "absolute" || v == "fixed"
	case pLeft:
		setLength(&s.left, v)
	case pTop:
		setLength(&s.top, v)
	case pTextIndent:
		setLength(&s.textIndent, v)
	case pClip:
		s.clipped = clips(v)
	case pMargin:
		setSides(&s.margin, v)
	case pPadding:
		setSides(&s.padding, v)
	case pMarginTop, pMarginBottom, pMarginLeft, pMarginRight:
		setLength(&s.margin[side(p-pMarginTop)], v)
	case pPaddingTop, pPaddingBottom, pPaddingLeft, pPaddingRight:
		setLength(&s.padding[side(p-pPaddingTop)], v)
	case pBorder, pBorderStyle, pBorderWidth, pBorderTop, pBorderBottom, pBorderLeft, pBorderRight:
		s.setBorder(p, draws(v))
	default:
		s.setText(p, v, parent)
	}
}

func (s *style) setOpacity(v string) {
	if f, err := strconv.ParseFloat(strings.TrimSuffix(v, "%"), 32); err == nil {
		s.opacity = float32(f)
	}
}

func (s *style) setBorder(p property, drawn bool) {
	switch p {
	case pBorder, pBorderStyle, pBorderWidth:
		s.noBorder = !drawn
		if p == pBorder || !drawn {
			s.border = drawn
		}
		return
	case pBorderTop, pBorderBottom:
		s.edge = drawn
		s.ruled[side(p-pBorderTop)] = drawn
	}
	s.noBorder = s.noBorder && !drawn
}

func side(p property) int { return [4]int{top, bottom, left, right}[p] }

// setText sets a property of text.
func (s *style) setText(p property, v string, parent *inherited) {
	switch p {
	case pFont:
		s.setFont(v, parent)
	case pFontSize:
		s.setSize(v, parent.size)
	case pFontWeight:
		s.setWeight(v)
	case pFontStyle:
		s.italic = v == "italic" || strings.HasPrefix(v, "oblique")
	case pFontFamily:
		s.setFamily(v)
	case pLetterSpacing:
		s.setSpacing(v)
	case pColor:
		if c, ok := parseColor(v); ok {
			s.setColor(c)
		}
	case pBackground, pBackgroundColor, pBackgroundImage:
		s.setBackground(v, p == pBackgroundColor, parent)
	case pTextAlign:
		s.setAlign(v)
	case pTextDecoration:
		s.setDecoration(v)
	case pWhiteSpace:
		s.setWhiteSpace(v)
	case pDirection:
		s.rtl = v == "rtl"
	case pListStyle:
		s.setMarker(v)
	case pVerticalAlign:
		s.setVerticalAlign(v)
	case pFloat:
		s.float = v == "left" || v == "right"
	case pGridColumns:
		s.tracks = countTracks(v)
	case pGridColumn:
		s.span = spanned(v)
	case pMSOList:
		s.setWordList(v)
	case pFlexDirection:
		if s.display == flexRow && strings.HasPrefix(v, "column") {
			s.display = block
		}
	}
}

func (s *style) setSpacing(v string) {
	if l, ok := parseLength(v); ok {
		s.spacing = l.px(s.size, 0)
	} else if v == "normal" {
		s.spacing = 0
	}
}

func (s *style) setDecoration(v string) {
	if v != "inherit" {
		s.under = strings.Contains(v, "underline")
		s.strike = strings.Contains(v, "line-through")
	}
}

func (s *style) setWhiteSpace(v string) {
	switch v {
	case "pre", "pre-wrap", "break-spaces":
		s.white = pre
	case "pre-line":
		s.white = preLine
	case "normal", "nowrap":
		s.white = normal
	}
}

func (s *style) setVerticalAlign(v string) {
	switch v {
	case "super":
		s.sup = true
	case "sub":
		s.sub = true
	case "baseline":
		s.sup, s.sub = false, false
	case "top":
		s.valign = doc.Top
	case "middle":
		s.valign = doc.Middle
	case "bottom":
		s.valign = doc.Bottom
	}
}

func (s *style) setDisplay(v string) {
	switch v {
	case "none":
		s.display = none
	case "inline", "contents":
		s.display = inline
	case "inline-block":
		s.display = inlineBlock
	case "inline-flex", "inline-grid":
		s.display, s.parted = inlineBlock, true
	case "flex":
		s.display = flexRow
	case "grid":
		s.display = grid
	case "table", "inline-table":
		s.display, s.inlined = tableDisplay, v == "inline-table"
	case "table-row":
		s.display = rowDisplay
	case "table-cell":
		s.display = cellDisplay
	case "list-item":
		s.display = listItem
	case "inherit", "initial", "unset", "revert":
	default:
		s.display = block
	}
}

// countTracks counts the columns in a value of grid-template-columns; 0 if it depends on the width.
func countTracks(v string) int {
	n, depth, word := 0, 0, false
	if count, ok := strings.CutPrefix(v, "repeat("); ok {
		count, _, _ = strings.Cut(count, ",")
		n, _ = strconv.Atoi(strings.TrimSpace(count))
		return min(max(n, 0), maxColumns)
	}
	for i := range len(v) {
		switch c := v[i]; {
		case c == '(', c == '[':
			depth++
		case c == ')', c == ']':
			depth--
		}
		space := v[i] == ' ' && depth == 0
		if !space && !word && v[i] != '[' && v[i] != ']' {
			n++
		}
		word = !space
	}
	return min(n, maxColumns)
}

// spanned returns the number of columns in a value of grid-column.
func spanned(v string) int {
	v = strings.ReplaceAll(v, " ", "")
	if strings.HasSuffix(v, "/-1") {
		return maxColumns
	}
	_, n, _ := strings.Cut(v, "span")
	count, _ := strconv.Atoi(n)
	return min(max(count, 1), maxColumns)
}

func (s *style) setColor(c rgba) {
	s.clear = c.a < .05
	if !s.clear {
		s.color = c.over(s.back)
	}
}

func (s *style) setBackground(v string, colorOnly bool, parent *inherited) {
	if v == "none" || v == "transparent" || v == "initial" || v == "inherit" {
		s.back, s.onImage, s.ownBack = parent.back, parent.onImage, false
		return
	}
	if !colorOnly {
		if i := strings.Index(v, "gradient("); i >= 0 {
			s.onImage = true
			if c, ok := firstColor(v[i+len("gradient("):]); ok {
				s.paint(c, parent)
			}
			return
		}
		if i := strings.Index(v, "url("); i >= 0 {
			s.onImage = true
			before, after := v[:i], v[i:]
			_, after, _ = strings.Cut(after, ")")
			v = before + " " + after
		}
	}
	if c, ok := firstColor(v); ok {
		s.paint(c, parent)
		if colorOnly {
			s.onImage = s.onImage && parent.onImage
		}
	}
}

// firstColor returns the first colour in a value of several parts.
func firstColor(v string) (rgba, bool) {
	if c, ok := parseColor(v); ok {
		return c, true
	}
	for v != "" {
		var word string
		end, depth := len(v), 0
		for i := range len(v) {
			if v[i] == '(' {
				depth++
			} else if v[i] == ')' && depth > 0 {
				depth--
			} else if depth == 0 && (v[i] == ' ' || v[i] == ',' || v[i] == ')') {
				end = i
				break
			}
		}
		word, v = v[:end], v[min(end+1, len(v)):]
		if c, ok := parseColor(word); ok {
			return c, true
		}
	}
	return rgba{}, false
}

func (s *style) paint(c rgba, parent *inherited) {
	if c.a < .05 {
		s.back, s.ownBack = parent.back, false
		return
	}
	s.back = c.over(parent.back)
	s.fill = s.back
	around := parent.back
	if !around.Set {
		around = white
	}
	s.ownBack = !same(s.back, around)
	if s.ownBack && c.a == 1 {
		s.onImage = false
	}
}

func (s *style) setAlign(v string) {
	switch v {
	case "center", "-webkit-center":
		s.align = doc.Center
	case "right", "end":
		s.align = doc.End
		if s.rtl && v == "right" {
			s.align = doc.Start
		}
	case "left", "start", "justify":
		s.align = doc.Start
	}
}

func (s *style) setWeight(v string) {
	switch v {
	case "bold", "bolder":
		s.bold = true
	case "normal", "lighter":
		s.bold = false
	default:
		if n, err := strconv.ParseFloat(v, 32); err == nil {
			s.bold = n >= 600
		}
	}
}

var sizes = map[string]float32{
	"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48,
}

func (s *style) setSize(v string, parent float32) {
	if px, ok := sizes[v]; ok {
		s.size = px
		return
	}
	switch v {
	case "smaller":
		s.size = parent / 1.2
	case "larger":
		s.size = parent * 1.2
	default:
		if l, ok := parseLength(v); ok && l.v >= 0 {
			s.size = min(l.px(parent, parent), 1000)
		}
	}
}

// setFont parses the font shorthand: style and weight, size with an optional line height, family.
func (s *style) setFont(v string, parent *inherited) {
	rest := v
	for rest != "" {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		word, _, _ = strings.Cut(word, "/")
		switch {
		case word == "bold", word == "bolder", word == "600", word == "700", word == "800", word == "900":
			s.bold = true
		case word == "italic", word == "oblique":
			s.italic = true
		case word == "normal":
			s.bold, s.italic = false, false
		default:
			l, ok := parseLength(word)
			if _, named := sizes[word]; named || ok && (l.v == 0 || word[len(word)-1] > '9' || word[len(word)-1] == '%') {
				s.setSize(word, parent.size)
				s.setFamily(rest)
				return
			}
		}
	}
}

func (s *style) setFamily(v string) {
	first, _, _ := strings.Cut(v, ",")
	s.mono = strings.Contains(first, "mono") || strings.Contains(first, "courier") ||
		strings.Contains(first, "consolas") || strings.Contains(first, "menlo") || strings.Contains(first, "monaco")
}

func (s *style) setMarker(v string) {
	for word := range strings.FieldsSeq(v) {
		switch word {
		case "none", "disc", "circle", "square", "decimal", "decimal-leading-zero", "lower-alpha", "lower-latin",
			"upper-alpha", "upper-latin", "lower-roman", "upper-roman":
			s.marker = word
		}
	}
}

func setLength(l *length, v string) {
	if parsed, ok := parseLength(v); ok {
		*l = parsed
	} else if v == "auto" || v == "none" || v == "initial" {
		*l = length{}
	}
}

// setSides parses one to four lengths.
func setSides(sides *[4]length, v string) {
	var l [4]length
	n := 0
	for word := range strings.FieldsSeq(v) {
		if n == 4 {
			return
		}
		setLength(&l[n], word)
		n++
	}
	switch n {
	case 1:
		*sides = [4]length{l[0], l[0], l[0], l[0]}
	case 2:
		*sides = [4]length{l[0], l[1], l[0], l[1]}
	case 3:
		*sides = [4]length{l[0], l[1], l[2], l[1]}
	case 4:
		*sides = l
	}
}

// draws reports whether the value of a border makes it visible.
func draws(v string) bool {
	if v == "" || strings.Contains(v, "none") || strings.Contains(v, "hidden") {
		return false
	}
	for word := range strings.FieldsSeq(v) {
		if l, ok := parseLength(word); ok && l.v == 0 {
			return false
		}
		if c, ok := parseColor(word); ok && c.a == 0 {
			return false
		}
	}
	return true
}

// defaults sets the style that an element has without any CSS.
func (s *style) defaults(n *html.Node) {
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Div, atom.Center, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main,
		atom.Nav, atom.Aside, atom.Address, atom.Form, atom.Fieldset, atom.Legend, atom.Figure, atom.Figcaption,
		atom.Details, atom.Summary, atom.Hgroup, atom.Dt, atom.Caption, atom.Tbody, atom.Thead, atom.Tfoot, atom.Frameset:
		s.display = block
	case atom.P:
		s.display = block
		s.margin = vertical(1)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Dl:
		s.display = block
		if n.Parent == nil || n.Parent.DataAtom != atom.Li {
			s.margin = vertical(1)
		}
		s.marker = ""
	case atom.Blockquote:
		s.display = block
		s.margin = vertical(1)
	case atom.Dd:
		s.display = block
	case atom.Li:
		s.display = listItem
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext:
		s.display, s.white, s.mono = block, pre, true
		s.margin = vertical(1)
	case atom.Textarea:
		s.white = pre
	case atom.Hr:
		s.display = block
		s.margin = vertical(.5)
	case atom.Table:
		s.display = tableDisplay
		// In quirks mode, which messages are read in, a table does not inherit these.
		s.align, s.white = doc.Start, normal
	case atom.Tr:
		s.display = rowDisplay
	case atom.Td, atom.Th:
		s.display = cellDisplay
		if n.DataAtom == atom.Th {
			s.bold = true
		}
	default:
		s.inlineDefaults(n)
	}
	if n.DataAtom == atom.Center {
		s.align = doc.Center
	}
}

func (s *style) inlineDefaults(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		level := int(n.Data[1] - '1')
		s.display, s.bold = block, true
		s.size = [6]float32{32, 24, 18.72, 16, 13.28, 10.72}[level]
		s.margin = vertical([6]float32{.67, .83, 1, 1.33, 1.67, 2.33}[level])
	case atom.B, atom.Strong:
		s.bold = true
	case atom.I, atom.Em, atom.Cite, atom.Var, atom.Dfn:
		s.italic = true
	case atom.U, atom.Ins:
		s.under = true
	case atom.S, atom.Strike, atom.Del:
		s.strike = true
	case atom.Code, atom.Tt, atom.Kbd, atom.Samp:
		s.mono = true
	case atom.Sup:
		s.sup = true
	case atom.Sub:
		s.sub = true
	case atom.Small:
		s.size /= 1.2
	case atom.Big:
		s.size *= 1.2
	case atom.Button:
		s.display, s.isButton = inlineBlock, true
	case atom.Bdo:
		s.rtl = false
	case atom.Mark:
		s.back, s.fill, s.ownBack = doc.Color{R: 255, G: 255, Set: true}, doc.Color{R: 255, G: 255, Set: true}, true
	}
}

func vertical(em float32) [4]length {
	return [4]length{top: {em, 'e'}, bottom: {em, 'e'}}
}

// attributes applies the presentational attributes. CSS overrides them.
func (s *style) attributes(n *html.Node) {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			s.display = none
		case "dir":
			dir := strings.ToLower(a.Val)
			s.rtl = dir == "rtl" || s.rtl && dir != "ltr"
		case "bgcolor":
			if c, ok := legacyColor(a.Val); ok {
				parent := s.inherited
				s.paint(c, &parent)
			}
		case "background":
			s.onImage = s.onImage || strings.TrimSpace(a.Val) != ""
		case "align":
			if n.DataAtom != atom.Table && n.DataAtom != atom.Img {
				s.setAlign(strings.ToLower(a.Val))
			}
		case "valign":
			s.setVerticalAlign(strings.ToLower(a.Val))
		case "height":
			setDimension(&s.height, a.Val)
		case "width":
			setDimension(&s.width, a.Val)
		case "text":
			if n.DataAtom == atom.Body {
				s.setLegacyColor(a.Val)
			}
		case "color", "size", "face":
			if n.DataAtom == atom.Font {
				s.fontAttribute(a)
			}
		case "type":
			s.listType(n, a.Val)
		}
	}
}

// setDimension sets a width or a height from an attribute; no browser takes 0 literally.
func setDimension(l *length, v string) {
	setLength(l, strings.ToLower(v))
	if l.v == 0 {
		*l = length{}
	}
}

func (s *style) setLegacyColor(v string) {
	if c, ok := legacyColor(v); ok {
		s.setColor(c)
	}
}

func (s *style) fontAttribute(a html.Attribute) {
	switch a.Key {
	case "color":
		s.setLegacyColor(a.Val)
	case "size":
		s.setFontSize(a.Val)
	case "face":
		s.setFamily(strings.ToLower(a.Val))
	}
}

// setFontSize parses the size of a font element: 1 to 7, or relative.
func (s *style) setFontSize(v string) {
	v = strings.TrimSpace(v)
	n, err := strconv.Atoi(strings.TrimPrefix(v, "+"))
	if err != nil {
		return
	}
	if v[0] == '+' || v[0] == '-' {
		n += 3
	}
	s.size = [7]float32{10, 13, 16, 18, 24, 32, 48}[min(max(n, 1), 7)-1]
}

func (s *style) listType(n *html.Node, v string) {
	if n.DataAtom != atom.Ol && n.DataAtom != atom.Ul && n.DataAtom != atom.Li {
		return
	}
	switch v = strings.TrimSpace(v); v {
	case "1":
		s.marker = "decimal"
	case "a":
		s.marker = "lower-alpha"
	case "A":
		s.marker = "upper-alpha"
	case "i":
		s.marker = "lower-roman"
	case "I":
		s.marker = "upper-roman"
	default:
		s.setMarker(strings.ToLower(v))
	}
}
