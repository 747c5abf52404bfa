package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"mayfly/internal/files"
)

// AddProfile adds a profile to the file at path, and keeps everything else in it as it is. The file
// is made, with mode 0600, when there is none. A profile that is there with the same address is no
// error.
func AddProfile(path, name, baseURL string) error {
	if p, ok := Read(path, nil).Profiles[name]; ok {
		if p.BaseURL == baseURL {
			return nil
		}
		return fmt.Errorf("%s has a profile %q with another base_url", path, name)
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	profile := map[string]map[string]map[string]string{"profiles": {name: {"base_url": baseURL}}}
	section, err := toml.Marshal(profile)
	if err != nil {
		return fmt.Errorf("writing profile %q: %w", name, err)
	}
	section = bytes.TrimPrefix(section, []byte("[profiles]\n")) // may be there already
	text = slices.Concat(text, []byte("\n"), section)
	if Parse(path, text, nil).Profiles[name].BaseURL != baseURL {
		return fmt.Errorf("profile %q with the address %s cannot be added to %s: `mayfly doctor` says what is wrong in the file", name, baseURL, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of %s: %w", path, err)
	}
	if err := files.Write(path, text); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
