// Package config reads the user's config.toml, strictly: whatever is wrong in it becomes a Problem
// with its line, and what is valid beside it is used.
//
//	profile = "work"                    # the service to use when none is named
//
//	[profiles.work]
//	base_url = "https://api.example"
//
//	[ui]
//	mouse = false
//
//	[keys]
//	copy-code = "ctrl+y"
//
//	[commands]
//	"ctrl+t" = "xdotool type \"$MAYFLY_CODE\""
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pelletier/go-toml/v2"

	"mayfly/api"
	"mayfly/internal/files"
)

// Config is what the user chose.
type Config struct {
	Profile  string             // the service to use when none is named; "" for the local one
	Profiles map[string]Profile // services by name
	Local    Local
	Relay    Relay
	UI       UI
	Browser  Browser
	Checks   Checks
	// Keys are the keys of actions, by the name of the action; one that is not here keeps its usual
	// keys, one with an empty list has none.
	Keys     map[string][]string
	Commands []Command // in the order of the file

	Problems []Problem // what is wrong in the file, in the order of its lines
}

// Profile is a service.
type Profile struct {
	BaseURL  string `toml:"base_url"` // "" when the file has no valid one
	Insecure bool   `toml:"insecure"` // a key may be sent over plain HTTP to another machine
}

// Local are the settings of the local service.
type Local struct {
	SMTP string `toml:"smtp"` // loopback addresses, host:port; "" for the usual ones
	HTTP string `toml:"http"`
	Keep bool   `toml:"keep"` // it runs until `mayfly down`
	TLS  bool   `toml:"tls"`  // its SMTP offers STARTTLS, with a certificate of its own
}

// Relay is the [relay] table: the relay server and the recipients that messages may be released to.
type Relay struct {
	Host         string   `toml:"host"` // host:port; "" for none
	TLS          string   `toml:"tls"`  // "starttls" (also if empty), "tls" or "none"
	User         string   `toml:"user"` // "" for no login
	PasswordFile string   `toml:"password_file"`
	From         string   `toml:"from"`  // the sender's address
	Allow        []string `toml:"allow"` // addresses, and *@domain
}

// UI is the table [ui], the look of the terminal application.
type UI struct {
	Theme       string `toml:"theme"` // "" for the one that fits the terminal
	Mouse       bool   `toml:"mouse"`
	Follow      bool   `toml:"follow"`       // open messages as they arrive
	Autocopy    bool   `toml:"autocopy"`     // copy new codes as they arrive
	DownloadDir string `toml:"download_dir"` // where messages and attachments are saved; "" for the usual directory
}

// Browser is the table [browser].
type Browser struct {
	Command string `toml:"command"` // renders messages; "" for the browser that is installed
	Timeout string `toml:"timeout"` // a duration that it may take; "" for the usual one
}

// Limit is the timeout, 0 for the usual one.
func (b Browser) Limit() time.Duration {
	limit, _ := api.ParseDuration(b.Timeout) // it was checked
	return limit
}

// Checks is the table [checks].
type Checks struct {
	Ignore  []string `toml:"ignore"`  // IDs of findings that are not shown
	Clients []string `toml:"clients"` // mail clients or families of them; nil for the usual ones
}

// Command is a shell command that a key runs.
type Command struct{ Key, Line string }

// Problem is something wrong in a configuration file.
type Problem struct {
	File    string // its path
	Line    int    // from 1; 0 when it concerns the whole file
	Setting string // the dotted name of the setting, such as ui.mouse, or of its table; "" outside of all
	Text    string // what is wrong and what is wanted, on one line
}

// String is the problem as people read it: "config.toml:3: mouse takes true or false".
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", filepath.Base(p.File), p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", filepath.Base(p.File), p.Line, p.Text)
}

// UIOnly reports whether only the terminal application uses what the problem is about.
func (p Problem) UIOnly() bool {
	table, _, _ := strings.Cut(p.Setting, ".")
	return slices.Contains([]string{"ui", "keys", "commands"}, table)
}

// ProblemSummary summarises the problems on one line: the first, and how many more; ""
// without any.
func (c Config) ProblemSummary(more ...string) string {
	var all []string
	for _, p := range c.Problems {
		all = append(all, p.String())
	}
	all = append(all, more...)
	switch n := len(all) - 1; {
	case n < 0:
		return ""
	case n > 0:
		return fmt.Sprintf("%s (and %d more: see mayfly doctor)", all[0], n)
	}
	return all[0]
}

// Default is the configuration of a user without a file.
func Default() Config {
	return Config{Profiles: map[string]Profile{}, UI: UI{Mouse: true}, Keys: map[string][]string{}}
}

// maxFile is how large the file may be, in bytes.
const maxFile = 1 << 20

// Read reads the file at path; where there is none, the configuration is the default. usualKeys are
// the actions of the application with their usual keys: an action may share a key with another only
// where it usually does. Without any, the table [keys] is not looked at.
func Read(path string, usualKeys map[string][]string) Config {
	data, _, err := files.Read(path, maxFile)
	switch {
	case err == nil:
		return Parse(path, data, usualKeys)
	case absent(path, err):
		return Default()
	}
	var failed *fs.PathError // its text would repeat the path
	if errors.As(err, &failed) {
		err = failed.Err
	}
	c := Default()
	c.Problems = []Problem{{File: path, Text: fmt.Sprintf("cannot be read: %v", err)}}
	return c
}

// absent reports whether err, from reading path, says that there is no file, or that a directory on
// the way to it, such as another user's home, is closed.
func absent(path string, err error) bool {
	if errors.Is(err, fs.ErrPermission) {
		_, err = os.Stat(path)
		return err != nil
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Parse reads the content of the file at path, as [Read] does.
func Parse(path string, data []byte, usualKeys map[string][]string) Config {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as some editors begin a file
	r := &reader{path: path, lines: map[string]int{}}
	r.document.Profiles, r.document.UI = Default().Profiles, Default().UI
	r.read(data)
	return r.config(usualKeys)
}

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
	text, _, err := files.Read(path, maxFile)
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
		return fmt.Errorf("profile %q with the address %s cannot be added to %s: `mayfly doctor` shows what is wrong in the file", name, baseURL, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("creating the directory of %s: %w", path, err)
	}
	if err := files.Write(path, text); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
