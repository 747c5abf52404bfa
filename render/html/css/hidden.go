package css

import "mayfly/render/doc"

// hide notes why the content of an element is invisible, if it is.
func (s *Style) hide() {
	if s.Hidden != "" {
		return
	}
	switch {
	case s.Display == None:
		s.Hidden = "display: none"
	case s.opacity <= .01:
		s.Hidden = "opacity: 0"
	case s.overflow && s.flat():
		s.Hidden = "no height"
	case s.offScreen():
		s.Hidden = "off-screen"
	}
}

// low is the height and width, in px, below which a box that hides what overflows shows no text.
const low = 6

// flat reports whether a box is too low or too narrow for text. Height made of padding is room for
// an image.
func (s *Style) flat() bool {
	if s.Padding[Top].Value > 0 || s.Padding[Bottom].Value > 0 {
		return false
	}
	return s.Height.below(low) || s.maxHeight.below(low) || s.Display != TableCell && s.Width.below(low)
}

// far is the position, in px, beyond which a box is off-screen.
const far = -500

func (s *Style) offScreen() bool {
	if s.absolute && (s.left.Px(s.Size, 0) <= far || s.top.Px(s.Size, 0) <= far) {
		return true
	}
	return s.textIndent.Px(s.Size, 0) <= far || s.Margin[Left].Px(s.Size, 0) <= far || s.Margin[Top].Px(s.Size, 0) <= far
}

// Unreadable returns why text in this style is invisible, or "".
func (s *Inherited) Unreadable() string {
	switch {
	case s.Hidden != "":
		return s.Hidden
	case s.Unseen:
		return "visibility: hidden"
	case s.Size <= 1:
		return "font size"
	case s.clear:
		return "transparent"
	case s.Color.Set && !s.OnImage:
		back := s.Background
		if !back.Set {
			back = White
		}
		if Same(s.Color, back) || faint(s.Color, back) {
			return "colour of the background"
		}
	}
	return ""
}

// faint reports whether a colour is as good as that behind it: a pale yellow on white.
func faint(c, back doc.Color) bool {
	d := func(x, y uint8) int { return int(max(x, y) - min(x, y)) }
	r, g, b := d(c.R, back.R), d(c.G, back.G), d(c.B, back.B)
	return max(r, g, b) <= 20 && 2*r+5*g+b <= 8*4
}
