package css

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"

	"mayfly/render/doc"
)

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
	case strings.HasPrefix(s, "rgb"), strings.HasPrefix(s, "hsl"):
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

// funcColor parses rgb(), rgba(), hsl() and hsla().
func funcColor(s string) (rgba, bool) {
	name, args, ok := strings.Cut(s, "(")
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
		number = strings.TrimSuffix(number, "deg")
		n, err := strconv.ParseFloat(number, 32)
		if err != nil {
			return rgba{}, false
		}
		v[i] = float32(n)
		switch {
		case percent && i == 3, percent && name[0] == 'h':
			v[i] /= 100
		case percent:
			v[i] *= 2.55
		}
	}
	v[3] = min(max(v[3], 0), 1)
	if name[0] == 'h' {
		r, g, b := hsl(v[0], v[1], v[2])
		return rgba{r, g, b, v[3]}, true
	}
	return rgba{channel(v[0]), channel(v[1]), channel(v[2]), v[3]}, true
}

func channel(v float32) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }

func hsl(h, s, l float32) (r, g, b uint8) {
	s, l = min(max(s, 0), 1), min(max(l, 0), 1)
	a := s * min(l, 1-l)
	turn := float32(math.Mod(float64(h), 360)) // degrees
	if turn < 0 {
		turn += 360
	}
	f := func(n float32) uint8 {
		k := n + turn/30
		if k >= 12 {
			k -= 12
		}
		return channel(255 * (l - a*max(-1, min(k-3, 9-k, 1))))
	}
	return f(0), f(8), f(4)
}
