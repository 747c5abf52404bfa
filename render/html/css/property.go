package css

import (
	"slices"
	"strconv"
	"strings"

	"mayfly/render/doc"
)

// setter sets a property of a style to a value in lower case.
type setter func(s *Style, value string)

// properties are those that make a difference in a terminal.
var properties = map[string]setter{
	"display":               (*Style).setDisplay,
	"visibility":            func(s *Style, v string) { s.Unseen = v == "hidden" || v == "collapse" },
	"opacity":               (*Style).setOpacity,
	"height":                func(s *Style, v string) { setLength(&s.Height, v) },
	"max-height":            func(s *Style, v string) { setLength(&s.maxHeight, v) },
	"width":                 (*Style).setWidth,
	"max-width":             func(s *Style, v string) { setLength(&s.maxWidth, v) },
	"overflow":              (*Style).setOverflow,
	"overflow-y":            (*Style).setOverflow,
	"position":              func(s *Style, v string) { s.absolute = v == "absolute" || v == "fixed" },
	"left":                  func(s *Style, v string) { setLength(&s.left, v) },
	"top":                   func(s *Style, v string) { setLength(&s.top, v) },
	"text-indent":           func(s *Style, v string) { setLength(&s.textIndent, v) },
	"margin":                func(s *Style, v string) { setSides(&s.Margin, v) },
	"padding":               func(s *Style, v string) { setSides(&s.Padding, v) },
	"border":                (*Style).setBorder,
	"border-spacing":        func(s *Style, v string) { v, _, _ = strings.Cut(v, " "); setLength(&s.CellSpace, v) },
	"gap":                   func(s *Style, v string) { v, _, _ = strings.Cut(v, " "); setLength(&s.RowGap, v) },
	"row-gap":               func(s *Style, v string) { setLength(&s.RowGap, v) },
	"border-style":          (*Style).setBorderPart,
	"border-width":          (*Style).setBorderPart,
	"border-color":          (*Style).setBorderPart,
	"font":                  (*Style).setFont,
	"font-size":             (*Style).setSize,
	"font-weight":           (*Style).setWeight,
	"font-style":            func(s *Style, v string) { s.Italic = v == "italic" || strings.HasPrefix(v, "oblique") },
	"font-family":           (*Style).setFamily,
	"line-height":           (*Style).setLineHeight,
	"letter-spacing":        (*Style).setSpacing,
	"color":                 func(s *Style, v string) { s.paintText(parseColor(v)) },
	"background":            (*Style).setBackground,
	"background-color":      (*Style).setBackground,
	"background-image":      (*Style).setBackgroundImage,
	"background-clip":       func(s *Style, v string) { s.clipped = v == "text" },
	"text-align":            (*Style).setAlign,
	"text-decoration":       (*Style).setDecoration,
	"text-decoration-line":  (*Style).setDecoration,
	"white-space":           func(s *Style, v string) { keyword(&s.WhiteSpace, spaces, v) },
	"text-transform":        func(s *Style, v string) { keyword(&s.Transform, transforms, v) },
	"float":                 (*Style).setFloat,
	"direction":             (*Style).setDirection,
	"unicode-bidi":          func(s *Style, v string) { s.Override = strings.HasSuffix(v, "override") },
	"list-style":            (*Style).setMarker,
	"list-style-type":       (*Style).setMarker,
	"vertical-align":        (*Style).setVerticalAlign,
	"justify-content":       func(s *Style, v string) { s.Spread = strings.HasPrefix(v, "space") },
	"flex-direction":        (*Style).setFlexDirection,
	"flex-flow":             (*Style).setFlexDirection,
	"grid-template-columns": (*Style).setTracks,
	"grid-column":           func(s *Style, v string) { s.Span = spanned(v) },
}

func init() {
	properties["-webkit-background-clip"] = properties["background-clip"]
	for side, name := range [...]string{Top: "top", Right: "right", Bottom: "bottom", Left: "left"} {
		properties["margin-"+name] = func(s *Style, v string) { setLength(&s.Margin[side], v) }
		properties["padding-"+name] = func(s *Style, v string) { setLength(&s.Padding[side], v) }
		part := func(s *Style, v string) { s.borders[side].set(v) }
		properties["border-"+name] = func(s *Style, v string) {
			s.borders[side] = line{}
			part(s, v)
		}
		properties["border-"+name+"-style"] = part
		properties["border-"+name+"-width"] = part
		properties["border-"+name+"-color"] = part
	}
}

// Keywords.
var (
	spaces = map[string]WhiteSpace{
		"pre": Pre, "pre-wrap": Pre, "break-spaces": Pre, "pre-line": PreLine, "normal": Normal, "nowrap": Normal,
	}
	transforms = map[string]Transform{
		"uppercase": Uppercase, "lowercase": Lowercase, "capitalize": Capitalize, "none": AsWritten, "initial": AsWritten,
	}
	directions = map[string]bool{"rtl": true, "ltr": false, "auto": false}
	valigns    = map[string]doc.VAlign{"top": doc.Top, "middle": doc.Middle, "bottom": doc.Bottom}
	weights    = map[string]bool{"bold": true, "bolder": true, "normal": false, "lighter": false}
	markers    = []string{"none", "disc", "circle", "square", "decimal", "decimal-leading-zero", "lower-alpha", "lower-latin",
		"upper-alpha", "upper-latin", "lower-roman", "upper-roman"}
)

// keyword sets a field to what a keyword stands for; others change nothing.
func keyword[T any](field *T, known map[string]T, v string) {
	if value, ok := known[v]; ok {
		*field = value
	}
}

func (s *Style) setOpacity(v string) {
	number, percent := strings.CutSuffix(v, "%")
	if f, err := strconv.ParseFloat(number, 32); err == nil {
		if s.opacity = float32(f); percent {
			s.opacity /= 100
		}
	}
}

// fade mixes the colour of text with what shows through it.
func (s *Style) fade() {
	if s.opacity > 0 && s.opacity < 1 {
		s.Color = rgba{s.Color.R, s.Color.G, s.Color.B, s.opacity}.over(s.Background)
	}
}

func (s *Style) setOverflow(v string) {
	s.overflow = strings.HasPrefix(v, "hidden") || strings.HasPrefix(v, "clip")
}

func (s *Style) setFlexDirection(v string) {
	if s.Display == FlexRow && strings.HasPrefix(v, "column") {
		s.Display = Block
	}
}

func (s *Style) setSpacing(v string) {
	if l, ok := ParseLength(v); ok {
		s.Spacing = l.Px(s.Size, 0)
	} else if v == "normal" {
		s.Spacing = 0
	}
}

// setLineHeight takes a part of the font size as a number, and as what it is for text of another size.
func (s *Style) setLineHeight(v string) {
	if f, err := strconv.ParseFloat(v, 32); err == nil && f >= 0 && f < 100 {
		s.LineHeight = Length{float32(f), 'e'}
	} else if l, ok := ParseLength(v); ok && l.Unit == '%' {
		s.LineHeight = Length{l.Value / 100, 'e'}
	} else if ok || v == "normal" {
		s.LineHeight = l
	}
}

func (s *Style) setDecoration(v string) {
	if v != "inherit" {
		s.Underline = strings.Contains(v, "underline")
		s.Strike = strings.Contains(v, "line-through")
	}
}

func (s *Style) setVerticalAlign(v string) {
	keyword(&s.VAlign, valigns, v)
	switch v {
	case "super":
		s.Sup = true
	case "sub":
		s.Sub = true
	case "baseline":
		s.Sup, s.Sub = false, false
	}
}

var displays = map[string]Display{
	"none": None, "inline": Inline, "contents": Inline, "inline-block": InlineBlock, "inline-flex": InlineBlock, "inline-grid": InlineBlock,
	"flex": FlexRow, "grid": Grid, "table": Table, "inline-table": Table, "table-row": TableRow, "table-cell": TableCell, "list-item": ListItem,
}

func (s *Style) setDisplay(v string) {
	switch v {
	case "inherit", "initial", "unset", "revert":
		return
	}
	s.Display = Block
	keyword(&s.Display, displays, v)
	s.Inlined = v == "inline-table"
}

// maxTracks bounds the columns of a grid. Those that repeat as there is room are counted in a mail of mailWidth px.
const (
	maxTracks = 64
	mailWidth = 600
	trackGap  = 16
)

func (s *Style) setWidth(v string) {
	if setLength(&s.Width, v); v == "inherit" {
		s.Width = Length{100, '%'}
	}
}

func (s *Style) setTracks(v string) {
	s.Tracks = countTracks(v)
	s.Even = strings.HasPrefix(v, "repeat(") || strings.Count(v, "1fr") == s.Tracks
}

// countTracks counts the columns in a value of grid-template-columns.
func countTracks(v string) (n int) {
	if count, ok := strings.CutPrefix(v, "repeat("); ok {
		count, each, _ := strings.Cut(count, ",")
		if _, least, ok := strings.Cut(each, "minmax("); ok && strings.HasPrefix(count, "auto-") {
			least, _, _ = strings.Cut(least, ",")
			l, _ := ParseLength(least)
			n = int((mailWidth + trackGap) / (max(l.Px(16, mailWidth), 0) + trackGap))
		} else {
			n, _ = strconv.Atoi(strings.TrimSpace(count))
		}
		return min(max(n, 0), maxTracks)
	}
	for word := range words(v) {
		if word[0] != '[' { // the name of a line
			n++
		}
	}
	return min(n, maxTracks)
}

// spanned returns the number of columns in a value of grid-column.
func spanned(v string) int {
	v = strings.ReplaceAll(v, " ", "")
	if strings.HasSuffix(v, "/-1") {
		return maxTracks
	}
	_, n, _ := strings.Cut(v, "span")
	count, _ := strconv.Atoi(n)
	return min(max(count, 1), maxTracks)
}

// paintText sets the colour of the text, if there is one.
func (s *Style) paintText(c rgba, ok bool) {
	if !ok {
		return
	}
	if s.clear = c.a < .05; !s.clear {
		s.Color = c.over(s.Background)
	}
}

func (s *Style) setBackground(v string) {
	switch v {
	case "none", "transparent", "initial", "inherit":
		s.Background, s.OnImage, s.OwnBackground = s.parent.Background, s.parent.OnImage, false
		return
	}
	if _, stops, ok := strings.Cut(v, "gradient("); ok {
		s.OnImage = true
		s.paint(meanColor(stops))
		return
	}
	s.OnImage = s.OnImage || strings.Contains(v, "url(")
	for word := range words(v) {
		if c, ok := parseColor(word); ok {
			s.paint(c, true)
			return
		}
	}
}

// setBackgroundImage sets an image alone: without one, the colour stays.
func (s *Style) setBackgroundImage(v string) {
	if v == "none" || v == "initial" {
		s.OnImage = s.parent.OnImage && !s.OwnBackground
		return
	}
	s.setBackground(v)
}

// meanColor returns the mean of the colours of a gradient.
func meanColor(v string) (rgba, bool) {
	var r, g, b, a, n float32
	for word := range words(v) {
		if strings.Count(word, ")") > strings.Count(word, "(") { // that of the gradient
			word = strings.TrimSuffix(word, ")")
		}
		if c, ok := parseColor(word); ok {
			r, g, b, a, n = r+float32(c.r)*c.a, g+float32(c.g)*c.a, b+float32(c.b)*c.a, a+c.a, n+1
		}
	}
	if a == 0 {
		return rgba{}, n > 0
	}
	return rgba{uint8(r / a), uint8(g / a), uint8(b / a), a / n}, true
}

// paint sets the colour of the background, if there is one.
func (s *Style) paint(c rgba, ok bool) {
	around := s.parent.Background
	if !ok {
		return
	}
	if c.a < .05 {
		s.Background, s.OwnBackground = around, false
		return
	}
	s.Background = c.over(around)
	s.Fill = s.Background
	s.OwnBackground = !Same(s.Background, rgba{}.over(around))
	if s.OwnBackground && c.a == 1 {
		s.OnImage = false
	}
}

// clip gives the text the background that is cut to its shape.
func (s *Style) clip() {
	if s.clipped && s.OwnBackground {
		s.Color, s.clear, s.Background, s.OnImage, s.OwnBackground = s.Fill, false, s.parent.Background, s.parent.OnImage, false
	}
}

var textAligns = map[string]TextAlign{
	"-webkit-center": ToCenter, "center": ToCenter, "right": ToRight, "end": ToEnd, "left": ToLeft, "start": ToStart, "justify": ToStart,
}

func (s *Style) setDirection(v string) {
	if rtl, ok := directions[v]; ok {
		s.RTL, s.Auto = rtl, v == "auto"
	}
}

func (s *Style) setFloat(v string) { s.Float, s.floatRight = v == "left" || v == "right", v == "right" }

func (s *Style) setAlign(v string) {
	keyword(&s.Text, textAligns, v)
	if s.Blocks = doc.Start; v == "-webkit-center" {
		s.Blocks = doc.Center
	}
}

func (s *Style) setWeight(v string) {
	if bold, ok := weights[v]; ok {
		s.Bold = bold
	} else if n, err := strconv.ParseFloat(v, 32); err == nil {
		s.Bold = n >= 600
	}
}

var sizes = map[string]float32{
	"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48,
}

func (s *Style) setSize(v string) {
	keyword(&s.Size, sizes, v)
	parent := s.parent.Size
	switch l, ok := ParseLength(v); {
	case v == "smaller":
		s.Size = parent / 1.2
	case v == "larger":
		s.Size = parent * 1.2
	case ok && l.Value >= 0:
		s.Size = min(l.Px(parent, parent), 1000)
	}
}

// setFont parses the font shorthand: style and weight, size with an optional line height, family. What it does not name is normal.
func (s *Style) setFont(v string) {
	font := *s
	font.Bold, font.Italic, font.LineHeight = false, false, Length{}
	for v != "" {
		var word string
		word, v, _ = strings.Cut(v, " ")
		size, height, _ := strings.Cut(word, "/")
		l, ok := ParseLength(size)
		if _, named := sizes[size]; named || ok && (l.Value == 0 || size[len(size)-1] > '9' || size[len(size)-1] == '%') {
			font.setSize(size)
			font.setLineHeight(height)
			font.setFamily(v)
			*s = font
			return
		}
		font.Italic = font.Italic || word == "italic" || word == "oblique"
		if word != "normal" {
			font.setWeight(word)
		}
	}
}

var monospaced = []string{"mono", "courier", "consolas", "menlo", "monaco"}

func (s *Style) setFamily(v string) {
	first, _, _ := strings.Cut(v, ",")
	s.Mono = slices.ContainsFunc(monospaced, func(name string) bool { return strings.Contains(first, name) })
}

func (s *Style) setMarker(v string) {
	for word := range strings.FieldsSeq(v) {
		if slices.Contains(markers, word) {
			s.Marker = word
		}
	}
}

var lengths = map[string]Length{"auto": {Unit: 'a'}, "none": {}, "initial": {}}

func setLength(l *Length, v string) {
	if parsed, ok := ParseLength(v); ok {
		*l = parsed
	} else {
		keyword(l, lengths, v)
	}
}

// position decides where the box stands.
func (s *Style) position() {
	near, far := s.Margin[Left].Unit == 'a', s.Margin[Right].Unit == 'a'
	if s.RTL {
		near, far = far, near
	}
	s.Far = s.Float && s.floatRight != s.RTL
	switch {
	case near && far:
		s.BoxAlign = doc.Center
	case near, s.Far:
		s.BoxAlign = doc.End
	default:
		s.BoxAlign = s.parent.Blocks
	}
}

// setSides parses one to four lengths.
func setSides(sides *[4]Length, v string) {
	each, ok := fourSides(v)
	if !ok {
		return
	}
	*sides = [4]Length{}
	for side, one := range each {
		setLength(&sides[side], one)
	}
}
