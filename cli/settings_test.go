package cli

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/api/apitest"
	"mayfly/internal/server"
	"mayfly/keys"
)

// configure writes config.toml for environ.
func configure(t *testing.T, environ []string, text string) string {
	t.Helper()
	path := (&app{env: Env{Environ: environ}}).configFile()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWhatIsWrongInTheConfigurationIsSaidOnce(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	configure(t, s.environ, "mouse = true\n[ui]\nmouse = yes\n[profiles.work]\nbase_url = 5\n[keys]\nxyzzy = 'x'\nquit = 'ctrl+shift+meta+x'\n?\n[ui]\n[commands]\nM = 5\n")
	want := `mayfly: config.toml:1: "mouse" is not a setting; it belongs under [ui]
mayfly: config.toml:5: base_url takes an address in quotes, such as "https://api.example"
`
	for _, args := range [][]string{{"new"}, {"ls", "--color", "always"}} {
		if r := run(t, s.environ, "", args...); r.status != 0 || r.stderr != want {
			t.Errorf("%s: status %d, %s", args, r.status, r.stderr)
		}
	}
	if r := run(t, s.environ, "", "__complete", "ls", "--profile", ""); strings.Contains(r.stdout+r.stderr, "config.toml:") || !strings.Contains(r.stdout, "work\n") {
		t.Errorf("completion: %+v", r)
	}
	r := run(t, s.environ, "", "doctor")
	const ofApplication = `mayfly: config.toml:3: mouse takes true or false
mayfly: config.toml:7: no action is called "xyzzy"
mayfly: config.toml:8: quit: unknown key "ctrl+shift+meta+x"; a key is written such as "c", "C" or "f2", after ctrl+, alt+, shift+ in this order
mayfly: config.toml:9: this is not TOML
mayfly: config.toml:10: [ui] is set twice, first on line 2
mayfly: config.toml:12: M takes a shell command in quotes, such as "wc -l"
`
	for line := range strings.Lines(want + ofApplication) {
		if part := "WRONG: " + strings.TrimSpace(strings.TrimPrefix(line, "mayfly: ")); r.status != statusError || strings.Count(r.stdout, part) != 1 || r.stderr != "" {
			t.Errorf("doctor: status %d, no %q in %s%s", r.status, part, r.stdout, r.stderr)
		}
	}
}

func TestACommandDoesNotGuessTheService(t *testing.T) {
	for text, part := range map[string]string{
		"profile = 5\n":    "mayfly: it is not clear which service to use; correct the profile in config.toml, or name one with --profile or --base-url\n",
		"profile = work\n": "mayfly: it is not clear which service to use; correct the profile in config.toml, or name one with --profile or --base-url\n",
		"profile = 'a'\n[profiles.a]\nbase_url = 5\n":                                             "has no base_url\n",
		"profile = \"nobody\"\n[profiles.\"red\\u001b[31m\"]\nbase_url = \"https://x.example\"\n": "it has red, local\n",
	} {
		environ := machine(t)
		configure(t, environ, text)
		r := run(t, environ, "", "ls")
		if r.status == 0 || !strings.HasSuffix(r.stderr, part) {
			t.Errorf("%q: status %d, %q", text, r.status, r.stderr)
		}
	}
}

func TestWhichServiceIsMeant(t *testing.T) {
	const conf = `
profile = "usual"
[profiles.usual]
base_url = "https://usual.example"
[profiles.other]
base_url = "http://other.example"
insecure = true
`
	for _, c := range []struct {
		name    string
		conf    string
		environ []string
		app     *app
		want    endpoint
	}{
		{"nothing", "", nil, &app{}, endpoint{profile: "local"}},
		{"config", conf, nil, &app{}, endpoint{"usual", "https://usual.example", false}},
		{"variable of the profile", conf, []string{"MAYFLY_PROFILE=other"}, &app{}, endpoint{"other", "http://other.example", true}},
		{"variable of the address", conf, []string{"MAYFLY_BASE_URL=https://x.example"}, &app{}, endpoint{"", "https://x.example", false}},
		{"both variables", conf, []string{"MAYFLY_BASE_URL=https://x.example", "MAYFLY_PROFILE=other"}, &app{}, endpoint{"other", "https://x.example", false}},
		{"flag of the profile", conf, []string{"MAYFLY_BASE_URL=https://x.example"}, &app{profile: "other"}, endpoint{"other", "http://other.example", true}},
		{"flag of the address", conf, []string{"MAYFLY_BASE_URL=https://x.example"}, &app{baseURL: "https://y.example"}, endpoint{"", "https://y.example", false}},
		{"local by name", conf, nil, &app{profile: "local"}, endpoint{profile: "local"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ := append(machine(t), c.environ...)
			if c.conf != "" {
				configure(t, environ, c.conf)
			}
			c.app.env = Env{Environ: environ}
			if got, err := c.app.endpoint(); err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// The key and the SMTP address of the environment go to one service, whatever names another.
func TestWhatTheEnvironmentIsFor(t *testing.T) {
	const conf = "[profiles.a]\nbase_url = 'https://a.example'\n[profiles.b]\nbase_url = 'https://b.example'\n"
	for _, c := range []struct {
		name, conf string
		environ    []string
		app        *app
		to         string
		want       bool
	}{
		{"the address", "", []string{"MAYFLY_BASE_URL=https://a.example"}, &app{}, "https://a.example/", true},
		{"the address, and a flag that says the same", "", []string{"MAYFLY_BASE_URL=https://a.example"}, &app{baseURL: "HTTPS://a.example:443/"}, "https://a.example:443", true},
		{"the address, and another in a flag", "", []string{"MAYFLY_BASE_URL=https://a.example"}, &app{baseURL: "https://b.example"}, "https://b.example", false},
		{"the address, and a profile", conf, []string{"MAYFLY_BASE_URL=https://a.example"}, &app{profile: "b"}, "https://b.example", false},
		{"the address, chosen later", conf, []string{"MAYFLY_BASE_URL=https://a.example"}, &app{}, "https://b.example", false},
		{"a profile", conf, []string{"MAYFLY_PROFILE=a"}, &app{}, "https://a.example", true},
		{"a profile, and another in a flag", conf, []string{"MAYFLY_PROFILE=a"}, &app{profile: "b"}, "https://b.example", false},
		{"the usual profile", "profile = 'a'\n" + conf, nil, &app{}, "https://a.example", true},
		{"the usual profile, and another in a flag", "profile = 'a'\n" + conf, nil, &app{profile: "b"}, "https://b.example", false},
		{"nothing, and a flag", conf, nil, &app{baseURL: "https://b.example"}, "https://b.example", true},
		{"nothing, and a profile", conf, nil, &app{profile: "b"}, "https://b.example", true},
		{"nothing, chosen later", conf, nil, &app{}, "https://b.example", false},
		{"a flag, and another chosen later", conf, nil, &app{profile: "b"}, "https://a.example", false},
		{"a profile that does not exist", conf, []string{"MAYFLY_PROFILE=x"}, &app{profile: "b"}, "https://b.example", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ := append(machine(t), append(c.environ, "MAYFLY_API_KEY="+apitest.Key, "MAYFLY_SMTP=mail.example:25")...)
			if c.conf != "" {
				configure(t, environ, c.conf)
			}
			c.app.env = Env{Environ: environ, Stderr: io.Discard}
			p := endpoint{baseURL: c.to}
			key, err := c.app.key(t.Context(), p)
			smtp := c.app.smtp(&connection{endpoint: p})
			if c.want && (err != nil || key.Secret.Reveal() != apitest.Key || smtp != "mail.example:25") || !c.want && (!errors.Is(err, keys.ErrNone) || smtp != "") {
				t.Errorf("%v, SMTP %q", err, smtp)
			}
		})
	}
}

func TestKeysInAFile(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	s.environ = append(s.environ, "MAYFLY_API_KEY=")
	s.fails(statusKey, []string{"no API key"}, "key", "status")

	r := run(t, s.environ, apitest.Key+"\n", "key", "set", "--file")
	if r.status != 0 || !strings.Contains(r.stdout, "ends in "+apitest.Key[len(apitest.Key)-4:]) || strings.Contains(r.stdout+r.stderr, apitest.Key) {
		t.Errorf("key set: %+v", r)
	}
	s.does("new")
	if got := s.does("key", "status"); !strings.Contains(got, "ends in "+apitest.Key[len(apitest.Key)-4:]) || !strings.Contains(got, "file") {
		t.Errorf("key status printed %q", got)
	}
	configure(t, s.environ, "[profiles.work]\nbase_url = '"+s.url+"/'\n")
	s.does("ls", "--profile", "work")
	s.does("key", "rm", "--profile", "work")
	s.fails(statusNotFound, nil, "key", "rm")
	s.fails(statusKey, []string{"no API key"}, "new")
	if r := run(t, s.environ, apitest.Key, "key", "set", "--file", "--profile", "work"); r.status != 0 {
		t.Errorf("key set --profile: %+v", r)
	}
	s.does("ls")
	r = run(t, append(s.environ, "MAYFLY_API_KEY=mf_fedcba98765fffff"), "", "key", "status")
	if rows := strings.Split(r.stdout, "\n"); r.status != 0 || len(rows) != 3 || !strings.Contains(rows[0], "ends in ffff\tthe environment variable MAYFLY_API_KEY\tused") ||
		!strings.Contains(rows[1], "keys.json\tnot used: the environment variable") {
		t.Errorf("key status of two: %+v", r)
	}

	expectFailure(t, run(t, s.environ, "", "key", "set", "--file"), statusUsage, []string{"no API key was entered"}, []string{"key", "set"})
	expectFailure(t, run(t, machine(t), "x", "key", "set", "--file"), statusUsage, []string{"the local service needs no API key"}, []string{"key", "set"})
}

func TestServeTellsAllFaultsAtOnce(t *testing.T) {
	for _, test := range []struct {
		config, variable, level string
		want                    []string
	}{
		{"smtp = 'nowhere'\nnonsense = 1\nmax_recipients = 'many'\ndomains = ['good.example', 'BAD']\n[max]\nrecipients = 7\nnonsense = {deep = 1}\n[smtp_tls]\n", "MAYFLY_SERVE_MAX_MESSAGE_SIZE=huge", "info",
			[]string{"unknown setting nonsense\n", "unknown setting max_nonsense_deep\n", "max_recipients is set twice\n", "MAYFLY_SERVE_MAX_MESSAGE_SIZE"}},
		{"smtp = 'nowhere'\ndomains = ['good.example', 'BAD']\n", "A=", "loud", []string{"nowhere", "BAD", "--log-level"}},
	} {
		file := filepath.Join(testFiles(t, map[string]string{"serve.toml": test.config}), "serve.toml")
		r := run(t, append(machine(t), test.variable), "", "serve", "--config", file, "--log-level", test.level)
		for _, part := range test.want {
			if r.status != statusUsage || !strings.Contains(r.stderr, part) {
				t.Errorf("status %d, %q is not among the faults: %s", r.status, part, r.stderr)
			}
		}
	}
}

func TestFlagsGoBeforeVariablesAndThoseBeforeTheFile(t *testing.T) {
	text := "http = 'file:1'\nsmtp = 'file:2'\nmetrics = 'file:3'\ncatch_all = true\nidle_timeout = '90s'\nmax_message_size = '3MB'\ndomains = ['a.example', 'b.example']\n[max]\nrecipients = 7\n"
	file := filepath.Join(testFiles(t, map[string]string{"serve.toml": text}), "serve.toml")
	a := &app{env: Env{Environ: append(machine(t), "MAYFLY_SERVE_HTTP=variable:1", "MAYFLY_SERVE_SMTP=variable:2")}}
	cmd := a.serveCommand()
	s := &serveSettings{app: a}
	cmd.ResetFlags()
	s.flags(cmd.Flags())
	must(t, cmd.ParseFlags([]string{"--http", "flag:1"}))
	must(t, a.loadServeSettings(cmd.Flags(), file))
	c := s.config
	if c.HTTP != "flag:1" || c.SMTP != "variable:2" || c.Metrics != "file:3" || c.MaxRecipients != 7 || !c.CatchAll ||
		c.IdleTimeout.Seconds() != 90 || c.MaxMessageBytes != 3_000_000 || strings.Join(c.Domains, " ") != "a.example b.example" {
		t.Errorf("%+v", c)
	}
}

// Keys can be named by their names.
func TestNamesOfKeys(t *testing.T) {
	environ, store := machine(t), t.TempDir()
	admin := func(status int, args ...string) string {
		r := run(t, environ, "", append([]string{"admin", "key", "--store", store}, args...)...)
		if r.status != status {
			t.Errorf("%q: %+v", args, r)
		}
		return r.stdout + r.stderr
	}
	for _, name := range []string{"ci", "twice", "twice", server.OwnKeyName} {
		admin(0, "create", "--plan", "dev", "--name", name)
	}
	admin(0, "revoke", "ci")
	admin(statusNotFound, "revoke", "nobody")
	if got := admin(statusUsage, "plan", "twice", "free"); strings.Count(got, "key_") != 2 {
		t.Error(got)
	}
	admin(statusUsage, "revoke", server.OwnKeyName)
	admin(0, "revoke", "--yes", server.OwnKeyName)
	if got := admin(0, "list"); strings.Count(got, "revoked") != 2 {
		t.Error(got)
	}
}

// Each error is one line in the words of its reader.
func TestErrorsAreInPlainWords(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { taken.Close() }) // after the parallel tests
	store := filepath.Join(t.TempDir(), "store")
	serve := func(args ...string) []string {
		return append([]string{"serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", store}, args...)
	}
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "file"), nil, 0o644))
	environ := append(machine(t), "MAYFLY_API_KEY="+apitest.Key)
	for name, test := range map[string]struct {
		variable string
		args     []string
		status   int
		want     string
	}{
		"no service":     {"MAYFLY_BASE_URL=http://127.0.0.1:1", []string{"ls"}, statusError, "127.0.0.1:1 refused the connection; is the service running there?"},
		"no host":        {"MAYFLY_BASE_URL=https://nobody.invalid", []string{"new"}, statusError, "there is no host nobody.invalid"},
		"not TLS":        {"MAYFLY_BASE_URL=https://" + plainHTTP(t), []string{"ls"}, statusError, "does not speak TLS"},
		"no address":     {"MAYFLY_BASE_URL=api.example", []string{"ls"}, statusUsage, "must start with https://"},
		"a password":     {"MAYFLY_BASE_URL=https://ada:secret@api.example", []string{"key", "status"}, statusUsage, "must not contain a user or a password"},
		"plain HTTP":     {"MAYFLY_BASE_URL=http://api.example", []string{"ls"}, statusUsage, "use https; --insecure allows it"},
		"no variable":    {"MAYFLY_SERVE_HTPP=x", serve(), statusUsage, "MAYFLY_SERVE_HTPP; did you mean MAYFLY_SERVE_HTTP?"},
		"no file":        {"MAYFLY_SERVE_CONFIG=/nowhere/x.toml", serve(), statusUsage, "open /nowhere/x.toml: "},
		"no store":       {"", []string{"admin", "key", "create", "--plan", "dev", "--store", store + "typo"}, statusNotFound, "there is no store in"},
		"another folder": {"", []string{"admin", "key", "list", "--store", other}, statusNotFound, "there is no store in"},
		"a number":       {"MAYFLY_SERVE_MAX_LONG_POLLS=many", serve(), statusUsage, `MAYFLY_SERVE_MAX_LONG_POLLS "many": must be an integer`},
		"a switch":       {"MAYFLY_SERVE_CATCH_ALL=perhaps", serve(), statusUsage, `MAYFLY_SERVE_CATCH_ALL "perhaps": must be true or false`},
		"a taken port":   {"A=", serve("--http", taken.Addr().String()), statusError, "listening for HTTP at " + taken.Addr().String() + ": another process listens there"},
		"no such key":    {"A=", serve("--catch-all", "--catch-all-key", "key_x"), statusError, "no API key key_x to own the catch-all inboxes: `mayfly admin key list`"},
		"a webhook":      {"A=", serve("--webhook-url", "https://ada:secret@hooks.example", "--webhook-secret-file", store), statusUsage, "the URL for webhooks has a user in it"},
		"no database":    {"A=", []string{"admin", "key", "list", "--store", "postgres://u:secret@127.0.0.1:1/x"}, statusError, "connection refused; is PostgreSQL running there?"},
		"no such server": {"A=", []string{"admin", "key", "list", "--store", "postgres://u:secret@nobody.invalid/x"}, statusError, "the host nobody.invalid was not found"},
		"no command":     {"A=", []string{""}, statusUsage, "unknown command \"\" for `mayfly`; see `mayfly --help`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, append(environ[:len(environ):len(environ)], test.variable), "", test.args...)
			expectFailure(t, r, test.status, []string{test.want}, test.args)
			for _, noise := range []string{"dial", "tcp", "lookup", "strconv", "secret"} {
				if strings.Contains(r.stderr, noise) {
					t.Errorf("%q is in %q", noise, r.stderr)
				}
			}
		})
	}
}

// plainHTTP is the address of a service without TLS.
func plainHTTP(t *testing.T) string {
	return strings.TrimPrefix(newHarness(t, apitest.Options{}).url, "http://")
}
