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
	"mayfly/ui/theme"
)

// settings are those of config.toml, with what the user has changed since.
type settings struct {
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

// newSettings returns the settings of config.toml, with the theme that is kept in the file at path.
func newSettings(ui config.UI, path string) *settings {
	s := &settings{UI: ui, path: path, configured: ui.Theme}
	var kept choice
	data, err := os.ReadFile(path) // without one, or when it was damaged, config.toml decides
	if err == nil && toml.Unmarshal(data, &kept) == nil && kept.Configured == ui.Theme && slices.Contains(theme.Names(), kept.Theme) {
		s.Theme = kept.Theme
	}
	return s
}

// nextTheme switches from one theme to the next, and returns the command that keeps it for the next run.
func (s *settings) nextTheme(from string) tea.Cmd {
	s.Theme = theme.After(from)
	s.mu.Lock()
	s.unsaved = choice{s.Theme, s.configured}
	s.mu.Unlock()
	return func() tea.Msg {
		if err := s.save(); err != nil {
			return host.Done{Err: err}
		}
		return nil
	}
}

// save writes what was chosen and is not saved yet.
func (s *settings) save() error {
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
