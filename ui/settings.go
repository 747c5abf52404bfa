package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	path       string // of the file that keeps the theme; empty for none
	configured string // the theme of config.toml
	chosen     bool   // another theme was chosen on the screen
}

// choice is a theme chosen on the screen. It holds until config.toml names another than it did then.
type choice struct {
	Theme      string `toml:"theme"`
	Configured string `toml:"configured"`
}

// newSettings returns the settings of config.toml, with the theme that is kept in the file at path.
func newSettings(ui config.UI, path string) *settings {
	s := &settings{UI: ui, path: path, configured: ui.Theme}
	var kept choice
	data, _, err := files.Read(path, 1<<16) // without one, or when it was damaged, config.toml decides
	if err == nil && toml.Unmarshal(data, &kept) == nil && kept.Configured == ui.Theme && slices.Contains(theme.Names(), kept.Theme) {
		s.Theme = kept.Theme
	}
	return s
}

// nextTheme switches from one theme to the next.
func (s *settings) nextTheme(from string) { s.Theme, s.chosen = theme.After(from), true }

// save keeps the theme for the next run if it was chosen on the screen.
func (s *settings) save() error {
	if s.path == "" || !s.chosen {
		return nil
	}
	data, err := toml.Marshal(choice{s.Theme, s.configured})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = files.Write(s.path, data)
	}
	if err != nil {
		return fmt.Errorf("keeping the theme: %w", err)
	}
	return nil
}

func settingsActions(c *common) []*action {
	return []*action{
		{ID: "theme", Title: "Change the theme", Keys: []string{"T"}, Where: anywhere, Run: just(c.nextTheme)},
		{ID: "mouse", Title: "Toggle the mouse (off: select text)", Keys: []string{"m"}, Where: anywhere, Run: just(func() {
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
		c.report(host.Done{Err: err})
	}
	th.Graphemes = c.terminal.Graphemes
	c.theme = th
	key := c.table.keyFor
	c.reader.SetLook(th, c.terminal.ImageMode(), reader.Hints{Retry: key("refresh"), Images: key("images"), Hidden: key("hidden")})
}

// nextTheme switches to the next theme, and keeps it for the next run.
func (c *common) nextTheme() {
	c.settings.nextTheme(c.theme.Name)
	c.applyTheme()
	c.note("Theme " + c.settings.Theme)
}
