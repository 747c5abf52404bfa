package config

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"mayfly/assets"
)

// setting is something to set in config.toml.
type setting struct {
	name string // dotted; * stands for a name that the user chooses
	want string // what it takes, after "takes"
	// set puts value into the configuration, for the name that * stands for. Its error is
	// [errUnwanted] when value is not what the setting takes, else says itself what is wrong.
	set func(c *Config, name string, value any) error
}

var errUnwanted = errors.New("not what the setting takes")

// settings are all settings there are. To add one, add a field to [Config] and a row here.
func settings(usualKeys map[string][]string) []setting {
	const (
		flag     = "true or false"
		loopback = `a loopback address in quotes, such as "127.0.0.1:`
	)
	themes := assets.ThemeNames()
	return []setting{
		{"profile", `the name of a profile in quotes, such as "work"`,
			func(c *Config, _ string, v any) error { return put(&c.Profile, v) }},
		{"profiles.*.base_url", `an address in quotes, such as "https://api.example"`,
			ofProfile(func(p *Profile, v any) error { return put(&p.BaseURL, v, isAddress) })},
		{"profiles.*.insecure", flag,
			ofProfile(func(p *Profile, v any) error { return put(&p.Insecure, v) })},
		{"local.smtp", loopback + `2525"`,
			func(c *Config, _ string, v any) error { return put(&c.Local.SMTP, v, isLoopback) }},
		{"local.http", loopback + `8425"`,
			func(c *Config, _ string, v any) error { return put(&c.Local.HTTP, v, isLoopback) }},
		{"local.keep", flag,
			func(c *Config, _ string, v any) error { return put(&c.Local.Keep, v) }},
		{"relay.host", `the address of a mail server in quotes, such as "mail.example.com:587"`,
			func(c *Config, _ string, v any) error { return put(&c.Relay.Host, v) }},
		{"relay.tls", `one of "starttls", "tls", "none"`,
			func(c *Config, _ string, v any) error {
				return put(&c.Relay.TLS, v, oneOf([]string{"starttls", "tls", "none"}))
			}},
		{"relay.user", `a name in quotes`,
			func(c *Config, _ string, v any) error { return put(&c.Relay.User, v) }},
		{"relay.password_file", `a file in quotes, such as "~/relay-password"`,
			func(c *Config, _ string, v any) error { return put(&c.Relay.PasswordFile, v) }},
		{"relay.from", `an address in quotes, such as "mayfly@example.com"`,
			func(c *Config, _ string, v any) error { return put(&c.Relay.From, v) }},
		{"relay.allow", `a list of addresses in quotes, such as ["qa@example.com", "*@example.org"]`,
			func(c *Config, _ string, v any) error { return putList(&c.Relay.Allow, v) }},
		{"ui.theme", `one of "` + strings.Join(themes, `", "`) + `"`,
			func(c *Config, _ string, v any) error { return put(&c.UI.Theme, v, oneOf(themes)) }},
		{"ui.mouse", flag,
			func(c *Config, _ string, v any) error { return put(&c.UI.Mouse, v) }},
		{"ui.follow", flag,
			func(c *Config, _ string, v any) error { return put(&c.UI.Follow, v) }},
		{"ui.autocopy", flag,
			func(c *Config, _ string, v any) error { return put(&c.UI.Autocopy, v) }},
		{"ui.download_dir", `a folder in quotes, such as "~/mail"`,
			func(c *Config, _ string, v any) error { return put(&c.UI.DownloadDir, v) }},
		{"keys.*", `a key in quotes, such as "c", "ctrl+y" or "f2", or a list of keys`,
			func(c *Config, action string, v any) error { return bind(c.Keys, usualKeys, action, v) }},
		{"commands.*", `a shell command in quotes, such as "wc -l"`, addCommand},
	}
}

// put sets to to v, unless v is of another type or a check says no.
func put[T any](to *T, v any, checks ...func(T) bool) error {
	value, ok := v.(T)
	for _, check := range checks {
		ok = ok && check(value)
	}
	if !ok {
		return errUnwanted
	}
	*to = value
	return nil
}

// putList sets to to v, unless v is anything but a list of texts.
func putList(to *[]string, v any) error {
	list, ok := v.([]any)
	texts := make([]string, len(list))
	for i := range list {
		ok = ok && put(&texts[i], list[i]) == nil
	}
	if !ok {
		return errUnwanted
	}
	*to = texts
	return nil
}

// ofProfile sets something of the profile called name.
func ofProfile(set func(p *Profile, v any) error) func(*Config, string, any) error {
	return func(c *Config, name string, v any) error {
		p := c.Profiles[name]
		err := set(&p, v)
		c.Profiles[name] = p
		return err
	}
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// isLoopback reports whether s is an IP address of this machine's own and a port.
func isLoopback(s string) bool {
	a, err := netip.ParseAddrPort(s)
	return err == nil && a.Addr().IsLoopback()
}

func oneOf(names []string) func(string) bool {
	return func(s string) bool { return s == "" || slices.Contains(names, s) }
}

// matches reports whether path is the setting, or, when it is shorter, a table on the way to it.
func (s setting) matches(path []string) bool {
	pattern := strings.Split(s.name, ".")
	if len(path) > len(pattern) {
		return false
	}
	for i, name := range path {
		if pattern[i] != "*" && pattern[i] != name {
			return false
		}
	}
	return true
}

// find returns the setting at path, or whether path is a table of settings.
func find(all []setting, path []string) (found *setting, table bool) {
	for i, s := range all {
		if s.matches(path) {
			if strings.Count(s.name, ".") == len(path)-1 {
				return &all[i], false
			}
			table = true
		}
	}
	return nil, table
}

func isTable(all []setting, path []string) bool {
	_, table := find(all, path)
	return table
}

// within returns the names that the table at path has, tables in brackets.
func within(all []setting, path []string) []string {
	var names []string
	for _, s := range all {
		if s.matches(path) {
			rest := strings.Split(s.name, ".")[len(path):]
			name := rest[0]
			if len(rest) > 1 {
				name = "[" + name + "]"
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
