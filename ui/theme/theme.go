// Package theme is how the screen looks: the style of each role, text in cells, time in words, and where panes
// lie. Code uses roles (accent, good, dim), never colours.
package theme

import (
	"fmt"
	"image/color"
	"path"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/pelletier/go-toml/v2"

	"mayfly/assets"
	"mayfly/render"
	"mayfly/render/layout"
)

// Style is the SGR sequence of a style. Several can be concatenated.
type Style string

// On returns text in the style, followed by a reset.
func (s Style) On(text string) string {
	if s == "" || text == "" {
		return text
	}
	return string(s) + text + "\x1b[m"
}

// Over returns the style of text in s on a row with the background back. On one that has an ink of its own, s only adds
// its weight.
func (s Style) Over(back Style) Style {
	if !slices.Contains([]Style{Reverse, gray}, back) {
		return back + s
	}
	for _, weight := range []Style{Bold, Underline} {
		if strings.Contains(string(s), string(weight)) {
			back += weight
		}
	}
	return back
}

// Weights, to be added to a style.
const (
	Bold      Style = "\x1b[1m"
	Underline Style = "\x1b[4m"
	Reverse   Style = "\x1b[7m"

	faint Style = "\x1b[2m"
	gray  Style = "\x1b[48;5;242;38;5;231m" // stands out from white and from black alike
)

// Theme is a palette of roles for one terminal. Where it matters, the screen also distinguishes
// roles by glyphs, words and weight.
type Theme struct {
	Name    string
	Dark    bool
	Profile colorprofile.Profile
	// Graphemes is set where the terminal counts cells by grapheme clusters (mode 2027).
	Graphemes bool
	Location  *time.Location // where the user is; nil: where this machine is

	guessed bool // Dark is
	roles[Style]
	Bright Style // titles, senders of unread mail
	Colors Colors
}

// Local returns a time where the user is.
func (t *Theme) Local(at time.Time) time.Time {
	if t.Location == nil {
		return at.Local()
	}
	return at.In(t.Location)
}

// StableWidth returns text as a row can show it without losing its width: as it is where the terminal
// counts grapheme clusters, otherwise made so by [StableWidth].
func (t *Theme) StableWidth(text string) string {
	if t.Graphemes {
		return text
	}
	return StableWidth(text)
}

// Colors are the colours of a theme, nil for the terminal's own.
type Colors = roles[color.Color]

type roles[T any] struct {
	// Each is "#rrggbb" in a file, an index of the terminal's palette, or "" for its own colour.
	Text, Dim, Faint  T // the body, what is secondary, rules
	Accent            T // focus and keys
	Good, Warn, Bad   T
	Code, Link, Match T // Match is a hit of a filter or a search
	Select, Rest      T // backgrounds of the selected row: of the pane that has focus, of others
}

func (r *roles[T]) all() []*T {
	return []*T{&r.Text, &r.Dim, &r.Faint, &r.Accent, &r.Good, &r.Warn, &r.Bad, &r.Code, &r.Link, &r.Match, &r.Select, &r.Rest}
}

// Names lists the names of all themes.
func Names() []string { return assets.ThemeNames() }

// After is the name of the theme after the named one, wrapping around.
func After(name string) string {
	names := Names()
	return names[(slices.Index(names, name)+1)%len(names)]
}

// For is the named theme for a dark or a light background, or for one that is not known; "" is our own with 256 colours or more,
// and the user's palette with fewer. Without colours a theme has weights only. If it cannot be loaded, For returns the error
// and the default theme. The selected row of the pane that has focus is in reverse video where the theme has no background
// for it, or in gray on an unknown one.
func For(name string, dark, known bool, p colorprofile.Profile) (*Theme, error) {
	t, err := load(name, dark, known, p)
	if err != nil {
		t, _ = load("", dark, known, p) // it is embedded
	}
	switch {
	case t.Select != "":
	case !known && p >= colorprofile.ANSI256:
		t.Select = gray
	default:
		t.Select = Reverse
	}
	return t, err
}

func load(name string, dark, known bool, p colorprofile.Profile) (*Theme, error) {
	switch {
	case name == "" && p >= colorprofile.ANSI256:
		name = "mayfly"
	case name == "":
		name = "terminal"
	}
	if p < colorprofile.ANSI { // weight alone tells roles apart
		return &Theme{
			Name: name, Dark: dark, Profile: p, Bright: Bold,
			roles: roles[Style]{Dim: faint, Faint: faint, Accent: Bold, Warn: Bold, Bad: Bold, Code: Bold, Link: Underline, Match: Reverse + Underline},
		}, nil
	}
	data, err := assets.Themes.ReadFile(path.Join("themes", name+".toml"))
	if err != nil {
		return nil, fmt.Errorf("unknown theme %q; choose one of %s", name, strings.Join(Names(), ", "))
	}
	t := &Theme{Name: name, Dark: dark, Profile: p, guessed: !known}
	var f struct{ Dark, Light, Either roles[string] }
	switch err = toml.Unmarshal(data, &f); {
	case err != nil:
	case !known:
		err = t.paint(f.Either)
	case dark:
		err = t.paint(f.Dark)
	default:
		err = t.paint(f.Light)
	}
	if err != nil {
		return nil, fmt.Errorf("reading theme %s: %w", name, err)
	}
	return t, nil
}

func (t *Theme) paint(pal roles[string]) error {
	styles, colors := t.roles.all(), t.Colors.all()
	weights := map[*Style]Style{&t.Code: Bold, &t.Match: Underline}
	for n, value := range pal.all() {
		style := styles[n]
		*style = weights[style]
		if *value == "" {
			continue
		}
		c, sgr := lipgloss.Color(*value), ansi.Style{}
		switch back := style == &t.Select || style == &t.Rest; {
		case c == lipgloss.NoColor{}:
			return fmt.Errorf("%q is not a colour", *value)
		case back && t.Profile == colorprofile.ANSI256:
			c = grayLike(c)
			fallthrough
		case back:
			sgr = sgr.BackgroundColor(c)
		default:
			sgr = sgr.ForegroundColor(c)
		}
		*style += Style(sgr.String())
		*colors[n] = c
	}
	t.Bright = Bold + t.Text
	return nil
}

// grayLike is the gray of the 256 colours that is as light as c: others are too strong behind text.
func grayLike(c color.Color) color.Color {
	level := int(color.GrayModel.Convert(c).(color.Gray).Y)
	return ansi.IndexedColor(232 + min(23, max(0, (level-3)/10)))
}

// Render is the theme as package render takes it.
func (t *Theme) Render() render.Theme {
	c := t.Colors
	r := render.Theme{Dark: t.Dark, Guessed: t.guessed, Hyperlinks: true, Accent: c.Accent, Good: c.Good, Warning: c.Warn, Bad: c.Bad, Dim: c.Dim}
	switch {
	case t.Profile >= colorprofile.TrueColor:
		r.Profile = layout.TrueColor
	case t.Profile >= colorprofile.ANSI256:
		r.Profile = layout.ANSI256
	case t.Profile >= colorprofile.ANSI:
		r.Profile = layout.ANSI16
	}
	return r
}
