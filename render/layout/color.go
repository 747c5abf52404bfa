package layout

import (
	"math"

	"github.com/charmbracelet/x/ansi"

	"mayfly/render/doc"
)

// The least contrast of text with its background (WCAG 2, level AA). minStrong is that of bold or
// large text, and of text on a fill that the sender chose for it.
const (
	minContrast = 4.5
	minStrong   = 3
)

// maxStrength bounds the contrast that coloured text keeps.
const maxStrength = 7

// strength returns the contrast that text has in the message, of which it keeps what it can.
func strength(c, back doc.Color) float64 {
	if !back.Set {
		back = white
	}
	return min(doc.Contrast(c, back)*.9, maxStrength) // a palette has no better
}

// near reports whether two colours hardly differ.
func near(a, b doc.Color) bool { return distance(a, b) < 48 }

// distance returns how much two colours differ.
func distance(a, b doc.Color) int {
	if !b.Set {
		b = white
	}
	d := func(x, y uint8) int { return int(max(x, y) - min(x, y)) }
	return d(a.R, b.R) + d(a.G, b.G) + d(a.B, b.B)
}

// mix returns the colour at t between a (0) and b (1).
func mix(a, b doc.Color, t float64) doc.Color {
	m := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*t + .5) }
	return doc.Color{R: m(a.R, b.R), G: m(a.G, b.G), B: m(a.B, b.B), Set: true}
}

var (
	black = doc.Color{Set: true}
	white = doc.Color{R: 255, G: 255, B: 255, Set: true}
)

// against returns the one of black and white that has more contrast with a background.
func against(back doc.Color) doc.Color {
	if doc.Contrast(black, back) > doc.Contrast(white, back) {
		return black
	}
	return white
}

// readable returns the colour of the terminal nearest to c that has at least a contrast with back.
func (n *inks) readable(c, back doc.Color, least float64) ink {
	return n.toned(c, against(back), back, least)
}

// toned returns the first colour on the way from c to end that has at least a contrast with back.
func (n *inks) toned(c, end, back doc.Color, least float64) ink {
	for t := 0.; t <= 1; t += 1. / 64 {
		toned := mix(c, end, t)
		if n.theme.Profile == ANSI16 && toned.Grey() {
			break // no hue is left
		}
		i := n.convert(toned)
		if doc.Contrast(n.shown(i), back) >= least {
			return i
		}
	}
	return 0
}

// onBand returns the colour of text on a band: the sender's from 3:1 on, else one that is lighter or
// darker still.
func (n *inks) onBand(c doc.Color) ink {
	end := black
	if doc.Luminance(c) > doc.Luminance(n.back) {
		end = white
	}
	if i := n.toned(c, end, n.back, minStrong); i != 0 {
		return i
	}
	return n.readable(c, n.back, minContrast)
}

// onFill returns the colours of text on a fill, and of the fill.
func (n *inks) onFill(text, fill doc.Color) (fg, bg ink) {
	bg = n.convert(fill)
	behind := n.shown(bg)
	if text.Set {
		if fg = n.convert(text); doc.Contrast(n.shown(fg), behind) >= minStrong {
			return fg, bg
		}
	}
	return n.convert(against(behind)), bg
}

// leastButton is the least contrast of a button with what is behind it.
const leastButton = 1.6

// distinct makes a fill differ visibly from the background.
func (n *inks) distinct(fill doc.Color, least float64) doc.Color {
	end := against(n.back)
	for t := .0; t < .6; t += .05 {
		if c := mix(fill, end, t); doc.Contrast(c, n.back) >= least {
			return c
		}
	}
	return mix(fill, end, .6)
}

// leastHue is the difference between the channels of a tint by which it has a hue.
const leastHue = 12

// full returns the colour of which one is a tint.
func full(c doc.Color) doc.Color {
	most, least := max(c.R, c.G, c.B), min(c.R, c.G, c.B)
	if most-least < leastHue {
		return white
	}
	v := func(v uint8) uint8 { return uint8(int(v-least) * int(most) / int(most-least)) }
	return doc.Color{R: v(c.R), G: v(c.G), B: v(c.B), Set: true}
}

// subdued returns a fill that is as faint in the dark as a tint is on paper.
func (n *inks) subdued(fill doc.Color) doc.Color {
	if tint := doc.Luminance(fill) > .6 && max(fill.R, fill.G, fill.B)-min(fill.R, fill.G, fill.B) < 96; tint && doc.Luminance(n.back) < .2 && n.theme.Profile != ANSI16 {
		return mix(n.back, full(fill), .15)
	}
	return fill
}

// convert returns the nearest colour that the terminal has.
func (n *inks) convert(c doc.Color) ink {
	switch n.theme.Profile {
	case TrueColor:
		return inkRGB | ink(c.R)<<16 | ink(c.G)<<8 | ink(c.B)
	case ANSI256:
		i := nearest(c, 16, 256)
		if p := palette(i); p.R == p.G && p.G == p.B && !c.Grey() {
			i = nearest(full(c), 16, 256) // rather brighter than without its hue
		}
		return ink256 | ink(i)
	case ANSI16:
		return ink16 | ink(hue16(c))
	}
	return 0
}

// hue16 returns the one of the sixteen colours with the hue of c: the nearest one is too often a
// grey.
func hue16(c doc.Color) int {
	most, least := max(c.R, c.G, c.B), min(c.R, c.G, c.B)
	if c.Grey() {
		return nearest(c, 0, 16)
	}
	i, middle := 0, least/2+most/2
	for bit, v := range [...]uint8{c.R, c.G, c.B} {
		if v > middle {
			i |= 1 << bit
		}
	}
	if most > 0xd8 {
		i += 8
	}
	return i
}

// shown returns the colour that an ink stands for.
func (n *inks) shown(i ink) doc.Color {
	switch i >> 24 {
	case inkRGB >> 24:
		return doc.Color{R: uint8(i >> 16), G: uint8(i >> 8), B: uint8(i), Set: true}
	case ink256 >> 24, ink16 >> 24:
		return palette(int(i & 0xff))
	}
	return against(n.back)
}

// nearest returns the index, from lo up to hi, of the palette's colour that looks nearest to c.
func nearest(c doc.Color, lo, hi int) int {
	best, least := lo, math.MaxFloat64
	for i := lo; i < hi; i++ {
		p := palette(i)
		mean := (float64(c.R) + float64(p.R)) / 2
		r, g, b := float64(c.R)-float64(p.R), float64(c.G)-float64(p.G), float64(c.B)-float64(p.B)
		if d := (2+mean/256)*r*r + 4*g*g + (2+(255-mean)/256)*b*b; d < least {
			best, least = i, d
		}
	}
	return best
}

// basic are the sixteen colours of xterm.
var basic = [16]uint32{0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}

// palette returns colour i of the 256.
func palette(i int) doc.Color {
	if i < 16 {
		return doc.Color{R: uint8(basic[i] >> 16), G: uint8(basic[i] >> 8), B: uint8(basic[i]), Set: true}
	}
	return fromColor(ansi.IndexedColor(i))
}
