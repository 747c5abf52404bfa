package css

// line is the border on one side of a box.
type line struct {
	style     bool // it has a style that draws
	thin      bool // its width is 0
	thick     bool // its width is more than that of a mere outline
	color     rgba
	clear     bool // it is transparent
	mentioned bool
}

// thickLine is the width in px from which on a border on one side is a bar.
const thickLine = 2.5

func parseLine(v string) line {
	var l line
	l.set(v)
	return l
}

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
	l := parseLine(v)
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
		s.Ruled[side] = l.drawn() && !s.Border && (l.color.a == 0 || !Same(l.color.over(s.Background), rgba{}.over(s.Background)))
	}
	s.Edge = s.Ruled[Top] || s.Ruled[Bottom]
	left := &s.borders[Left]
	s.Bar = left.drawn() && left.thick && (!s.Border || left.color != s.borders[Top].color)
	if (s.Bar || s.Border) && left.color.a > 0 {
		s.Hue = left.color.over(s.Background)
	}
}
