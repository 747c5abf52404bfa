package ui

import (
	"os"
	"path/filepath"
	"testing"

	"mayfly/internal/config"
	"mayfly/internal/fortest"
)

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
		s := newSettings(config.UI{Theme: c.before}, path)
		s.nextTheme("mayfly")
		if err := s.save(); err != nil {
			t.Errorf("keeping it: %v", err)
		}
		if s.Theme != "terminal" {
			t.Fatalf("after mayfly comes %q", s.Theme)
		}
		if got := newSettings(config.UI{Theme: c.after}, path).Theme; got != c.want {
			t.Errorf("%s: the next run has %q, want %q", c.name, got, c.want)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("the file: %v, %v", info, err)
		}
	}
}

func TestADamagedChoiceIsIgnored(t *testing.T) {
	for _, content := range []string{"", "theme", `theme = "no-such-theme"`, `theme = 1`} {
		path := filepath.Join(t.TempDir(), "theme.toml")
		fortest.Must(t, os.WriteFile(path, []byte(content), 0o600))
		if got := newSettings(config.UI{}, path).Theme; got != "" {
			t.Errorf("%q: the theme is %q", content, got)
		}
	}
}

func TestAThemeThatCannotBeSavedIsAnError(t *testing.T) {
	s := newSettings(config.UI{}, filepath.Join(t.TempDir(), "file", "theme.toml"))
	fortest.Must(t, os.WriteFile(filepath.Dir(s.path), nil, 0o600))
	s.nextTheme("mayfly")
	if err := s.save(); err == nil {
		t.Error("it is saved")
	}
}
