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
