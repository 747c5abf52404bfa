package css

import (
	"strconv"
	"strings"
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
