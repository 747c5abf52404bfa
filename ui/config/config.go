// Package config reads the user's config.toml as far as the terminal application goes: the tables
// [ui] and [keys]. What is wrong in it is told with line numbers, and the rest is used.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Config is what the user chose.
type Config struct {
	Theme       string // "" for the usual one
	Mouse       bool
	DownloadDir string // where messages and attachments are saved; "" for the usual folder
	// Keys are the keys of actions, by the name of the action.
	Keys map[string][]string
	// Complaints are what is wrong in the file, a line each.
	Complaints []string
}

// Default is the configuration without a file.
func Default() Config { return Config{Mouse: true} }

// Read reads the file at path; without one it returns the default.
func Read(path string, actionKeys map[string][]string) Config {
	data, err := os.ReadFile(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Default()
	}
	if err != nil {
		c := Default()
		c.Complaints = []string{fmt.Sprintf("%s cannot be read: %v", filepath.Base(path), err)}
		return c
	}
	return Parse(filepath.Base(path), data, actionKeys)
}

// Parse reads the content of a file called name. actionKeys are the actions there are with their
// usual keys; an action may share a key with another one only where it usually does.
func Parse(name string, data []byte, actionKeys map[string][]string) Config {
	c := Default()
	var file struct {
		UI struct {
			Theme       *string `toml:"theme"`
			Mouse       *bool   `toml:"mouse"`
			DownloadDir *string `toml:"download_dir"`
		} `toml:"ui"`
		Keys map[string]any `toml:"keys"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			row, _ := bad.Position()
			c.complain(name, row, strings.TrimPrefix(bad.Error(), "toml: "))
		} else {
			c.complain(name, 0, err.Error())
		}
		return c
	}
	set(&c.Theme, file.UI.Theme)
	set(&c.Mouse, file.UI.Mouse)
	set(&c.DownloadDir, file.UI.DownloadDir)
	lines := keyLines(data)
	c.unknownSettings(name, lines)
	c.bind(name, file.Keys, actionKeys, lines)
	return c
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

var settings = []string{"theme", "mouse", "download_dir"}

func (c *Config) unknownSettings(name string, lines map[string]int) {
	for _, key := range byLine(lines) {
		if s, ok := strings.CutPrefix(key, "ui."); ok && !slices.Contains(settings, s) {
			c.complain(name, lines[key], fmt.Sprintf("%q is not a setting of [ui]; there are %s", s, strings.Join(settings, ", ")))
		}
	}
}

func (c *Config) complain(name string, line int, text string) {
	if line > 0 {
		text = fmt.Sprintf("%s:%d: %s", name, line, text)
	} else {
		text = name + ": " + text
	}
	c.Complaints = append(c.Complaints, text)
}

// keyLines tells on which line each dotted key of a document that is known to be valid stands.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		path := []string{}
		row := 0
		for it := e.Key(); it.Next(); {
			path = append(path, string(it.Node().Data))
			if row == 0 {
				row = p.Shape(it.Node().Raw).Start.Line
			}
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = path
		case unstable.KeyValue:
			lines[strings.Join(append(slices.Clone(table), path...), ".")] = row
		}
	}
	return lines
}

// byLine returns the keys in the order of their lines.
func byLine(lines map[string]int) []string {
	keys := make([]string, 0, len(lines))
	for k := range lines {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return lines[a] - lines[b] })
	return keys
}
