package ui

import (
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/config"
)

// keep carries out the command that NextTheme returns.
func keep(t *testing.T, v any) {
	t.Helper()
	for _, do := range v.([]any) {
		if cmd, ok := do.(tea.Cmd); ok {
			if msg := cmd(); msg != nil {
				t.Errorf("keeping it: %v", msg)
			}
		}
	}
}

func TestTheChosenThemeIsKept(t *testing.T) {
	for _, c := range []struct {
		name, before, after string // the theme of config.toml
		want                string
	}{
		{"none configured", "", "", "terminal"},
		{"one configured", "mayfly", "mayfly", "terminal"},
		{"another configured since", "mayfly", "dusk", "dusk"},
		{"configured since", "", "mayfly", "mayfly"},
		{"not configured any more", "dusk", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "state", "theme.toml")
		s := NewSettings(config.UI{Theme: c.before}, path)
		keep(t, s.NextTheme("mayfly"))
		if s.Theme != "terminal" {
			t.Fatalf("after mayfly comes %q", s.Theme)
		}
		if got := NewSettings(config.UI{Theme: c.after}, path).Theme; got != c.want {
			t.Errorf("%s: the next run has %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheThemeIsSavedAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "theme.toml")
	s := NewSettings(config.UI{}, path)
	s.NextTheme("mayfly") // the application ends before the command runs
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	if got := NewSettings(config.UI{}, path).Theme; got != s.Theme {
		t.Errorf("kept %q, want %q", got, s.Theme)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file: %v, %v", info, err)
	}
}

func TestADamagedChoiceIsIgnored(t *testing.T) {
	for _, content := range []string{"", "theme", `theme = "no-such-theme"`, `theme = 1`} {
		path := filepath.Join(t.TempDir(), "theme.toml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := NewSettings(config.UI{}, path).Theme; got != "" {
			t.Errorf("%q: the theme is %q", content, got)
		}
	}
}

func TestAThemeThatCannotBeSavedIsAnError(t *testing.T) {
	s := NewSettings(config.UI{}, filepath.Join(t.TempDir(), "file", "theme.toml"))
	if err := os.WriteFile(filepath.Dir(s.path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.NextTheme("mayfly")
	if err := s.Save(); err == nil {
		t.Error("it is saved")
	}
}
