package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"mayfly/internal/fortest"
)

var usual = map[string][]string{
	"copy-code": {"c"}, "copy-address": {"y"}, "delete-inbox": {"d"}, "filter": {"/"}, "search": {"/"}, "down": {"j", "down"},
}

// problems are the problems as people read them.
func problems(c Config) []string {
	var texts []string
	for _, p := range c.Problems {
		texts = append(texts, p.String())
	}
	return texts
}

func TestProblems(t *testing.T) {
	const (
		keyWanted   = `takes a key in quotes, such as "c", "ctrl+y" or "f2", or a list of keys`
		themeWanted = `theme takes one of "dusk", "mayfly", "terminal"`
	)
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"nothing", "", nil},
		{"every setting", everySetting, nil},
		{"dotted and inline", "ui.theme = 'dusk'\nui.mouse = false\nprofiles = {a = {base_url = 'https://a.example'}}\nkeys = {down = ['J']}\n", nil},
		{"wrong in inline tables", "local = { smtp = '8.8.8.8:25', keep = 3, kept = 1 }\nprofiles = { a = { base_url = 'a.example' }, b = 5 }\nui = { theme = {}, mouse = 'x' }\n" +
			"relay = { tls = 'ssl', tls = 'tls' }\nkeys = { down = 'ctlr+y', dwn = 'J' }\nlocal = { keep = true }\n", []string{
			`config.toml:1: "kept" is not a setting of [local]; there are smtp, http, keep, tls`,
			"config.toml:1: keep takes true or false",
			`config.toml:1: smtp takes a loopback address in quotes, such as "127.0.0.1:2525"`,
			`config.toml:2: base_url takes an address in quotes, such as "https://api.example"`,
			"config.toml:2: profiles.b is a table, which begins with [profiles.b]",
			"config.toml:3: mouse takes true or false",
			"config.toml:3: " + themeWanted,
			"config.toml:4: relay.tls is set twice, first on line 4",
			`config.toml:4: tls takes one of "starttls", "tls", "none"`,
			`config.toml:5: down: unknown key "ctlr+y"; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`,
			`config.toml:5: no action is called "dwn"; did you mean down?`,
			"config.toml:6: local is set twice, first on line 1",
		}},
		{"without quotes", "profile = work\n[ui]\ntheme = dusk\nmouse = yes\n[keys]\ndown = ctrl+n\n", []string{
			`config.toml:1: profile takes the name of a profile in quotes, such as "work"`,
			"config.toml:3: " + themeWanted,
			"config.toml:4: mouse takes true or false",
			"config.toml:6: down " + keyWanted,
		}},
		{"unknown settings", "colour = 1\nprofil = 'a'\nmouse = true\n[ui]\nprofile = 'a'\ncolour = {a = 1, b = 2}\n[profiles.a]\nbase_rul = ''\n", []string{
			`config.toml:1: "colour" is not a setting; there are profile, [profiles], [local], [relay], [ui], [browser], [checks], [keys], [commands]`,
			`config.toml:2: "profil" is not a setting; there are profile, [profiles], [local], [relay], [ui], [browser], [checks], [keys], [commands]`,
			`config.toml:3: "mouse" is not a setting; it belongs under [ui]`,
			`config.toml:5: "profile" is not a setting of [ui]; it belongs above the first table`,
			`config.toml:6: "colour" is not a setting of [ui]; there are theme, mouse, follow, autocopy, download_dir`,
			`config.toml:8: "base_rul" is not a setting of [profiles.a]; there are base_url, insecure`,
		}},
		{"unknown tables", "[uii]\nmouse = true\n[ui.colours]\na = 1\n[\"\\u001b[m\"]\n", []string{
			`config.toml:1: "uii" is not a setting; there are profile, [profiles], [local], [relay], [ui], [browser], [checks], [keys], [commands]`,
			`config.toml:3: "colours" is not a setting of [ui]; there are theme, mouse, follow, autocopy, download_dir`,
			`config.toml:5: "\x1b[m" is not a setting; there are profile, [profiles], [local], [relay], [ui], [browser], [checks], [keys], [commands]`,
		}},
		{"twice", "[ui]\nmouse = false\nmouse = true\n[keys]\ndown = 'J'\n[ui]\nmouse = 'x'\ntheme = 'dusk'\n[keys]\ndown = 'K'", []string{
			"config.toml:3: ui.mouse is set twice, first on line 2",
			"config.toml:6: [ui] is set twice, first on line 1",
			"config.toml:7: ui.mouse is set twice, first on line 2",
			"config.toml:9: [keys] is set twice, first on line 4",
			"config.toml:10: keys.down is set twice, first on line 5",
		}},
		{"not TOML", "\xef\xbb\xbfx\nbla bla\n[ui\nmouse = 'x'\n[ui]\ntheme = 'a\n[keys]\ndown = [\n'J',\nfilter = 'Q'\n", []string{
			"config.toml:1: this is not TOML: expected '=' after key",
			"config.toml:2: this is not TOML: expected '=' after key",
			"config.toml:3: a table begins with its name in brackets, such as [ui], on a line of its own",
			"config.toml:6: " + themeWanted,
			"config.toml:8: down " + keyWanted,
		}},
		{"not keys", "[keys]\ncopy-code = 5\ndown = ['j', 1]\nfilter = ['ctlr+y', 'C', '']\nsearch = 'control'\n", []string{
			"config.toml:2: copy-code " + keyWanted,
			"config.toml:3: down " + keyWanted,
			`config.toml:4: filter: unknown key "ctlr+y", ""; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`,
			`config.toml:5: search: unknown key "control"; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`,
		}},
		{"mail clients", "[checks]\nclients = ['gmail', 'outlook-window', 'pine']\n", []string{
			`config.toml:2: no mail client is called "outlook-window"; did you mean outlook-windows?`,
			`config.toml:2: no mail client is called "pine"`,
		}},
		{"of the checks", "[checks]\nignore = [\n'link-private', 'link-htp', 'xyzzy']\n[checks.a]\n", []string{
			`config.toml:2: no check is called "link-htp"; did you mean link-http?`,
			`config.toml:2: no check is called "xyzzy"`,
			`config.toml:4: "a" is not a setting of [checks]; there are clients, ignore`,
		}},
		{"clash", "[keys]\ndown = 'n'\ncopy-code = 'd'\nfilter = 'n'\n", []string{
			`config.toml:2: "n" is already the key of filter; down goes without it`,
			`config.toml:3: "d" is already the key of delete-inbox; copy-code goes without it`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := problems(Parse("/home/u/config.toml", []byte(c.file), usual))
			for i, text := range got {
				if i >= len(c.want) || text != c.want[i] {
					t.Errorf("unexpected: %s", text)
				}
			}
			for i, text := range c.want {
				if i >= len(got) || text != got[i] {
					t.Errorf("missing:    %s", text)
				}
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       map[string][]string
	}{
		{"several", "down = ['j', 'ctrl+n', 'alt+shift+f12', 'é', '+', 'ctrl++']", map[string][]string{"down": {"j", "ctrl+n", "alt+shift+f12", "é", "+", "ctrl++"}}},
		{"none", "delete-inbox = []", map[string][]string{"delete-inbox": {}}},
		{"swapped", "copy-code = 'y'\ncopy-address = 'c'", map[string][]string{"copy-code": {"y"}, "copy-address": {"c"}}},
		{"moved to one that is free then", "copy-code = 'C'\ncopy-address = 'c'", map[string][]string{"copy-code": {"C"}, "copy-address": {"c"}}},
		{"shared where it usually is", "search = 'ctrl+s'\nfilter = 'ctrl+s'", map[string][]string{"search": {"ctrl+s"}, "filter": {"ctrl+s"}}},
		{"all clash", "copy-code = 'd'", map[string][]string{"copy-code": {}}},
		{"some wrong", "copy-code = ['ctlr+x', 'ctrl+shift+meta+x', 'super+x', 'shift+ctrl+x', 'shift+c', 'ctrl+X', 'C', 'ctrl+shift+x', 'shift+f3']", map[string][]string{"copy-code": {"C", "ctrl+shift+x", "shift+f3"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Parse("config.toml", []byte("[keys]\n"+c.file+"\n"), usual); !reflect.DeepEqual(got.Keys, c.want) {
				t.Errorf("%q, want %q; problems %q", got.Keys, c.want, problems(got))
			}
		})
	}
	if got := Parse("config.toml", []byte("[keys]\nanything = 'd'\n"), nil); len(got.Keys)+len(got.Problems) > 0 {
		t.Errorf("without actions: %q, %q", got.Keys, problems(got))
	}
}

// What an inline table has is used, even beside a mistake, and so is a table that has nothing.
func TestInlineTables(t *testing.T) {
	got := Parse("config.toml", []byte("profiles = { a = {}, b = { base_url = 'https://b.example', insecure = 1 } }\n"+
		"local = { http = '127.0.0.1:1', smtp = '8.8.8.8:25', keep = 3 }\nui = { mouse = false }\n"), nil)
	want := Default()
	want.Profiles = map[string]Profile{"a": {}, "b": {BaseURL: "https://b.example"}}
	want.Local.HTTP, want.UI.Mouse, want.Keys = "127.0.0.1:1", false, map[string][]string{}
	if got.Problems = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// everySetting has each setting, a line each.
const everySetting = `profile = "work"
[profiles.work]
base_url = "https://x.example"
insecure = true
[profiles."my own"]
base_url = "https://y.example" # mine
[local]
smtp = "127.0.0.1:2600"
http = "[::1]:8600"
keep = true
[relay]
host = "mail.example.com:587"
tls = "tls"
user = "mayfly"
password_file = "~/relay-password"
from = "mayfly@example.com"
allow = ["qa@example.com", "*@example.org"]
[ui]
theme = "dusk"
mouse = false
follow = true
autocopy = true
download_dir = "~/mail"
[browser]
command = "chromium"
timeout = "1m"
[checks]
ignore = ["link-private", "image-alt"]
clients = ["outlook-windows", "gmail"]
[keys]
copy-code = ["C", "ctrl+y"]
delete-inbox = []
`

// set is the configuration that everySetting is.
var set = Config{
	Profile:  "work",
	Profiles: map[string]Profile{"work": {"https://x.example", true}, "my own": {BaseURL: "https://y.example"}},
	Local:    Local{SMTP: "127.0.0.1:2600", HTTP: "[::1]:8600", Keep: true},
	Relay: Relay{Host: "mail.example.com:587", TLS: "tls", User: "mayfly", PasswordFile: "~/relay-password", From: "mayfly@example.com",
		Allow: []string{"qa@example.com", "*@example.org"}},
	UI:      UI{Theme: "dusk", Mouse: false, Follow: true, Autocopy: true, DownloadDir: "~/mail"},
	Browser: Browser{Command: "chromium", Timeout: "1m"},
	Checks:  Checks{Ignore: []string{"link-private", "image-alt"}, Clients: []string{"outlook-windows", "gmail"}},
	Keys:    map[string][]string{"copy-code": {"C", "ctrl+y"}, "delete-inbox": {}},
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []Command
		problems   []string
	}{
		{"in the order of the file", "[commands]\n\"ctrl+t\" = 'xdotool type \"$MAYFLY_CODE\"'\nM = ' !less '\n",
			[]Command{{"ctrl+t", `xdotool type "$MAYFLY_CODE"`}, {"M", "!less"}}, nil},
		{"wrong ones", "[commands]\nM = 5\nW = ' '\n\"ctrl+\" = 'a'\nwhy = 'b'\nZ = 'c'\n", []Command{{"Z", "c"}}, []string{
			`config.toml:2: M takes a shell command in quotes, such as "wc -l"`,
			`config.toml:3: W takes a shell command in quotes, such as "wc -l"`,
			`config.toml:4: unknown key "ctrl+"; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`,
			`config.toml:5: unknown key "why"; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order`,
		}},
		{"the key of an action", "[commands]\nj = 'a'\nZ = 'b'\n", []Command{{"Z", "b"}}, []string{
			`config.toml:2: "j" is already the key of down; the command goes without it unless [keys] gives down another`}},
		{"a key that was freed", "[commands]\nj = 'a'\n[keys]\ndown = 'J'\n", []Command{{"j", "a"}}, nil},
		{"a key that was taken", "[commands]\nJ = 'a'\n[keys]\ndown = 'J'\n", nil, []string{
			`config.toml:2: "J" is already the key of down; the command goes without it unless [keys] gives down another`}},
	} {
		got := Parse("config.toml", []byte(c.file), usual)
		if !slices.Equal(got.Commands, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got.Commands, c.want)
		}
		if problems := problems(got); !slices.Equal(problems, c.problems) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(problems, "\n"), strings.Join(c.problems, "\n"))
		}
	}
}

// Wherever a line is wrong, it is reported, and every valid setting is used.
func TestValidSettingsBesideAnInvalidOneAreUsed(t *testing.T) {
	lines := strings.SplitAfter(everySetting, "\n")
	for _, wrong := range []string{
		"colour = 1", "colour = dusk", "ui = 5", "bla bla", "= 3", "]", "\x00", "\xff", "mouse = 5", "mouse = yes",
		"copy-code = 3", "copy-code = ctrl+y", "down = 'ctlr+y'", "x = [", "x = [1,", "x = '", "x = \"\"\"", "x = {a = 1",
		"profile = 1979-05-27", "insecure = 1e400", "x.y.z = 1", "keys.x = 'y'",
	} {
		for at := range len(lines) {
			file := strings.Join(slices.Insert(slices.Clone(lines), at, wrong+"\n"), "")
			got := Parse("config.toml", []byte(file), usual)
			if !slices.ContainsFunc(got.Problems, func(p Problem) bool { return p.Line == at+1 }) {
				t.Errorf("%q on line %d is not reported: %q", wrong, at+1, problems(got))
			}
			if got.Problems = nil; !reflect.DeepEqual(got, set) {
				t.Errorf("%q on line %d: %+v", wrong, at+1, got)
			}
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	fortest.Must(t, os.WriteFile(path, []byte(everySetting), 0o600))
	if got := Read(path, usual); !reflect.DeepEqual(got, set) {
		t.Errorf("read %+v", got)
	}
	for _, s := range settings() {
		if last := s.name[strings.LastIndex(s.name, ".")+1:]; last != "*" && !strings.Contains(everySetting, last+" = ") {
			t.Errorf("everySetting does not have %s", s.name)
		}
	}
	for _, absent := range []string{"", filepath.Join(dir, "none.toml"), filepath.Join(path, "config.toml")} {
		if got := Read(absent, usual); !reflect.DeepEqual(got, Default()) {
			t.Errorf("%q: %+v", absent, got)
		}
	}
	got := Read(dir, usual)
	if len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0].Text, "cannot be read: ") || strings.Contains(got.Problems[0].Text, dir) || !got.UI.Mouse {
		t.Errorf("a folder: %+v", got)
	}
}

func TestAddProfile(t *testing.T) {
	const before = "# mine\nprofile = \"a\"\n\n[profiles]\n[profiles.a]\nbase_url = \"https://a.example\" # the first"
	path := filepath.Join(t.TempDir(), "mayfly", "config.toml")
	add := func(name, baseURL string) {
		t.Helper()
		if err := AddProfile(path, name, baseURL); err != nil {
			t.Error(err)
		}
	}
	add("first", "https://first.example")
	if got := Read(path, nil).Profiles["first"]; got.BaseURL != "https://first.example" {
		t.Errorf("a new file has %+v", got)
	}
	fortest.Must(t, os.WriteFile(path, []byte(before), 0o600))
	for range 2 {
		add("b c\"\x1b", "https://b.example/\"x\"")
	}
	if AddProfile(path, "a", "https://other.example") == nil {
		t.Error("another address was taken for a profile that is there")
	}
	text, err := os.ReadFile(path)
	fortest.Must(t, err)
	if !strings.HasPrefix(string(text), before+"\n") || strings.Count(string(text), "b.example") != 1 {
		t.Errorf("the file is now %q", text)
	}
	got := Read(path, nil)
	if got.Profile != "a" || got.Profiles["a"].BaseURL != "https://a.example" || got.Profiles["b c\"\x1b"].BaseURL != "https://b.example/\"x\"" || got.Problems != nil {
		t.Errorf("%+v", got)
	}
	if AddProfile(path, "d", "nowhere") == nil {
		t.Error("an address that the file may not have was written")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everySetting))
	f.Add([]byte("[keys]\ncopy-code = [\"a\", 1]\n[ui]\ntheme = {x = 1}\n"))
	f.Add([]byte("[ui\nx = [\n\"\"\"\n\xff = '\n[[keys]]\nkeys.down.x = 1979-05-27\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Parse("config.toml", data, usual)
		for i, p := range c.Problems {
			text := p.String()
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("not a line of text: %q", text)
			}
			if p.Line < 1 || p.Line > strings.Count(string(data), "\n")+1 || i > 0 && p.Line < c.Problems[i-1].Line {
				t.Errorf("line %d after %q", p.Line, problems(c)[:i])
			}
		}
		for action, keys := range c.Keys {
			if _, known := usual[action]; !known || slices.ContainsFunc(keys, func(k string) bool { return !isKey(k) }) {
				t.Errorf("%s has the keys %q", action, keys)
			}
		}
	})
}
