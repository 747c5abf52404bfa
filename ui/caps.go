package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/render/image"
	"mayfly/ui/theme"
)

// capabilities is what the terminal said about itself.
type capabilities struct {
	profile    colorprofile.Profile
	background bool // the terminal told its background
	light      bool
	blurred    bool // the terminal has lost the focus
	refocused  bool // it has just got it back: the click that did so does nothing
	mouse      bool
	ssh        bool
	tmux       bool
	version    string // name and version of the terminal, where it was asked and told
	env        tea.EnvMsg
}

// sense folds an answer of the terminal into the capabilities.
func (a *app) sense(msg tea.Msg) tea.Cmd {
	c := &a.caps
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		c.background, c.light = true, !msg.IsDark()
		a.dress()
	case tea.ColorProfileMsg:
		c.profile = msg.Profile
		a.dress()
	case tea.EnvMsg:
		c.env = msg
		c.ssh = msg.Getenv("SSH_TTY") != "" || msg.Getenv("SSH_CONNECTION") != ""
		c.tmux = msg.Getenv("TMUX") != ""
		if v := msg.Getenv("COLORFGBG"); v != "" && !c.background {
			c.background, c.light = true, lightByEnvironment(v)
			a.dress()
		}
		if image.Detect(msg.Getenv) == image.Kitty {
			return tea.RequestTerminalVersion
		}
	case tea.FocusMsg:
		c.blurred, c.refocused = false, c.blurred
		a.readWhatIsSeen()
		if a.session != nil {
			a.session.watcher.SetFocused(true)
		}
	case tea.BlurMsg:
		c.blurred = true
		if a.session != nil {
			a.session.watcher.SetFocused(false)
		}
	case tea.TerminalVersionMsg:
		c.version = msg.Name
		a.sensePictures()
	}
	return nil
}

// lightByEnvironment reads COLORFGBG, which some terminals set: "0;15" is black on white.
func lightByEnvironment(v string) bool {
	_, back, ok := strings.Cut(v, ";")
	if i := strings.LastIndexByte(back, ';'); i >= 0 {
		back = back[i+1:]
	}
	return ok && (back == "7" || back == "15")
}

// dress makes the theme for the terminal.
func (a *app) dress() {
	th, err := theme.Load(a.cfg.Theme, !a.caps.light, a.caps.profile)
	if err != nil {
		a.say(trouble, err.Error())
		if th, err = theme.Load("", !a.caps.light, a.caps.profile); err != nil {
			th = &theme.Theme{}
		}
	}
	if !a.caps.background {
		// What a background is drawn on is not known yet.
		th.Select, th.Rest = "", ""
	}
	a.th, a.reader.th = th, th
	a.sensePictures()
	a.reader.pictureHint = hint(th, a.keyFor("pictures"), "shows them")
	a.reader.retry = hint(th, a.keyFor("refresh"), "try again")
}
