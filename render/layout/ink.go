package layout

import (
	"cmp"
	"image/color"
	"strconv"

	"github.com/charmbracelet/x/ansi"

	"mayfly/render/doc"
)

// pen says how text is drawn.
type pen struct {
	fg, bg ink
	attrs  attrs
}

type attrs uint8

const (
	bold attrs = 1 << iota
	faint
	italic
	underline
	strike
	reverse
)

// ink is a colour of the terminal. 0 is the default.
type ink uint32

const (
	inkRGB ink = 1 << 24 // the low three bytes are the colour
	ink256 ink = 2 << 24 // the low byte is an index
	ink16  ink = 3 << 24 // the low byte is 0 to 15
)

// appendSGR appends the sequence that switches the terminal from one pen to another.
func appendSGR(b []byte, to, from pen) []byte {
	b = append(b, "\x1b["...)
	if from != (pen{}) {
		if to == (pen{}) {
			return append(b, 'm')
		}
		b = append(b, "0;"...)
	}
	for i, code := range [...]byte{'1', '2', '3', '4', '9', '7'} {
		if to.attrs&(1<<i) != 0 {
			b = append(b, code, ';')
		}
	}
	b = appendInk(b, to.fg, 30)
	b = appendInk(b, to.bg, 40)
	b[len(b)-1] = 'm'
	return b
}

// appendInk appends the parameters of a colour, and a semicolon. base is 30 for text, 40 for the
// background.
func appendInk(b []byte, c ink, base int64) []byte {
	switch c >> 24 {
	case 0:
		return b
	case inkRGB >> 24:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";2"...)
		for shift := 16; shift >= 0; shift -= 8 {
			b = append(b, ';')
			b = strconv.AppendInt(b, int64(c>>shift&0xff), 10)
		}
	case ink256 >> 24:
		b = strconv.AppendInt(b, base+8, 10)
		b = append(b, ";5;"...)
		b = strconv.AppendInt(b, int64(c&0xff), 10)
	case ink16 >> 24:
		n := int64(c & 0xff)
		if n >= 8 {
			n += 60 - 8
		}
		b = strconv.AppendInt(b, base+n, 10)
	}
	return append(b, ';')
}

// inks converts the colours of a message and of a theme to those of the terminal.
type inks struct {
	theme   Theme
	screen  doc.Color           // the terminal's background
	dark    bool                // the page of the message is
	turned  bool                // it is dark and the terminal light, or the other way round
	back    doc.Color           // the background of text
	sent    doc.Color           // the same as the sender has it
	flipped bool                // it is dark and that light, or the other way round
	body    doc.Color           // the message's colour that becomes the terminal's own
	roles   [doc.Bright + 1]ink // the colours of the theme
	text    ink                 // of text without a colour on a band; 0 elsewhere
	fill    ink                 // of a band
	bands   map[bandKey]*inks   // on a band of a colour
	looks   map[lookKey]pen
	pixels  map[color.RGBA]ink // of images
}

// bandKey is a fill, and the colour of the first text on it.
type bandKey struct{ fill, text doc.Color }

type lookKey struct {
	style doc.Style
	back  doc.Color
	dim   bool
}

// newInks returns the inks for a message with text of the colour body on a page that is dark or light.
func newInks(t Theme, body doc.Color, dark bool) *inks {
	n := &inks{theme: t, body: body, dark: dark, screen: white, bands: map[bandKey]*inks{}, looks: map[lookKey]pen{}, pixels: map[color.RGBA]ink{}}
	if t.Dark {
		n.screen = doc.Color{R: 0x1e, G: 0x1e, B: 0x1e, Set: true}
	}
	if t.Background != nil {
		n.screen = fromColor(t.Background)
	}
	n.back, n.turned = n.screen, lightInk(n.screen) != dark
	for role, c := range [...]color.Color{doc.Accent: t.Accent, doc.Good: t.Good, doc.Warning: t.Warning, doc.Bad: t.Bad, doc.Secondary: t.Dim} {
		n.roles[role] = n.themed(c)
	}
	if !t.Guessed {
		bright := against(n.back)
		n.roles[doc.Bright], n.roles[doc.Soft] = n.convert(bright), n.readable(mix(bright, n.back, softness), n.back, minContrast)
	}
	return n
}

// softness is how far soft text is from the brightest on the way to the background.
const softness = .35

func fromColor(c color.Color) doc.Color {
	r, g, b, _ := c.RGBA()
	return doc.Color{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), Set: true}
}

// themed converts a colour of the theme. An ANSI colour stays one.
func (n *inks) themed(c color.Color) ink {
	if c == nil || n.theme.Profile == NoColor {
		return 0
	}
	if basic, ok := c.(ansi.BasicColor); ok {
		return ink16 | ink(basic)
	}
	return n.convert(fromColor(c))
}

// role returns a pen in a colour of the theme. Without that colour secondary text is faint.
func (n *inks) role(r doc.Role) pen {
	if r == doc.Secondary && n.roles[r] == 0 {
		return pen{attrs: faint}
	}
	return pen{fg: n.roles[r]}
}

// dim returns the pen for secondary text.
func (n *inks) dim() pen { return n.role(doc.Secondary) }

// pen returns how a run of text is drawn. back is the background of its block.
func (n *inks) pen(s doc.Style, back doc.Color, dim bool) pen {
	s.Size, s.Spacing, s.Mono, s.Sup, s.Sub = 0, 0, false, false, false
	key := lookKey{s, back, dim}
	p, ok := n.looks[key]
	if !ok {
		p = n.look(s, back, dim)
		n.looks[key] = p
	}
	return p
}

// leastFill is the distance of a run's fill from what it is on, as that of a pale badge.
const leastFill = 24

func (n *inks) look(s doc.Style, back doc.Color, dim bool) pen {
	var p pen
	if dim {
		s.Role = doc.Secondary
	}
	if s.Role >= doc.Secondary && n.fill != 0 && s.Color.Set && !n.mirrors(s.Color) {
		s.Role = doc.Own // the band is the sender's, and so is what is faint on it
	}
	if s.Role != doc.Own {
		p = n.role(s.Role)
	}
	if s.Bold {
		p.attrs |= bold
		p.attrs &^= faint
	}
	if s.Italic {
		p.attrs |= italic
	}
	if s.Underline {
		p.attrs |= underline
	}
	if s.Strike {
		p.attrs |= strike
	}
	if s.Role != doc.Own || n.theme.Profile == NoColor {
		return p
	}
	if s.Background.Set && distance(s.Background, back) >= leastFill {
		if on := n.on(s.Background, s.Color); on != nil {
			p.bg, p.fg = on.fill, on.text
			if s.Color.Set {
				p.fg = on.onBand(s.Color)
			}
			return p
		}
	}
	switch {
	case !s.Color.Set:
	case n.fill != 0:
		p.fg = n.onBand(s.Color)
	case s.Color.Grey(), n.body.Set && near(s.Color, n.body):
	case s.Bold:
		p.fg = n.readable(s.Color, n.back, max(strength(s.Color, back), minStrong))
	default:
		p.fg = n.readable(s.Color, n.back, max(strength(s.Color, back), minContrast))
	}
	return p
}

// button returns the pens for the label and the edges of a button.
func (n *inks) button(s doc.Style) (label, edge pen) {
	onBand := n.fill != 0
	fill, text := n.face(s, onBand)
	switch {
	case n.theme.Profile == NoColor:
		return pen{attrs: bold}, pen{attrs: bold}
	case !fill.Set && text.Set:
		return n.outlined(text)
	case !fill.Set:
		return pen{attrs: bold | reverse}, pen{attrs: bold}
	}
	if !onBand {
		fill = n.surface(text, fill)
	}
	fg, bg := n.onFill(text, n.distinct(fill, leastButton))
	if onBand && apart(n.shown(bg), n.back) < leastBand { // of few colours
		fg, bg = n.fill, n.text
	}
	edge = pen{fg: bg}
	if !onBand && doc.Contrast(n.shown(bg), n.back) < minStrong {
		edge.fg = n.readable(n.shown(bg), n.back, minStrong)
	}
	return pen{fg: fg, bg: bg, attrs: bold}, edge
}

// face returns the fill of a button and the colour of its label: only the latter if it is to be outlined, neither if
// there are none.
func (n *inks) face(s doc.Style, onBand bool) (fill, text doc.Color) {
	fill, text = s.Background, s.Color
	if !onBand && fill.Set && near(fill, white) && !n.dark { // the page shows through
		fill = doc.Color{}
	}
	switch {
	case onBand && (!fill.Set || near(fill, n.back)):
		if fill, text = s.Color, n.back; !fill.Set {
			fill = n.shown(n.text)
		}
	case !fill.Set && text.Set && n.theme.Profile != ANSI16:
		return fill, text
	case !fill.Set:
		fill, text = s.Color, doc.Color{}
	}
	if !fill.Set && n.roles[doc.Accent] != 0 {
		fill = fromColor(n.theme.Accent)
	}
	return fill, text
}

// outlined returns the pens for a button with only a border: its colour is faint behind the label.
func (n *inks) outlined(text doc.Color) (label, edge pen) {
	if text.Grey() {
		text = n.shown(n.text)
	}
	fg, bg := n.onFill(text, mix(n.back, text, .2))
	return pen{fg: fg, bg: bg, attrs: bold}, pen{fg: n.readable(text, n.back, minStrong)}
}

// leastBand is how far a band is at least from what is around it.
const leastBand = .045

// on returns the inks on a band of a colour with text of another, nil if the terminal has none for it.
func (n *inks) on(fill, text doc.Color) *inks {
	if n.theme.Profile == NoColor {
		return nil
	}
	key := bandKey{fill, text}
	m, ok := n.bands[key]
	if !ok {
		m = n.band(fill, text)
		n.bands[key] = m
	}
	return m
}

func (n *inks) band(fill, text doc.Color) *inks {
	surface := n.distinct(n.surface(text, fill), leastBand)
	m := &inks{theme: n.theme, screen: n.screen, dark: n.dark, turned: n.turned, body: n.body,
		sent: fill, flipped: lightInk(fill) != lightInk(surface), fill: n.convert(n.under(text, fill, surface)),
		bands: map[bandKey]*inks{}, looks: map[lookKey]pen{}, pixels: map[color.RGBA]ink{}}
	if m.back = n.shown(m.fill); apart(m.back, n.back) < leastBand/2 {
		return nil
	}
	m.text = m.convert(against(m.back))
	if lighter(text, fill) && doc.Contrast(white, m.back) >= minStrong {
		m.text = m.convert(white)
	}
	for role, c := range n.roles {
		if m.roles[role] = m.text; c != 0 {
			m.roles[role] = m.legible(n.shown(c))
		}
	}
	m.roles[doc.Secondary] = m.legible(mix(m.shown(m.text), m.back, .4))
	return m
}

// legible returns the ink on a band nearest to a colour, on the way to that of its text.
func (n *inks) legible(c doc.Color) ink {
	return cmp.Or(n.toned(c, n.shown(n.text), n.back, minStrong), n.text)
}

// bar returns the pen for the bar of a callout: the paler its colour, the greyer it is.
func (n *inks) bar(c doc.Color) pen {
	if n.theme.Profile != NoColor && saturation(c) >= leastHue {
		grey := mix(n.back, against(n.back), .5)
		if i := n.readable(mix(grey, full(c), min(float64(saturation(c))/64, 1)), n.back, minStrong); i != 0 {
			return pen{fg: i}
		}
	}
	return n.dim()
}
