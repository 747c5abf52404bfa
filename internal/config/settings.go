package config

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/api"
	"mayfly/assets"
	"mayfly/internal/near"
	"mayfly/internal/sockets"
	"mayfly/render/check"
	"mayfly/render/client"
)

// setting describes a setting of config.toml for those who got it wrong.
type setting struct {
	name  string // dotted; * stands for a name that the user chooses
	takes string
}

// settings are all settings there are. To add one, add a field to [Config] and a row here.
func settings() []setting {
	return []setting{
		{"profile", `the name of a profile in quotes, such as "work"`},
		{"profiles.*.base_url", `an address in quotes, such as "https://api.example"`},
		{"profiles.*.insecure", "true or false"},
		{"local.smtp", `a loopback address in quotes, such as "127.0.0.1:2525"`},
		{"local.http", `a loopback address in quotes, such as "127.0.0.1:8425"`},
		{"local.keep", "true or false"},
		{"local.tls", "true or false"},
		{"relay.host", `the address of a mail server in quotes, such as "mail.example.com:587"`},
		{"relay.tls", `one of "` + strings.Join(relayTLS, `", "`) + `"`},
		{"relay.user", "a name in quotes"},
		{"relay.password_file", `a file in quotes, such as "~/relay-password"`},
		{"relay.from", `an address in quotes, such as "mayfly@example.com"`},
		{"relay.allow", `a list of addresses in quotes, such as ["qa@example.com", "*@example.org"]`},
		{"ui.theme", `one of "` + strings.Join(assets.ThemeNames(), `", "`) + `"`},
		{"ui.mouse", "true or false"},
		{"ui.follow", "true or false"},
		{"ui.autocopy", "true or false"},
		{"ui.download_dir", `a directory in quotes, such as "~/mail"`},
		{"browser.command", `a program in quotes, such as "chromium"`},
		{"browser.timeout", `a duration in quotes, such as "1m"`},
		{"checks.clients", `a list of mail clients in quotes, such as ["outlook", "gmail-ios"]`},
		{"checks.ignore", `a list of the IDs of checks in quotes, such as ["link-private"]`},
		{"keys.*", `a key in quotes, such as "c", "ctrl+y" or "f2", or a list of keys`},
		{"commands.*", `a shell command in quotes, such as "wc -l"`},
	}
}

var relayTLS = []string{"starttls", "tls", "none"}

// matches reports whether key is the setting, or, when it is shorter, a table on the way to it.
func (s setting) matches(key []string) bool {
	pattern := strings.Split(s.name, ".")
	return len(key) <= len(pattern) &&
		slices.EqualFunc(pattern[:len(key)], key, func(part, name string) bool { return part == "*" || part == name })
}

// find returns the setting of this name.
func find(key []string) (setting, bool) {
	for _, s := range settings() {
		if s.matches(key) && strings.Count(s.name, ".") == len(key)-1 {
			return s, true
		}
	}
	return setting{}, false
}

// within are the names that a table has, tables in brackets.
func within(table []string) []string {
	var names []string
	for _, s := range settings() {
		rest := strings.Split(s.name, ".")
		if !s.matches(table) || len(rest) == len(table) {
			continue
		}
		name := rest[len(table)]
		if len(rest) > len(table)+1 {
			name = "[" + name + "]"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// config is what the document says, without values that are invalid. These are reported. usualKeys are as for [Read].
func (r *reader) config(usualKeys map[string][]string) Config {
	d := &r.document
	for name, p := range d.Profiles {
		r.check(&p.BaseURL, isAddress, "profiles", name, "base_url")
		d.Profiles[name] = p
	}
	r.check(&d.Local.SMTP, sockets.IsLoopbackAddress, "local", "smtp")
	r.check(&d.Local.HTTP, sockets.IsLoopbackAddress, "local", "http")
	r.check(&d.Relay.TLS, oneOf(relayTLS), "relay", "tls")
	r.check(&d.UI.Theme, oneOf(assets.ThemeNames()), "ui", "theme")
	r.check(&d.Browser.Timeout, func(s string) bool { d, err := api.ParseDuration(s); return err == nil && d > 0 }, "browser", "timeout")
	d.Checks.Ignore = r.known(d.Checks.Ignore, "check", check.IDs, "checks", "ignore")
	d.Checks.Clients = r.known(d.Checks.Clients, "mail client", client.Names, "checks", "clients")
	c := Config{Profile: d.Profile, Profiles: d.Profiles, Local: d.Local, Relay: d.Relay, UI: d.UI, Browser: d.Browser, Checks: d.Checks, Keys: map[string][]string{}}
	if usualKeys != nil {
		for before, now := range renamed {
			if keys, ok := d.Keys[before]; ok && d.Keys[now] == nil {
				delete(d.Keys, before)
				d.Keys[now], r.lines[dotted([]string{"keys", now})] = keys, r.lineOf("keys", before)
			}
		}
		for action, keys := range d.Keys {
			r.bind(c.Keys, usualKeys, action, keys)
		}
	}
	for key, line := range d.Commands {
		line = strings.TrimSpace(line)
		r.line = r.lineOf("commands", key)
		switch {
		case line == "":
			r.takes([]string{"commands", key})
		case !isKey(key):
			r.report([]string{"commands", key}, "%s", unknownKeyText([]string{strconv.Quote(key)}))
		default:
			c.Commands = append(c.Commands, Command{key, line})
		}
	}
	slices.SortFunc(c.Commands, func(a, b Command) int { return r.lineOf("commands", a.Key) - r.lineOf("commands", b.Key) })
	r.dropClashes(&c, usualKeys)
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, cmp.Compare(a.Text, b.Text)) })
	c.Problems = r.problems
	return c
}

// check empties a value that the file gives but must not have.
func (r *reader) check(value *string, valid func(string) bool, key ...string) {
	if r.line = r.lineOf(key...); r.line > 0 && !valid(*value) {
		r.takes(key)
		*value = ""
	}
}

// known returns the names of a list that exist, and reports the others.
func (r *reader) known(list []string, what string, names func() []string, key ...string) []string {
	r.line = r.lineOf(key...)
	return slices.DeleteFunc(list, func(name string) bool {
		unknown := !slices.Contains(names(), name)
		if unknown {
			r.report(key, "no %s is called %q%s", what, name, didYouMean(name, names()))
		}
		return unknown
	})
}

// lineOf is the line of a key, 0 when the file does not give it.
func (r *reader) lineOf(key ...string) int { return r.lines[dotted(key)] }

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func oneOf(names []string) func(string) bool {
	return func(s string) bool { return s == "" || slices.Contains(names, s) }
}

// renamed are the actions that had another name.
var renamed = map[string]string{
	"adopt-inbox": "add-inbox", "dark": "web-dark", "empty-inbox": "delete-messages", "end-search": "clear-search", "hidden": "hidden-text",
	"labels": "link-hints", "next-hit": "next-match", "phone": "web-phone", "previous-hit": "previous-match", "read-on": "next-page",
	"show-place": "show-source", "unread-next": "next-unread",
}

// bind gives an action the keys that exist.
func (r *reader) bind(keys, usualKeys map[string][]string, action string, chosen []string) {
	r.line = r.lineOf("keys", action)
	if _, known := usualKeys[action]; !known {
		r.report([]string{"keys", action}, "no action is called %q%s", action, didYouMean(action, slices.Sorted(maps.Keys(usualKeys))))
		return
	}
	var wrong []string
	for _, key := range chosen {
		if !isKey(key) {
			wrong = append(wrong, strconv.Quote(key))
		}
	}
	if len(wrong) > 0 {
		r.report([]string{"keys", action}, "%s: %s", action, unknownKeyText(wrong))
	}
	if len(chosen) == 0 || len(wrong) < len(chosen) {
		keys[action] = slices.DeleteFunc(chosen, func(key string) bool { return !isKey(key) })
	}
}

// didYouMean asks whether a name that does not exist means another; "" if none is like it.
func didYouMean(name string, names []string) string {
	if found := near.Names(name, names); len(found) > 0 {
		return "; did you mean " + strings.Join(found, " or ") + "?"
	}
	return ""
}

// unknownKeyText says that there are no such keys, given in quotes.
func unknownKeyText(names []string) string {
	return "unknown key " + strings.Join(names, ", ") + `; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`
}

// isKey reports whether key is written as the terminal application names the keys that terminals send: one
// character or a name, after modifiers in this order. A capital has none: it is "C", or "ctrl+shift+c".
func isKey(key string) bool {
	name := key
	for _, modifier := range []string{"ctrl+", "alt+", "shift+"} {
		name = strings.TrimPrefix(name, modifier)
	}
	char, length := utf8.DecodeRuneInString(name)
	isCharacter := name != "" && name != " " && length == len(name) && (name == key || key != "shift+"+name && !unicode.IsUpper(char))
	return isCharacter || slices.Contains(strings.Fields(keyNames), name)
}

const keyNames = "enter tab backspace esc space up down left right home end pgup pgdown insert delete begin find select menu " +
	"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16 f17 f18 f19 f20"

// dropClashes reports keys that mean two actions, unless these usually share a key (in different panes), and takes them from the
// action or the command that the file gave them.
func (r *reader) dropClashes(c *Config, usualKeys map[string][]string) {
	keys := maps.Clone(usualKeys)
	maps.Copy(keys, c.Keys)
	shared := func(a, b string) bool {
		return slices.ContainsFunc(usualKeys[a], func(key string) bool { return slices.Contains(usualKeys[b], key) })
	}
	owner := func(key, but string) string {
		for _, action := range slices.Sorted(maps.Keys(keys)) {
			if action != but && slices.Contains(keys[action], key) && !shared(action, but) {
				return action
			}
		}
		return ""
	}
	line := func(action string) int { return r.lineOf("keys", action) }
	for _, action := range slices.SortedFunc(maps.Keys(c.Keys), func(a, b string) int { return cmp.Or(line(a)-line(b), cmp.Compare(a, b)) }) {
		r.line = line(action)
		keys[action] = slices.DeleteFunc(keys[action], func(key string) bool {
			other := owner(key, action)
			if other != "" {
				r.report([]string{"keys", action}, "%q is already the key of %s; %s goes without it", key, other, action)
			}
			return other != ""
		})
		c.Keys[action] = keys[action]
	}
	c.Commands = slices.DeleteFunc(c.Commands, func(command Command) bool {
		other := owner(command.Key, "")
		if other != "" {
			r.line = r.lineOf("commands", command.Key)
			r.report([]string{"commands", command.Key}, "%q is already the key of %s; the command goes without it unless [keys] gives %[2]s another", command.Key, other)
		}
		return other != ""
	})
}
