package render_test

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/layout"
)

// rgb is a colour as a screen shows it.
type rgb [3]uint8

func (c rgb) luminance() float64 {
	var l float64
	for i, weight := range []float64{.2126, .7152, .0722} {
		v := float64(c[i]) / 255
		if v <= .04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+.055)/1.055, 2.4)
		}
		l += weight * v
	}
	return l
}

// ratio is the contrast of WCAG 2.
func ratio(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// xterm is a colour of the 256.
func xterm(n int) rgb {
	if n < 16 {
		return [16]rgb{{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
			{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255}}[n]
	}
	if n >= 232 {
		v := uint8(8 + 10*(n-232))
		return rgb{v, v, v}
	}
	levels := [6]uint8{0, 95, 135, 175, 215, 255}
	return rgb{levels[(n-16)/36], levels[(n-16)/6%6], levels[(n-16)%6]}
}

// screen is a terminal that follows SGR.
type screen struct {
	text, back   rgb // its default colours
	fg, bg       rgb
	own, painted bool // fg, bg are not the defaults
	bold         bool
}

func (s *screen) sgr(params string) {
	p := strings.Split(params, ";")
	number := func(i int) int { n, _ := strconv.Atoi(p[i]); return n }
	for i := 0; i < len(p); i++ {
		switch n := number(i); {
		case n == 0:
			s.fg, s.bg, s.own, s.painted, s.bold = s.text, s.back, false, false, false
		case n == 1:
			s.bold = true
		case n >= 30 && n <= 37:
			s.fg, s.own = xterm(n-30), true
		case n >= 90 && n <= 97:
			s.fg, s.own = xterm(n-90+8), true
		case n >= 40 && n <= 47:
			s.bg, s.painted = xterm(n-40), true
		case n >= 100 && n <= 107:
			s.bg, s.painted = xterm(n-100+8), true
		case n == 38 || n == 48:
			var c rgb
			if p[i+1] == "5" {
				c = xterm(number(i + 2))
				i += 2
			} else {
				c = rgb{uint8(number(i + 2)), uint8(number(i + 3)), uint8(number(i + 4))}
				i += 4
			}
			if n == 38 {
				s.fg, s.own = c, true
			} else {
				s.bg, s.painted = c, true
			}
		}
	}
}

// words calls f for each run of text that stands on the screen when a line is written to it.
func (s *screen) words(line string, f func(text string)) {
	line = open8.ReplaceAllString(strings.ReplaceAll(line, close8, ""), "")
	s.sgr("0")
	at := 0
	for _, m := range sgr.FindAllStringIndex(line, -1) {
		if text := strings.TrimSpace(line[at:m[0]]); text != "" {
			f(text)
		}
		s.sgr(line[m[0]+2 : m[1]-1])
		at = m[1]
	}
	if text := strings.TrimSpace(line[at:]); text != "" {
		f(text)
	}
}

// colourful is a mail whose texts have the colour text on the colour back, in each way in which a
// mail can say so.
func colourful(text, back string) string {
	return fmt.Sprintf(`<p>word <span style="color:%[1]s">coloured</span> <b style="color:%[1]s;background:%[2]s">marked</b></p>
<p style="background:%[2]s;color:%[1]s">paragraph <a href="https://acme.example/a" style="color:%[1]s">link</a></p>
<table><tr><td bgcolor="%[2]s"><font color="%[1]s">cell</font></td></tr></table>
<p><a href="https://acme.example/b" style="display:inline-block;padding:9px 20px;color:%[1]s;background:%[2]s">button</a></p>
<p><a href="https://acme.example/c" style="display:inline-block;padding:9px 20px;color:%[1]s;border:1px solid %[1]s">outline</a></p>
<h1 style="color:%[1]s">heading</h1>`, text, back)
}

// TestContrast: whatever colours a mail asks for, its text can be read: at 4.5:1, at 3:1 if it is bold
// or on a fill of its own, as is a line under it (WCAG 2, level AA).
func TestContrast(t *testing.T) {
	t.Parallel()
	terminals := map[string]struct {
		theme      render.Theme
		text, back rgb
	}{}
	for profile, name := range map[layout.Profile]string{layout.ANSI16: "16", layout.ANSI256: "256", layout.TrueColor: "true"} {
		add := func(look string, theme render.Theme, text, back rgb) {
			theme.Profile = profile
			terminals[look+name] = struct {
				theme      render.Theme
				text, back rgb
			}{theme, text, back}
		}
		add("light ", render.Theme{}, rgb{}, rgb{255, 255, 255})
		add("dark ", render.Theme{Dark: true}, rgb{255, 255, 255}, rgb{0x1e, 0x1e, 0x1e})
		add("black ", render.Theme{Dark: true, Background: color.Black}, rgb{255, 255, 255}, rgb{})
		add("blue ", render.Theme{Dark: true, Background: color.RGBA{0, 0x2b, 0x36, 255}}, rgb{255, 255, 255}, rgb{0, 0x2b, 0x36})
		add("cream ", render.Theme{Background: color.RGBA{0xfd, 0xf6, 0xe3, 255}}, rgb{}, rgb{0xfd, 0xf6, 0xe3})
	}
	r := rand.New(rand.NewPCG(1, 2))
	levels := []int{0, 0x33, 0x66, 0x99, 0xcc, 0xff}
	pick := func(i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("#%02x%02x%02x", levels[r.IntN(6)], levels[r.IntN(6)], levels[r.IntN(6)])
		}
		return fmt.Sprintf("#%06x", r.IntN(1<<24))
	}
	for i := range tries(50, 200, 1500) {
		text, back := pick(i), pick(i/2)
		mail := render.Open(mail.Message{HTML: colourful(text, back)})
		for name, terminal := range terminals {
			s := screen{text: terminal.text, back: terminal.back}
			for _, l := range mail.Lines(render.Rich, render.Options{Width: 80, Theme: terminal.theme}) {
				s.words(l.Styled, func(shown string) {
					least := 4.5
					if s.bold || s.painted || strings.Trim(shown, "━▔") == "" {
						least = 3
					}
					if c := ratio(s.fg, s.bg); c < least && strings.Trim(shown, "▐▌▄▀▎") != "" {
						t.Errorf("%s: %s on %s: %q is drawn in %v on %v, %.2f", name, text, back, shown, s.fg, s.bg, c)
					}
				})
			}
			if t.Failed() {
				t.Fatalf("mail %d", i)
			}
		}
	}
}

// chroma returns how far the channels of a colour are from each other, and its hue in degrees.
func (c rgb) chroma() (most, hue float64) {
	r, g, b := float64(c[0]), float64(c[1]), float64(c[2])
	hue = math.Atan2(math.Sqrt(3)*(g-b), 2*r-g-b) * 180 / math.Pi
	return max(r, g, b) - min(r, g, b), hue
}

// runs returns the fills and the inks of runs, of which each is white or black on a colour of its own.
func runs(theme render.Theme, light bool, fills []rgb) (out []screen) {
	ink := map[bool]string{true: "#fff", false: "#000"}[light]
	html := ""
	for _, c := range fills {
		html += fmt.Sprintf(`word <span style="color:%s;background:#%02x%02x%02x">fill</span> `, ink, c[0], c[1], c[2])
	}
	s := screen{}
	for _, l := range render.Open(mail.Message{HTML: "<p>" + html}).Lines(render.Rich, render.Options{Width: 80, Theme: theme}) {
		s.words(l.Styled, func(text string) {
			if text == "fill" {
				out = append(out, s)
			}
		})
	}
	return out
}

// TestFills: greys stay greys and differ as much from the terminal's background as from the page's, lighter ones less; hues
// stay what they are; similar colours are similar; and white that can be read stays white.
func TestFills(t *testing.T) {
	blend := func(a, b rgb, t float64) (c rgb) {
		for i := range c {
			c[i] = uint8(float64(a[i]) + (float64(b[i])-float64(a[i]))*t)
		}
		return c
	}
	for _, theme := range []render.Theme{{Profile: layout.TrueColor}, {Profile: layout.ANSI256}, {Profile: layout.ANSI16},
		{Profile: layout.TrueColor, Dark: true}, {Profile: layout.ANSI256, Dark: true}, {Profile: layout.ANSI16, Dark: true}} {
		name := fmt.Sprintf("profile %d, dark %v", theme.Profile, theme.Dark)
		var greys []rgb
		for v := 255 - 24; v >= 0; v-- {
			greys = append(greys, rgb{uint8(v), uint8(v), uint8(v)})
		}
		last := 0.
		for i, s := range runs(theme, false, greys) {
			away := s.bg.luminance()
			if !theme.Dark {
				away = 1 - away
			}
			if most, _ := s.bg.chroma(); most > 0 || away < last {
				t.Errorf("%s: %v is drawn in %v, further in than a lighter one", name, greys[i], s.bg)
			}
			last = away
		}
		for hue := range 24 {
			full := rgb{}
			for i := range full {
				full[i] = uint8(255 * min(max(.5+math.Cos(float64(hue)*math.Pi/12-float64(i)*math.Pi*2/3), 0), 1))
			}
			var ramp []rgb
			for step := 10.; step < 64; step++ {
				ramp = append(ramp, blend(rgb{255, 255, 255}, full, step/64))
			}
			for step := 0.; step < 48; step++ {
				ramp = append(ramp, blend(full, rgb{}, step/64))
			}
			white, light, dark := rgb{255, 255, 255}, runs(theme, true, ramp), runs(theme, false, ramp)
			for i, s := range dark {
				c := ramp[i]
				_, want := c.chroma()
				most, got := s.bg.chroma()
				turn := math.Abs(math.Remainder(got-want, 360))
				if theme.Profile != layout.ANSI16 && (most == 0 || turn > map[layout.Profile]float64{layout.TrueColor: 15, layout.ANSI256: 50}[theme.Profile]) {
					t.Errorf("%s: %v is drawn in %v, %.f° off", name, c, s.bg, turn)
				}
				if theme.Profile != layout.ANSI16 && ratio(white, c) > 2.2 && light[i].fg != white {
					t.Errorf("%s: white on %v is drawn in %v on %v", name, c, light[i].fg, light[i].bg)
				}
				for j, before := range dark[max(i-1, 0)].bg {
					if theme.Profile == layout.TrueColor && max(before, s.bg[j])-min(before, s.bg[j]) > 24 {
						t.Errorf("%s: %v is drawn in %v, the one before it in %v", name, c, s.bg, dark[i-1].bg)
					}
				}
			}
		}
	}
}

// TestEdgesOfButtons: whatever the colour of a button, its edges can be seen (WCAG 2, 1.4.11).
func TestEdgesOfButtons(t *testing.T) {
	for _, fill := range []string{"#000", "#1f2937", "#0044aa", "#fff", "#f3f4f6", "#ecb57c", "#ffd814", "#1e1e1e", "transparent;border:1px solid #ccc"} {
		m := render.Open(mail.Message{HTML: `<p>Hello <a href="https://acme.example/" style="display:inline-block;padding:9px 20px;color:#808080;background:` + fill + `;border:1px solid #ddd">Start</a></p>`})
		for name, theme := range themes() {
			if theme.Profile == layout.NoColor {
				continue
			}
			s := screen{text: rgb{255, 255, 255}, back: rgb{0x1e, 0x1e, 0x1e}}
			if !theme.Dark {
				s.text, s.back = rgb{}, rgb{255, 255, 255}
			}
			edges := 0
			for _, l := range m.Lines(render.Rich, render.Options{Width: 80, Theme: theme}) {
				s.words(l.Styled, func(shown string) {
					if !strings.ContainsAny(shown, "▐▌") {
						return
					}
					edges++
					if c := ratio(s.fg, s.back); c < 3 {
						t.Errorf("%s: the edge of a button in %s is drawn in %v on %v, %.2f", name, fill, s.fg, s.back, c)
					}
				})
			}
			if edges == 0 {
				t.Errorf("%s: a button in %s has no edges", name, fill)
			}
		}
	}
}

// TestNeutralButtons: a dark button keeps its white label where the terminal is dark, and one in the white of the page is
// drawn as one without a fill.
func TestNeutralButtons(t *testing.T) {
	button := func(style string, dark bool) string {
		m := render.Open(mail.Message{HTML: `<p><a href="https://acme.example/" style="display:inline-block;padding:9px 20px;border:1px solid #ddd;` + style + `">Start</a></p>`})
		return m.Lines(render.Rich, render.Options{Width: 80, Theme: layout.Theme{Dark: dark, Profile: layout.TrueColor}})[0].Styled
	}
	for _, fill := range []string{"#000", "#14171c", "#1f2937", "#4b5563", "#6b7280"} {
		if line := button("color:#fff;background:"+fill, true); !strings.Contains(line, "\x1b[0;1;38;2;255;255;255;48;2;") {
			t.Errorf("%s: %q", fill, line)
		}
	}
	for _, dark := range []bool{true, false} {
		if a, b := button("color:#222;background:#fff", dark), button("color:#222", dark); a != b {
			t.Errorf("dark %v: white is %q, without a fill %q", dark, a, b)
		}
	}
	page := render.Open(mail.Message{HTML: `<body style="background:#000;color:#fff"><p>Everything <b style="background:#333">must</b> go</p><a href="https://acme.example/" style="background:#fff;color:#111;padding:9px 20px">Start</a></body>`})
	lines := page.Lines(render.Rich, render.Options{Width: 80, Theme: layout.Theme{Dark: true, Profile: layout.TrueColor}})
	if line := lines[0].Styled + lines[len(lines)-1].Styled; !strings.Contains(line, "48;2;51;51;51m must ") || !strings.Contains(line, "48;2;255;255;255m Start ") {
		t.Errorf("on a page in black: %q", line)
	}
}

// TestLightText: light text stays light, also on black and on bright fills, which get no lighter than they are nor lose their hue.
func TestLightText(t *testing.T) {
	for fill, most := range map[string]float64{"#000": .1, "#222": .1, "#0f172a": .09, "#888": .25, "#ffb74d": .3, "#25d366": .31, "#1280f4": .25} {
		for _, element := range []string{`<div style="color:#fff;padding:9px 20px;background:%s">Start</div>`, `<a href="https://acme.example/" style="color:#fff;padding:9px 20px;background:%s">Start</a>`} {
			m := render.Open(mail.Message{HTML: "<p>Everything must go</p>" + fmt.Sprintf(element, fill) + "<p>And so on</p>"})
			found := false
			for _, l := range m.Lines(render.Rich, render.Options{Width: 80, Theme: layout.Theme{Dark: true, Profile: layout.TrueColor}}) {
				s := screen{}
				s.words(l.Styled, func(text string) {
					if text == "Start" {
						found = s.fg == rgb{255, 255, 255} && s.painted && s.bg.luminance() <= most
					}
				})
			}
			if !found {
				t.Errorf(element+" is not white on its fill", fill)
			}
		}
	}
}

// TestNearBlackIsTheDefault: a mail's black is the terminal's own colour for text, and so is what
// hardly differs from it.
func TestNearBlackIsTheDefault(t *testing.T) {
	for _, c := range []string{"#000", "#111111", "#222", "#333333", "#1a1a2e", "#0a0a23", "#404040", "rgb(34,34,34)", "black"} {
		mail := render.Open(mail.Message{HTML: `<p style="color:` + c + `">text</p>`})
		for name, theme := range themes() {
			for _, l := range mail.Lines(render.Rich, render.Options{Width: 80, Theme: theme}) {
				if l.Styled != "text" {
					t.Errorf("%s in %s: %q", c, name, l.Styled)
				}
			}
		}
	}
}

// TestNoColour: without colours there are none.
func TestNoColour(t *testing.T) {
	theme := render.Theme{Dark: true, Profile: layout.NoColor, Accent: color.RGBA{0x2f, 0x6f, 0xeb, 255}, Dim: color.RGBA{99, 99, 99, 255}, Warning: color.White}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		html := colourful(fmt.Sprintf("#%06x", r.IntN(1<<24)), fmt.Sprintf("#%06x", r.IntN(1<<24))) + "<p>Your code is</p><p><b>482913</b></p><hr><ul><li>x</ul>"
		mail := render.Open(mail.Message{HTML: html, Subject: "Your code"})
		for _, l := range mail.Lines(render.Rich, render.Options{Width: 80, Theme: theme, Links: true, Hidden: true}) {
			s := screen{}
			s.words(l.Styled, func(shown string) {
				if s.own || s.painted {
					t.Fatalf("%q has a colour: %q", shown, l.Styled)
				}
			})
		}
	}
}
