package term

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/render/image"
)

// Capabilities is what a Bubble Tea program has learnt about its terminal. The zero value is a
// terminal that has said nothing yet and has the focus.
type Capabilities struct {
	Env        Env
	Profile    colorprofile.Profile
	Background Background
	Blurred    bool   // the terminal has lost the focus
	Graphemes  bool   // it counts cells by grapheme cluster (mode 2027)
	Version    string // its name and version (XTVERSION), where it was asked and answered
}

// Change is what a message changed.
type Change uint8

const (
	Unchanged Change = iota
	Colors           // the profile or the background, and with the profile how images are shown
	Focus
	Images // how images are shown, or emoji
)

// Update applies a message and returns what it changed, and a command when the terminal is to be
// asked for more.
func (c *Capabilities) Update(msg tea.Msg) (Change, tea.Cmd) {
	before, cmd := *c, tea.Cmd(nil)
	switch msg := msg.(type) {
	case tea.EnvMsg:
		c.Env = Env(msg)
		if c.Background == UnknownBackground {
			c.Background = c.Env.background()
		}
		if image.Detect(c.Env.Getenv) == image.Kitty {
			cmd = tea.RequestTerminalVersion
		}
	case tea.ColorProfileMsg:
		c.Profile = msg.Profile
	case tea.BackgroundColorMsg:
		c.Background = shade(msg.Color)
	case tea.FocusMsg:
		c.Blurred = false
	case tea.BlurMsg:
		c.Blurred = true
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore {
			c.Graphemes = !msg.Value.IsNotRecognized() && !msg.Value.IsPermanentlyReset()
		}
	case tea.TerminalVersionMsg:
		c.Version = msg.Name
	}
	switch {
	case c.Profile != before.Profile || c.Background != before.Background:
		return Colors, cmd
	case c.Blurred != before.Blurred:
		return Focus, cmd
	case c.Version != before.Version || c.Graphemes != before.Graphemes:
		return Images, cmd
	}
	return Unchanged, cmd
}

// kittyCell stands for the size of a cell, since kitty scales what it is given.
var kittyCell = image.Size{Width: 10, Height: 20}

// ImageMode returns how a screen that is redrawn in parts shows images: by half blocks, which are
// cells like all others, or by kitty's placeholders, where the terminal's version knows them.
func (c *Capabilities) ImageMode() image.Mode {
	switch {
	case c.Profile < colorprofile.ANSI:
		return image.Mode{}
	case c.Profile == colorprofile.TrueColor && image.KnowsPlaceholders(c.Version):
		return image.Mode{Protocol: image.KittyCells, Cell: kittyCell}
	}
	return image.Mode{Protocol: image.Blocks}
}
