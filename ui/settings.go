package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/pelletier/go-toml/v2"

	"mayfly/internal/config"
	"mayfly/internal/files"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/theme"
)

// Settings are those of config.toml, with what the user has changed since.
type Settings struct {
	config.UI
	path       string // of the file that keeps the theme; empty for none
	configured string // the theme of config.toml

	mu      sync.Mutex
	unsaved choice // the zero value when all is saved
}

// choice is the theme the user chose on the screen. It holds until config.toml names another theme
// than it did then.
type choice struct {
	Theme      string `toml:"theme"`
	Configured string `toml:"configured"`
}

// NewSettings returns the settings of config.toml, with the theme that is kept in the file at path.
func NewSettings(ui config.UI, path string) *Settings {
	s := &Settings{UI: ui, path: path, configured: ui.Theme}
	var kept choice
	data, err := os.ReadFile(path) // without one, or when it was damaged, config.toml decides
	if err == nil && toml.Unmarshal(data, &kept) == nil && kept.Configured == ui.Theme && slices.Contains(theme.Names(), kept.Theme) {
		s.Theme = kept.Theme
	}
	return s
}

// NextTheme switches from one theme to the next and keeps that for the next run.
func (s *Settings) NextTheme(from string) any {
	s.Theme = theme.After(from)
	s.mu.Lock()
	s.unsaved = choice{s.Theme, s.configured}
	s.mu.Unlock()
	return []any{intent.Note{Text: "Theme " + s.Theme}, tea.Cmd(func() tea.Msg {
		if err := s.Save(); err != nil {
			return host.Done{Err: err}
		}
		return nil
	})}
}

// ToggleMouse turns the mouse on or off for this run.
func (s *Settings) ToggleMouse() any {
	s.Mouse = !s.Mouse
	return intent.Toggled(s.Mouse, "The mouse is on", "The mouse is off: the terminal selects text")
}

// Save writes what was chosen and is not saved yet.
func (s *Settings) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" || s.unsaved == (choice{}) {
		return nil
	}
	data, err := toml.Marshal(s.unsaved)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = files.Write(s.path, data)
	}
	if err != nil {
		return fmt.Errorf("keeping the theme: %w", err)
	}
	s.unsaved = choice{}
	return nil
}
