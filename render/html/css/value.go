package css

import (
	"strconv"
	"strings"

	"golang.org/x/image/colornames"

	"mayfly/render/doc"
)

// Length is a CSS length. The zero value is unset.
type Length struct {
	Value float32
	Unit  byte // 0 unset, 'p' px, 'e' em, '%' percent, 'a' auto
}

// IsSet reports whether there is a length, which may be 0.
func (l Length) IsSet() bool { return l.Unit != 0 && l.Unit != 'a' }

// Px resolves a length in em against a font size, and a percentage against full, both in px.
func (l Length) Px(size, full float32) float32 {
	switch l.Unit {
	case 'p':
		return l.Value
	case 'e':
		return l.Value * size
	case '%':
		return l.Value / 100 * full
	}
	return 0
}

// below reports whether a length is set to less than so many px.
func (l Length) below(px float32) bool {
	return l.Unit == 'p' && l.Value < px || l.IsSet() && l.Value == 0
}

var units = []struct {
	name   string
	unit   byte
	factor float32
}{
	{"px", 'p', 1}, {"rem", 'p', 16}, {"em", 'e', 1}, {"pt", 'p', 4. / 3}, {"%", '%', 1}, {"ex", 'e', .5},
	{"ch", 'e', .5}, {"pc", 'p', 16}, {"in", 'p', 96}, {"cm", 'p', 37.8}, {"mm", 'p', 3.78}, {"vw", 'p', 6}, {"vh", 'p', 8},
}

// ParseLength parses a length in lower case. A number without a unit is in px.
func ParseLength(s string) (Length, bool) {
	s = strings.TrimSpace(s)
	unit, factor := byte('p'), float32(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			s, unit, factor = strings.TrimSpace(number), u.unit, u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(s, 32)
	if err != nil || v != v || v > 1e6 || v < -1e6 {
		return Length{}, false
	}
	return Length{float32(v) * factor, unit}, true
}

// rgba is a CSS colour.
type rgba struct {
	r, g, b uint8
	a       float32
}

// over returns the colour of c on top of base.
func (c rgba) over(base doc.Color) doc.Color {
	if !base.Set {
		base = White
	}
	mix := func(top, bottom uint8) uint8 {
		return uint8(float32(top)*c.a + float32(bottom)*(1-c.a) + 0.5)
	}
	return doc.Color{R: mix(c.r, base.R), G: mix(c.g, base.G), B: mix(c.b, base.B), Set: true}
}

// White is what the first background is painted on.
var White = doc.Color{R: 255, G: 255, B: 255, Set: true}

// Same reports whether two colours look the same.
func Same(a, b doc.Color) bool {
	near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 4 }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B)
}

// parseColor parses a CSS colour in lower case.
func parseColor(s string) (rgba, bool) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return rgba{}, false
	case s == "transparent":
		return rgba{}, true
	case s[0] == '#':
		return hexColor(s[1:])
	case strings.HasPrefix(s, "rgb"):
		return funcColor(s)
	case s == "rebeccapurple": // the one name of CSS Color 4 that SVG lacks
		return rgba{0x66, 0x33, 0x99, 1}, true
	}
	c, ok := colornames.Map[s]
	return rgba{c.R, c.G, c.B, 1}, ok
}

// legacyColor parses the value of a bgcolor or color attribute, where the "#" may be missing.
func legacyColor(s string) (rgba, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if c, ok := parseColor(s); ok {
		return c, true
	}
	if len(s) == 6 || len(s) == 3 {
		return hexColor(s)
	}
	return rgba{}, false
}

func hexColor(s string) (rgba, bool) {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return rgba{}, false
	}
	four := func(shift uint) uint8 { return uint8(v>>shift&15) * 17 }
	switch len(s) {
	case 3:
		return rgba{four(8), four(4), four(0), 1}, true
	case 4:
		return rgba{four(12), four(8), four(4), float32(four(0)) / 255}, true
	case 6:
		return rgba{uint8(v >> 16), uint8(v >> 8), uint8(v), 1}, true
	case 8:
		return rgba{uint8(v >> 24), uint8(v >> 16), uint8(v >> 8), float32(uint8(v)) / 255}, true
	}
	return rgba{}, false
}

// funcColor parses rgb() and rgba().
func funcColor(s string) (rgba, bool) {
	_, args, ok := strings.Cut(s, "(")
	args, _, closed := strings.Cut(args, ")")
	if !ok || !closed {
		return rgba{}, false
	}
	fields := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(fields) < 3 || len(fields) > 4 {
		return rgba{}, false
	}
	var v [4]float32
	v[3] = 1
	for i, f := range fields {
		number, percent := strings.CutSuffix(f, "%")
		n, err := strconv.ParseFloat(number, 32)
		if err != nil {
			return rgba{}, false
		}
		v[i] = float32(n)
		switch {
		case percent && i == 3:
			v[i] /= 100
		case percent:
			v[i] *= 2.55
		}
	}
	v[3] = min(max(v[3], 0), 1)
	return rgba{channel(v[0]), channel(v[1]), channel(v[2]), v[3]}, true
}

func channel(v float32) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }

// line is the border on one side of a box.
type line struct {
	style     bool // it has a style that draws
	thin      bool // its width is 0
	thick     bool // its width is more than that of a mere outline
	color     rgba
	clear     bool // it is transparent
	mentioned bool
}

// leastLine is the contrast of a line with what it is on from which on it is seen.
const leastLine = 1.06

// thickLine is the width in px from which on a border on one side is a bar.
const thickLine = 2.5

// set sets what a value says: a style, a width, a colour, or several of them.
func (l *line) set(v string) {
	l.mentioned = true
	for word := range words(v) {
		switch word {
		case "solid", "dashed", "dotted", "double", "groove", "ridge", "inset", "outset":
			l.style = true
		case "none", "hidden":
			l.style = false
		default:
			if width, ok := ParseLength(word); ok {
				l.thin, l.thick = width.Value == 0, width.Px(16, 0) >= thickLine
			} else if c, ok := parseColor(word); ok {
				l.color, l.clear = c, c.a < .05
			}
		}
	}
}

func (l *line) drawn() bool { return l.style && !l.thin && !l.clear }

func (s *Style) setBorder(v string) {
	var l line
	l.set(v)
	s.borders = [4]line{l, l, l, l}
}

// setBorderPart sets the style, the width or the colour of all borders, one to four of them.
func (s *Style) setBorderPart(v string) {
	if each, ok := fourSides(v); ok {
		for side, one := range each {
			s.borders[side].set(one)
		}
	}
}

// outline notes which borders are drawn.
func (s *Style) outline() {
	drawn, mentioned := 0, 0
	for side := range s.borders {
		if s.borders[side].mentioned {
			mentioned++
		}
		if s.borders[side].drawn() {
			drawn++
		}
	}
	s.Border = drawn >= 3
	s.NoBorder = mentioned > 0 && drawn == 0
	for _, side := range [...]int{Top, Bottom} {
		l := &s.borders[side]
		s.Ruled[side] = l.drawn() && !s.Border && (l.color.a == 0 || doc.Contrast(l.color.over(s.Background), rgba{}.over(s.Background)) >= leastLine)
	}
	s.Edge = s.Ruled[Top] || s.Ruled[Bottom]
	start := &s.borders[Left]
	if s.RTL {
		start = &s.borders[Right]
	}
	s.Bar = start.drawn() && start.thick && (!s.Border || start.color != s.borders[Top].color)
	if s.Bar || s.Border {
		if s.Hue = s.Color; start.color.a > 0 {
			s.Hue = start.color.over(s.Background)
		}
		s.Hue.Set = true
	}
}
