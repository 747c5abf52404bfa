// Package term is the terminal that a program runs in: what it can do, its clipboard, its
// notifications, its background, and the opener of the desktop around it.
package term

import (
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/clean"
	"mayfly/render/image"
)

// Env is the environment of a program, as NAME=value, for what it says about the terminal. Where a
// name occurs twice the last one counts.
type Env []string

// Getenv returns the value of a variable, "" when it is not set.
func (e Env) Getenv(name string) string { return uv.Environ(e).Getenv(name) }

// ssh reports whether the program runs in an SSH session, on a machine that the user is not at.
func (e Env) ssh() bool { return e.Getenv("SSH_TTY") != "" || e.Getenv("SSH_CONNECTION") != "" }

// tmux reports whether the terminal is a pane of tmux.
func (e Env) tmux() bool { return e.Getenv("TMUX") != "" }

// Dumb reports whether the terminal can only print lines, or says nothing of itself where terminals
// do.
func (e Env) Dumb() bool {
	name := e.Getenv("TERM")
	return name == "dumb" || name == "" && runtime.GOOS != "windows"
}

// screenLimit is how many bytes of a sequence are passed through GNU Screen at a time: it took 256
// before 2014 and takes 768 since, both with what surrounds them.
const screenLimit = 240

// Screen reports whether the terminal is GNU Screen, which keeps OSC 52 for itself unless it is told to pass it on.
func (e Env) Screen() bool { return !e.tmux() && strings.HasPrefix(e.Getenv("TERM"), "screen") }

// passthrough wraps a sequence so that a multiplexer hands it to the terminal it runs in.
func (e Env) passthrough(sequence string) string {
	switch {
	case e.tmux():
		return ansi.TmuxPassthrough(sequence)
	case e.Screen():
		return ansi.ScreenPassthrough(sequence, screenLimit)
	}
	return sequence
}

// notificationLimit is how many characters of a title or a text a notification shows.
const notificationLimit = 120

// Notification returns the sequence that makes the terminal show a desktop notification: OSC 99 for
// kitty, OSC 777 for urxvt, foot, VTE and others, else OSC 9. Title and text may come from a message.
func (e Env) Notification(title, text string) string {
	title, text = notificationText(title), notificationText(text)
	name := strings.ToLower(e.Getenv("TERM") + " " + e.Getenv("TERM_PROGRAM"))
	is := func(terminal string) bool { return strings.Contains(name, terminal) }
	switch {
	case is("kitty"):
		return e.passthrough(ansi.DesktopNotification(title, "i=mayfly", "d=0") +
			ansi.DesktopNotification(text, "i=mayfly", "p=body"))
	case is("foot"), is("rxvt"), is("ghostty"), is("wezterm"), e.Getenv("VTE_VERSION") != "":
		return e.passthrough(ansi.URxvtExt("notify", title, text))
	}
	return e.passthrough(ansi.Notify(title + ": " + text))
}

// notificationText makes text fit into a sequence, where a semicolon separates fields.
func notificationText(s string) string {
	r := []rune(strings.ReplaceAll(clean.Line(s), ";", ","))
	return string(r[:min(len(r), notificationLimit)])
}

// Capabilities is what a Bubble Tea program has learnt about its terminal. The zero value is a
// terminal that has said nothing yet and has the focus.
type Capabilities struct {
	Env        Env
	Profile    colorprofile.Profile
	Background Background
	Blurred    bool       // the terminal has lost the focus
	Graphemes  bool       // it counts cells by grapheme cluster (mode 2027)
	Version    string     // its name and version (XTVERSION), where it was asked and answered
	Cell       image.Size // px of a cell, where it was asked and answered
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
		switch image.Detect(c.Env.Getenv) {
		case image.Kitty:
			cmd = tea.RequestTerminalVersion
		case image.ITerm2, image.Sixel:
			cmd = tea.Raw(ansi.WindowOp(16)) // the size of a cell
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
	case uv.CellSizeEvent:
		c.Cell = image.Size{Width: msg.Width, Height: msg.Height}
	case tea.TerminalVersionMsg:
		c.Version = msg.Name
	}
	switch {
	case c.Profile != before.Profile || c.Background != before.Background:
		return Colors, cmd
	case c.Blurred != before.Blurred:
		return Focus, cmd
	case c.ImageMode() != before.ImageMode() || c.Graphemes != before.Graphemes:
		return Images, cmd
	}
	return Unchanged, cmd
}

// kittyCell stands for the size of a cell, since kitty scales what it is given.
var kittyCell = image.Size{Width: 10, Height: 20}

// ImageMode returns how a screen that is redrawn in parts shows images: by half blocks, which are
// cells like all others, or by kitty's placeholders, where the terminal's version knows them. Images of iTerm2 and
// sixels, which are drawn over the cells, serve only where somebody draws them again after each change.
func (c *Capabilities) ImageMode() image.Mode {
	switch p := image.Detect(c.Env.Getenv); {
	case c.Profile < colorprofile.ANSI:
		return image.Mode{}
	case c.Profile == colorprofile.TrueColor && image.KnowsPlaceholders(c.Version):
		return image.Mode{Protocol: image.KittyCells, Cell: kittyCell}
	case p == image.ITerm2 || p == image.Sixel:
		return image.Mode{Protocol: p, Cell: c.Cell}
	}
	return image.Mode{Protocol: image.Blocks}
}
