package theme

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/fortest"
)

var profiles = []colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor}

func TestEveryThemeLoads(t *testing.T) {
	if !slices.Contains(Names(), "mayfly") || !slices.Contains(Names(), "terminal") {
		t.Fatalf("the themes are %v", Names())
	}
	for _, name := range append(Names(), "") {
		for _, p := range profiles {
			for _, dark := range []bool{true, false} {
				th, err := For(name, dark, dark, p) // a light one may be unknown
				fortest.Must(t, err)
				if p < colorprofile.ANSI && th.Colors != (Colors{}) {
					t.Errorf("%s has colours where there are none", name)
				}
				if th.Accent == "" || th.Dim == "" && dark || th.Bad == "" {
					t.Errorf("%s, dark %v, %v: a role looks like plain text", name, dark, p)
				}
			}
		}
	}
	if _, err := For("no such theme", true, true, colorprofile.TrueColor); err == nil {
		t.Error("a theme that there is not was loaded")
	}
}

// TestTextCanBeRead holds text to a contrast of 4.5 to 1 (WCAG 2.2, 1.4.3) on black and white and
// on the selected row.
func TestTextCanBeRead(t *testing.T) {
	for _, name := range []string{"mayfly", "dusk"} {
		for _, dark := range []bool{true, false} {
			th, err := For(name, dark, true, colorprofile.TrueColor)
			fortest.Must(t, err)
			c := th.Colors
			back := color.Color(color.White)
			if dark {
				back = color.RGBA{0x1e, 0x1e, 0x2e, 0xff}
			}
			for role, fore := range map[string]color.Color{"dim": c.Dim, "accent": c.Accent, "good": c.Good, "warn": c.Warn, "bad": c.Bad, "code": c.Code, "link": c.Link} {
				if got := contrast(fore, back); got < 4.5 {
					t.Errorf("%s, dark %v: %s has a contrast of %.1f", name, dark, role, got)
				}
				if got := contrast(fore, c.Select); got < 3.8 {
					t.Errorf("%s, dark %v: %s has a contrast of %.1f on the selected row", name, dark, role, got)
				}
			}
		}
	}
}

// TestInkOnAnUnknownBackground holds text to 4.4 to 1 on black and on white alike: no colour has more than 4.58.
func TestInkOnAnUnknownBackground(t *testing.T) {
	for _, name := range Names() {
		th, err := For(name, true, false, colorprofile.TrueColor)
		if err != nil || th.Select != gray {
			t.Fatal(err, th.Select)
		}
		c := th.Colors
		for role, fore := range map[string]color.Color{"text": c.Text, "dim": c.Dim, "accent": c.Accent, "good": c.Good, "warn": c.Warn, "bad": c.Bad, "code": c.Code, "link": c.Link, "match": c.Match} {
			if _, user := fore.(ansi.BasicColor); user || fore == nil {
				continue // the user's own
			}
			if got := min(contrast(fore, color.White), contrast(fore, color.Black)); got < 4.4 {
				t.Errorf("%s: %s has a contrast of %.2f", name, role, got)
			}
		}
	}
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestSixteenColoursAreTheUsersOwn(t *testing.T) {
	th, err := For("terminal", true, true, colorprofile.ANSI)
	fortest.Must(t, err)
	if th.Accent != "\x1b[36m" || th.Dim != "\x1b[37m" || th.Select != Reverse {
		t.Errorf("accent %q, dim %q, selected row %q", th.Accent, th.Dim, th.Select)
	}
}
