package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2/maybe"
	"github.com/pelletier/go-toml/v2"
)

// settings is config.toml as far as it names services; the rest is the application's.
//
//	profile = "work"                  # the one that is meant when none is named
//	[profiles.work]
//	base_url = "https://api.example"
type settings struct {
	Profile  string             `toml:"profile,omitempty"`
	Profiles map[string]profile `toml:"profiles"`
}

type profile struct {
	BaseURL  string `toml:"base_url"`
	Insecure bool   `toml:"insecure,omitempty"` // a key may go over plain HTTP
}

// readConfig reads config.toml; where there is none, or none can be reached for want of a home, it is empty.
func readConfig(path string) (settings, error) {
	var c settings
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
		return c, nil
	case err != nil:
		return c, fmt.Errorf("reading %s: %w", path, err)
	}
	if err := toml.Unmarshal(text, &c); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			what, _, _ := strings.Cut(err.Error(), " into ") // a type of Go
			return c, fmt.Errorf("%s, line %d, column %d: %s", path, line, column, what)
		}
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// addProfile adds a profile to config.toml, which keeps everything else in it as it is. A profile that is there with
// the same address is no error.
func addProfile(path, name, baseURL string) error {
	conf, err := readConfig(path)
	if err != nil {
		return err
	}
	if p, ok := conf.Profiles[name]; ok {
		if p.BaseURL == baseURL {
			return nil
		}
		return fmt.Errorf("%s has a profile %q with another base_url", path, name)
	}
	section, err := profileSection(name, baseURL)
	if err != nil {
		return fmt.Errorf("writing profile %q: %w", name, err)
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		before = append(before, '\n')
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := maybe.WriteFile(path, append(before, section...), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// profileSection is a profile as text that can stand at the end of any config.toml.
func profileSection(name, baseURL string) ([]byte, error) {
	pair, err := toml.Marshal(map[string]bool{name: true}) // quotes the name where that is needed
	if err != nil {
		return nil, err
	}
	key := bytes.TrimSuffix(bytes.TrimSpace(pair), []byte(" = true"))
	settings, err := toml.Marshal(profile{BaseURL: baseURL})
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "\n[profiles.%s]\n%s", key, settings), nil
}
