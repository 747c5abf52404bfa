package doc

import "math"

var linear = func() (t [256]float64) {
	for i := range t {
		if v := float64(i) / 255; v <= .04045 {
			t[i] = v / 12.92
		} else {
			t[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return t
}()

// Luminance returns the relative luminance of WCAG 2, 0 to 1.
func Luminance(c Color) float64 {
	return .2126*linear[c.R] + .7152*linear[c.G] + .0722*linear[c.B]
}

// Contrast returns the contrast ratio of WCAG 2, 1 to 21.
func Contrast(a, b Color) float64 {
	x, y := Luminance(a), Luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// LabColor is a colour in OKLab, where distances are as the eye sees them: its lightness, 0 to 1, and how red and how yellow
// it is, about -.3 to .3.
type LabColor struct{ L, A, B float64 }

// Lab converts a colour to OKLab.
func Lab(c Color) LabColor {
	r, g, b := linear[c.R], linear[c.G], linear[c.B]
	l := math.Cbrt(.4122214708*r + .5363325363*g + .0514459929*b)
	m := math.Cbrt(.2119034982*r + .6806995451*g + .1073969566*b)
	s := math.Cbrt(.0883024619*r + .2817188376*g + .6299787005*b)
	return LabColor{.2104542553*l + .7936177850*m - .0040720468*s, 1.9779984951*l - 2.4285922050*m + .4505937099*s, .0259040371*l + .7827717662*m - .8086757660*s}
}

// Chroma returns how strong the hue of a colour is: 0 is a grey.
func (c LabColor) Chroma() float64 { return math.Hypot(c.A, c.B) }

// SameHue reports whether two colours have hues within 30 degrees of each other.
func (c LabColor) SameHue(o LabColor) bool {
	const cos = .866
	return o.Chroma() > .02 && c.A*o.A+c.B*o.B >= cos*c.Chroma()*o.Chroma()
}
