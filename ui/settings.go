package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"mayfly/internal/config"
	"mayfly/internal/files"
	"mayfly/internal/term"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/theme"
)

// settings are those of config.toml, with what the user has changed since.
type settings struct {
	config.UI
	path string // of the file that keeps them; empty for none
	kept kept
}

// kept is what the next run takes over.
type kept struct {
	// Theme was chosen on the screen. It holds until config.toml names another than it did then.
	Theme      string           `toml:"theme,omitempty"`
	Configured string           `toml:"configured,omitempty"`
	ByMail     bool             `toml:"by_mail,omitempty"` // inboxes in the order of their newest mail
	Places     map[string]place `toml:"places,omitempty"`  // by the name of the service
}

// place is where a run ended.
type place struct {
	Inbox   string    `toml:"inbox"`
	Message string    `toml:"message,omitempty"` // key of the selected one
	Newest  time.Time `toml:"newest,omitempty"`  // when the newest message was received, by the service's clock
}

// newSettings returns the settings of config.toml, with what is kept in the file at path.
func newSettings(ui config.UI, path string) *settings {
	s := &settings{UI: ui, path: path}
	data, _, err := files.Read(path, 1<<16) // without one, or when it was damaged, config.toml decides
	if err != nil || toml.Unmarshal(data, &s.kept) != nil {
		s.kept = kept{}
	}
	if s.kept.Configured == ui.Theme && slices.Contains(theme.Names(), s.kept.Theme) {
		s.Theme = s.kept.Theme
	} else {
		s.kept.Theme, s.kept.Configured = "", ui.Theme
	}
	return s
}

// nextTheme switches from one theme to the next.
func (s *settings) nextTheme(from string) {
	s.Theme = theme.After(from)
	s.kept.Theme = s.Theme
}

// leave notes where a run ends on a service.
func (s *settings) leave(service string, p place) {
	if s.kept.Places == nil {
		s.kept.Places = map[string]place{}
	}
	s.kept.Places[service] = p
}

// save writes what the next run takes over.
func (s *settings) save() error {
	if s.path == "" {
		return nil
	}
	data, err := toml.Marshal(s.kept)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = files.Write(s.path, data)
	}
	if err != nil {
		return fmt.Errorf("saving what was chosen on the screen: %w", err)
	}
	return nil
}

func settingsActions(c *common) []*action {
	return []*action{
		{ID: "theme", Title: "Change the theme", Keys: []string{"T"}, Where: anywhere, Run: noCmd(c.nextTheme)},
		{ID: "mouse", Title: "Toggle the mouse (off: select text)", Keys: []string{"m"}, Where: anywhere, Run: noCmd(func() {
			c.settings.Mouse = !c.settings.Mouse
			c.noteEither(c.settings.Mouse, "The mouse is on", "The mouse is off: the terminal selects text")
		})},
	}
}

// applyTheme loads the theme for the terminal and passes it to the reader.
func (c *common) applyTheme() {
	dark, known := c.terminal.Background != term.LightBackground, c.terminal.Background != term.UnknownBackground
	th, err := theme.For(c.settings.Theme, dark, known, c.terminal.Profile)
	if err != nil {
		c.report(host.Result{Err: err})
	}
	th.Location = c.host.Location
	if !c.host.Away { // there is one terminal: elsewhere cells are counted in the way that holds on all
		th.Graphemes = c.terminal.Graphemes
		theme.CountGraphemes(th.Graphemes)
	}
	c.theme = th
	key := c.table.keyFor
	c.reader.SetLook(th, c.terminal.ImageMode(), reader.Hints{Retry: key("refresh"), Images: key("images"), Hidden: key("hidden-text")})
}

// nextTheme switches to the next theme, and keeps it for the next run.
func (c *common) nextTheme() {
	c.settings.nextTheme(c.theme.Name)
	c.applyTheme()
	c.note("Theme " + c.settings.Theme)
}
