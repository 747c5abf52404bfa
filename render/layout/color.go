package layout

import (
	"cmp"
	"math"
	"sync"

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
	if lightInk(back) {
		return white
	}
	return black
}

// lightInk reports a background on which white has more contrast than black.
func lightInk(back doc.Color) bool { return doc.Contrast(white, back) >= doc.Contrast(black, back) }

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

// lighter reports text that is lighter than its fill.
func lighter(text, fill doc.Color) bool {
	return text.Set && doc.Luminance(text) > doc.Luminance(fill)
}

// mirrors reports text that is darker or lighter than its fill where the fill, as it is here, is too dark or too light for that.
func (n *inks) mirrors(text doc.Color) bool {
	return n.flipped && lightInk(n.back) != lighter(text, n.sent)
}

// onBand returns the colour of text on a band: the sender's from 3:1 on, or 4.5:1 for dark text that has it in the
// message, else one that is lighter or darker still.
func (n *inks) onBand(c doc.Color) ink {
	if n.mirrors(c) {
		if c.Grey() || n.body.Set && near(c, n.body) {
			return n.text
		}
		return n.readable(c, n.back, max(strength(c, n.sent), minContrast))
	}
	end, least := black, min(max(strength(c, n.sent), minStrong), minContrast)
	if lighter(c, n.sent) {
		end, least = white, minStrong
	}
	return cmp.Or(n.toned(c, end, n.back, least), n.readable(c, n.back, minContrast), n.text)
}

// leastMeant is the contrast of light text with its fill from which on the fill is darkened for it. Text that is paler still
// becomes dark.
const leastMeant = 1.6

// under returns a fill, which the sender has as sent, as it is under text: as dark as light text needs.
func (n *inks) under(text, sent, fill doc.Color) doc.Color {
	if !lighter(text, sent) || doc.Contrast(text, sent) < leastMeant {
		return fill
	}
	for t := 0.; t <= .5; t += 1. / 32 {
		dark := mix(fill, black, t)
		if n.theme.Profile == ANSI16 && dark.Grey() {
			break // no hue is left
		}
		if doc.Contrast(text, n.shown(n.convert(dark))) >= minStrong {
			return dark
		}
	}
	return fill
}

// onFill returns the colours of text on a fill, and of the fill.
func (n *inks) onFill(text, fill doc.Color) (fg, bg ink) {
	bg = n.convert(n.under(text, fill, fill))
	behind := n.shown(bg)
	if text.Set {
		if fg = n.convert(text); doc.Contrast(n.shown(fg), behind) >= minStrong {
			return fg, bg
		}
	}
	return n.convert(against(behind)), bg
}

// leastButton is how far a button is at least from what is behind it.
const leastButton = .15

// apart returns how different two colours look: 0 to 1, as from black to white.
func apart(a, b doc.Color) float64 {
	x, y := doc.Lab(a), doc.Lab(b)
	return math.Sqrt((x.L-y.L)*(x.L-y.L) + (x.A-y.A)*(x.A-y.A) + (x.B-y.B)*(x.B-y.B))
}

// distinct makes a fill differ visibly from the background.
func (n *inks) distinct(fill doc.Color, least float64) doc.Color {
	end := against(n.back)
	for t := .0; t < .6; t += .05 {
		if c := mix(fill, end, t); apart(c, n.back) >= least {
			return c
		}
	}
	return mix(fill, end, .6)
}

// saturation returns the difference between the strongest and the weakest channel of a colour.
func saturation(c doc.Color) int { return int(max(c.R, c.G, c.B)) - int(min(c.R, c.G, c.B)) }

// leastHue is the saturation of a tint by which it has a hue.
const leastHue = 12

// full returns the colour of which one with a hue is a tint.
func full(c doc.Color) doc.Color {
	most, least := max(c.R, c.G, c.B), min(c.R, c.G, c.B)
	v := func(v uint8) uint8 { return uint8(int(v-least) * int(most) / int(most-least)) }
	return doc.Color{R: v(c.R), G: v(c.G), B: v(c.B), Set: true}
}

// farthest is how far, of 255, the fill is from the terminal's background that is farthest from the page's: black on white.
const farthest = 48

// surface returns a fill on a terminal that is dark where the page is light, or the other way round: one that is close to the
// page's colour is close to the terminal's, and differs as much from greys. What has a strong hue, neither light nor dark,
// stays what it is, and what is between them is in between. Under light text, none gets darker.
func (n *inks) surface(text, fill doc.Color) doc.Color {
	pale := min(2-4*float64(saturation(fill))/float64(max(fill.R, fill.G, fill.B, 64)), 1)
	if !n.turned || pale <= 0 {
		return fill
	}
	brightness := func(c doc.Color) float64 { return (2*float64(c.R) + 5*float64(c.G) + float64(c.B)) / 8 }
	y, to := brightness(fill), brightness(n.screen)
	if lightInk(n.screen) {
		to += farthest * math.Sqrt(1-y/255)
	} else {
		to -= farthest * math.Sqrt(y/255)
	}
	if to < y && lighter(text, fill) {
		return fill
	}
	to = y + pale*(to-y)
	most, least := float64(max(fill.R, fill.G, fill.B)), float64(min(fill.R, fill.G, fill.B))
	scale := min(1+pale/2, to/max(y-least, 1), (255-to)/max(most-y, 1)) // of the hue, which is weaker in the dark, within what there is
	v := func(v uint8) uint8 { return uint8(min(max(to+scale*(float64(v)-y)+.5, 0), 255)) }
	return doc.Color{R: v(fill.R), G: v(fill.G), B: v(fill.B), Set: true}
}

// convert returns the nearest colour that the terminal has.
func (n *inks) convert(c doc.Color) ink {
	switch n.theme.Profile {
	case TrueColor:
		return inkRGB | ink(c.R)<<16 | ink(c.G)<<8 | ink(c.B)
	case ANSI256:
		return ink256 | ink(nearest(c, 16, 256))
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

// nearest returns the index, from lo up to hi, of the palette's colour that looks nearest to c. A grey has none with a hue;
// of more than sixteen, a colour has one with its hue.
func nearest(c doc.Color, lo, hi int) int {
	best, least, lab := lo, math.MaxFloat64, doc.Lab(c)
	grey := lab.Chroma() < hued
	for i, p := range labs()[lo:hi] {
		l, a, b := lab.L-p.L, lab.A-p.A, lab.B-p.B
		if d := l*l + a*a + b*b; d < least && (grey && p.Chroma() < hued || !grey && (lo < 16 || lab.SameHue(p))) {
			best, least = lo+i, d
		}
	}
	return best
}

// hued is the chroma from which on a colour has a hue to keep.
const hued = .03

var labs = sync.OnceValue(func() []doc.LabColor {
	all := make([]doc.LabColor, 256)
	for i := range all {
		all[i] = doc.Lab(palette(i))
	}
	return all
})

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
