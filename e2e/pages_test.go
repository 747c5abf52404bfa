//go:build unix

package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"mayfly/api/apitest"
	"mayfly/service/postgres/pgtest"
)

// All code in README.md and in the pages of docs is run. TestPages runs the indented blocks, but for the commands in these
// tables; the fenced ones are each in one of them, by page and language, and by section where a test takes that alone.

// testedBy are the tests that take code from the page.
var testedBy = map[string]func(*testing.T){
	"ci.md: mayfly exec --env SMTP_ADDR={smtp} -- sh signup.sh":                TestDocsShellScript,
	"ci.md: mayfly preview --screenshot signup.png --phone --dark signup.html": TestDocsScreenshot,
	"ci.md: mayfly preview --screenshot shots/mail.png mails/*.eml":            TestDocsScreenshot,
	"ci.md, A shell script: sh":                                                TestDocsShellScript,
	"ci.md, GitHub Actions: yaml":                                              TestDocsJobs,
	"ci.md, GitLab: yaml":                                                      TestDocsJobs,
	"ci.md, Playwright: ts":                                                    TestDocsCodes,
	"ci.md, pytest: python":                                                    TestDocsCodes,
	"ci.md, Go: go":                                                            TestDocsCodes,
	"mcp.md: json":                                                             TestTheLinesForMCPClients,
	"mcp.md: toml":                                                             TestTheLinesForMCPClients,
	"scale.md: sh":                                                             TestDocsLoadBalancer,
	"scale.md: haproxy":                                                        TestDocsLoadBalancer,
	"service.md: editor /etc/mayfly/serve.toml":                                TestPackageIsSetUp,
	"service.md: runuser -u mayfly -- mayfly admin key create --plan dev --name ci --store /var/lib/mayfly": TestPackageIsSetUp,
	"ci.md: npx @.example/mayfly exec --env SMTP_ADDR={smtp} -- npx playwright test":                        TestDocsCodes,
	"service.md: yaml":    TestCompose,
	"relay.md: toml":      TestReleaseByTheCommandLine,
	"webhooks.md: python": TestDocsWebhook,
	"smtp.md: mayfly serve --store /var/lib/mayfly --pop3 127.0.0.1:1100":              TestClientsOfPOP3,
	`smtp.md: curl --user "ada@inbox.example:$MAYFLY_API_KEY" pop3://127.0.0.1:1100/1`: TestClientsOfPOP3,
	"ssh.md: sh":         TestCommandsOverSSH,
	"ssh.md: ssh-config": TestOpenSSH,
	"README.md: sh":      TestCommandsOverSSH,
	"config.md: toml":    TestDocsSettings,
	"mx.md: toml":        TestDocsSettings,
	"json.md: json":      TestDocsJSON,
	"api.md: json":       TestDocsJSON,
}

// notRun says why code is not run by these tests.
var notRun = map[string]string{
	"README.md: go run .":                                    "the tests build and run the same program",
	"README.md: go test ./...":                               "it runs this test",
	"README.md: go install example.com/mayfly/mayfly@latest": "packaging/try-publishing installs it from a proxy",
	"ci.md: pip install ./clients/python":                    "clients/python/test does",
	"README.md: curl -fsSL https://example.com/mayfly/mayfly/releases/latest/download/install.sh | sh": "packaging/try-publishing runs it",
	"ci.md: npm install -D /tmp/packed/mayfly-*.tgz /tmp/packed/playwright-*.tgz":                      ".ci/run installs them, for TestDocsCodes",
	"citus.md: ini": "settings of another server: pgtest's cluster has most of them",
	"citus.md: pg_basebackup -D /backup/base": "a command of another program: it needs a server that archives its log",
	"citus.md: sql": "needs three servers: pgtest makes them a cluster in this way",
	"scale.md: sql": "a query for monitoring",
	"service.md: apt install ./mayfly_*_amd64.deb":                          ".ci/run installs the package, and packaging/testdata/lifecycle.sh does",
	"service.md: systemctl enable --now mayfly":                             "needs systemd as the first process: lifecycle.sh does what the unit says",
	"operations.md: yaml":                                                   "settings of another program",
	"service.md: docker build -t mayfly .":                                  "needs Docker",
	"service.md: docker run -v mayfly:/data -p 25:2525 -p 8425:8425 mayfly": "needs Docker",
	"service.md: nginx":                                                     "needs another program",
	"service.md: caddy":                                                     "needs another program",
	"migrate.md: mayfly":                                                    "other tests open the application",
	"themes.md: toml":                                                       "ui/theme tests the theme that it is a part of",
	"testcontainers.md: go":                                                 "needs Docker",
	"testcontainers.md: java":                                               "needs Docker",
	"testcontainers.md: ts":                                                 "needs Docker",
	"ssh.md: text":                                                          "service/ssh tests what an unknown key is told",
}

// settings are what the block with a command needs: commands of the shell before it, and whether it is for `mayfly exec`.
var settings = map[string]struct {
	exec   bool
	before string
}{
	"README.md: address=$(mayfly new)": {exec: true},
	"ci.md: address=$(mayfly new)": {exec: true, before: `
mayfly() { # mail comes for a new inbox
	set -- "$(command mayfly "$@")" "$@"
	[ "$2" != new ] || ./sign-up "$1"
	echo "$1"
}
./sign-up ada@acme.example
`},
	"smtp.md: mayfly sessions": {exec: true, before: "./sign-up ada@acme.example"},
	"ci.md: mayfly wait \"$ADDRESS\" >/dev/null": {exec: true, before: `
unset CI
ADDRESS=$(mayfly new)
./sign-up "$ADDRESS"
`},
	"ci.md: mayfly preview --fail-on warning --view checks signup.html": {exec: true, before: `
address=$(mayfly new)
./sign-up "$address"
echo "<p>Hello</p>" > signup.html
`},
	"scale.md: mayfly admin key create --plan dev --name ci --secret-file ci.key --store postgres://mayfly@127.0.0.1/mayfly > /dev/null": {
		before: "mkdir -p \"$STORE\"\nmayfly admin key create --plan dev --store \"$STORE\" > ci.key\n",
	},
	"migrate.md: address=$(mayfly new)": {exec: true},
	"api.md: curl -f -X POST -H \"X-API-Key: $MAYFLY_API_KEY\" \"$MAYFLY_BASE_URL/v1/inboxes\"":                                                                      {exec: true},
	`api.md: curl -f -X POST -H "X-API-Key: $MAYFLY_API_KEY" -H "Content-Type: application/json" -d '{"username": "ada", "ttl": 600}' "$MAYFLY_BASE_URL/v1/inboxes"`: {exec: true},
	"api.md: id=$(mayfly new --json | jq -r .id)":                                 {exec: true},
	"json.md: mayfly new --json | jq -r .id":                                      {exec: true},
	"smtp.md: mayfly messages --json":                                             {exec: true, before: "./sign-up ada@acme.example\nmayfly wait ada@acme.example --code\n"},
	"mx.md: mayfly admin key create --plan dev --name me --store /var/lib/mayfly": {before: aStore},
	"operations.md: mayfly admin backup DIR --store /var/lib/mayfly": {before: aStore + `
mayfly() { # what is restored was lost
	[ "$2" != restore ] || rm -r "$STORE"
	command mayfly "$@"
}
`},
}

const aStore = "mkdir -p \"$STORE\"\nmayfly admin key create --plan dev --store \"$STORE\"\n"

// standIns take the place of programs that a machine may not have.
var standIns = map[string]string{
	"npm":    `[ "$*" = test ]`,
	"jq":     `sed "s/.*\"${2#.}\":\"\([^\"]*\)\".*/\1/"`,
	"claude": `case "$*" in *" -- "*) while [ "$1" != -- ]; do shift; done; shift; exec "$@" </dev/null ;; esac`,
}

// TestPages goes through each page on a machine, as a reader would.
func TestPages(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, page := range pages(t) {
		var blocks []block
		for _, b := range readBlocks(t, page) {
			b.checkWidth(t)
			if b = b.leaveOut(t, named); len(b.commands) > 0 || b.config() {
				blocks = append(blocks, b)
			}
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			switch page {
			case "scale.md":
				pgtest.Programs(t)
			case "api.md":
				need(t, "curl", "curl")
			}
			p := newReader(t, page)
			for _, b := range blocks {
				p.follow(b)
			}
		})
	}
	checkNamed(t, named, testedBy)
	checkNamed(t, named, notRun)
	checkNamed(t, named, settings)
}

func checkNamed[V any](t *testing.T, named map[string]bool, rows map[string]V) {
	t.Helper()
	for row := range rows {
		if !named[row] {
			t.Errorf("this is not in the pages any more: %s", row)
		}
	}
}

// pages returns README.md and the names of the files in docs.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../docs/*.md")
	if err != nil || len(found) == 0 {
		t.Fatalf("docs has %q, %v", found, err)
	}
	names := []string{"../README.md"}
	for _, path := range found {
		names = append(names, filepath.Base(path))
	}
	return names
}

// block is a block of code in a page.
type block struct {
	page, section, language string // there is no language for indented blocks
	text                    string
	commands                []command // of a shell, for indented blocks
}

// command is a line of a page, or several that backslashes connect: as it is, and without that and a comment.
type command struct{ lines, name string }

// config reports whether the block is from config.toml.
func (b block) config() bool { return b.language == "" && strings.HasPrefix(b.text, "[") }

// readBlocks returns the blocks of code in a page. Fenced ones without a language are something else.
func readBlocks(t *testing.T, file string) []block {
	t.Helper()
	var found []block
	b, fenced := block{page: filepath.Base(file)}, false
	end := func() {
		if strings.TrimSpace(b.text) != "" && (b.language != "" || !fenced) {
			b.text = strings.TrimSpace(b.text) + "\n"
			found = append(found, b)
		}
		b.text, b.language, fenced = "", "", false
	}
	for line := range strings.Lines(page(t, file) + "\n") {
		inside, indented := strings.CutPrefix(line, "    ")
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && fenced:
			end()
		case fence:
			end()
			b.language, fenced = strings.TrimSpace(language), true
		case fenced:
			b.text += line
		case indented:
			b.text += inside
		case strings.TrimSpace(line) == "":
			b.text += "\n"
		default:
			end()
			if title, ok := strings.CutPrefix(line, "## "); ok {
				b.section = strings.TrimSpace(title)
			}
		}
	}
	end()
	for i, b := range found {
		if b.language == "" && !b.config() {
			found[i].commands = readCommands(b.text)
		}
	}
	return found
}

var (
	// safe are the commands that may be run as they are found.
	safe         = regexp.MustCompile(`^(\w+=\$\()?(mayfly|claude|curl|createuser|createdb|\./[a-z-]+|list=.*) ?`)
	commandLines = regexp.MustCompile(`(?:.*\\\n)*.+\n`)
	continuation = regexp.MustCompile(`\\\n\s*`)
	comment      = regexp.MustCompile(`\s+# .*`)
)

func readCommands(text string) (all []command) {
	for _, lines := range commandLines.FindAllString(text, -1) {
		name := comment.ReplaceAllString(continuation.ReplaceAllString(lines, ""), "")
		all = append(all, command{lines, strings.TrimSpace(name)})
	}
	return all
}

// checkWidth holds the code of the manual to what fits a terminal of 80 columns.
func (b block) checkWidth(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(b.text) {
		if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > 76 && b.page != "README.md" {
			t.Errorf("%s: %d columns: %s", b.page, width, line)
		}
	}
}

// leaveOut returns the block without what the tables name. A fenced block must be named.
func (b block) leaveOut(t *testing.T, named map[string]bool) block {
	t.Helper()
	out := func(rows ...string) bool {
		for _, row := range rows {
			if testedBy[row] != nil || notRun[row] != "" {
				named[row] = true
				return true
			}
		}
		return false
	}
	if b.language != "" && !out(b.page+": "+b.language, b.page+", "+b.section+": "+b.language) {
		t.Errorf("nothing runs the block of %s in %q of %s: name the test that does, or why none can, in pages_test.go",
			b.language, b.section, b.page)
	}
	var left []command
	for _, c := range b.commands {
		named[b.page+": "+c.name] = true
		switch {
		case out(b.page + ": " + c.name):
		case safe.MatchString(c.name):
			left = append(left, c)
		default:
			t.Errorf("nothing runs %q in %s: name the test that does, or why none can, in pages_test.go", c.name, b.page)
		}
	}
	b.commands = left
	return b
}

// reader is somebody who does what a page says.
type reader struct {
	project
	here *strings.Replacer // what is elsewhere on this machine
}

func newReader(t *testing.T, page string) reader {
	t.Helper()
	p := newProject(t)
	p.useFreePorts()
	for name, script := range standIns {
		p.machine = p.withProgram(name, script)
	}
	p.write("run-tests", "#!/bin/sh\n[ -n \"$SMTP_ADDR\" ]\n")
	store := filepath.Join(p.home, "store")
	p.machine = p.with("STORE="+store, "MAYFLY_SERVE_HTTP=127.0.0.1:0", "MAYFLY_SERVE_SMTP=127.0.0.1:0") // a Mayfly of one's own may have the usual ports
	renamed := []string{
		"/var/lib/mayfly", store, "/srv/new", filepath.Join(p.home, "new"), "--smtp :25 ", "--smtp 127.0.0.1:0 ", "127.0.0.1:2525", "127.0.0.1:0", "127.0.0.1:8425", "127.0.0.1:0", "127.0.0.1:1100", "127.0.0.1:0", "127.0.0.1:9090", "127.0.0.1:0",
	}
	if page == "scale.md" {
		renamed = append(renamed, "@127.0.0.1/", "@"+p.usePostgres()+"/")
	}
	return reader{p, strings.NewReplacer(renamed...)}
}

// usePostgres gives the commands of PostgreSQL a server, and returns its address.
func (p *project) usePostgres() string {
	p.t.Helper()
	u, err := url.Parse(pgtest.Database(p.t))
	must(p.t, err)
	password, _ := u.User.Password()
	p.machine = p.with("PATH="+pgtest.Programs(p.t)+":"+p.getenv("PATH"),
		"PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(), "PGPASSWORD="+password)
	drop := exec.Command("sh", "-c", "dropdb --if-exists mayfly && dropuser --if-exists mayfly")
	drop.Env = p.environ
	p.t.Cleanup(func() {
		if out, err := drop.CombinedOutput(); err != nil {
			p.t.Errorf("%v: %s", err, out)
		}
	})
	return u.Host
}

// follow runs what is in a block, which must succeed: in a shell, with services until its end, or as config.toml.
func (r reader) follow(b block) {
	if b.config() {
		m := newMachine(r.t)
		m.write(".config/mayfly/config.toml", b.text)
		m.mustRun("doctor")
		return
	}
	var script strings.Builder
	shell := []string{"sh", "-euxc"}
	run := func() { r.t.Logf("%s", r.mustExec(r.dir, shell[0], append(shell[1:], script.String())...)) }
	for _, c := range b.commands {
		needs := settings[b.page+": "+c.name]
		if needs.exec {
			shell = append([]string{program, "exec", "--env", "SMTP_ADDR={smtp}", "--"}, shell...)
		}
		script.WriteString(needs.before)
		if !strings.HasPrefix(c.name, "mayfly serve ") {
			script.WriteString(r.here.Replace(c.lines))
			continue
		}
		run()
		script.Reset()
		serving := r.command()
		serving.Path, serving.Args, serving.Dir = "/bin/sh", []string{"sh", "-euc", "exec " + r.here.Replace(c.lines)}, r.dir
		s := r.startServer(serving, "")
		defer s.stop(syscall.SIGTERM)
	}
	run()
}

// The key for a hosted service is kept in the keyring of the session, where the application finds it.
func TestDocsHostedService(t *testing.T) {
	t.Parallel()
	need(t, "the packages dbus and gnome-keyring", "dbus-run-session", "gnome-keyring-daemon")
	m, _ := machineWithService(t)
	runtime, err := os.MkdirTemp("/tmp", "run") // short: the names of sockets are
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(runtime) })
	url := m.getenv("MAYFLY_BASE_URL")
	m = m.with("MAYFLY_BASE_URL=", "MAYFLY_API_KEY=", "XDG_RUNTIME_DIR="+runtime, "PATH="+filepath.Dir(program)+":"+m.getenv("PATH"))
	script := "echo -n pw | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null\n"
	command := regexp.MustCompile("`(mayfly key set --base-url )https://\\S+`").FindStringSubmatch(page(t, "../README.md"))
	if command == nil {
		t.Fatal("README.md does not say how to keep a key")
	}
	script += command[1] + url + "\nmayfly --base-url " + url + "\n"
	cmd := m.command()
	cmd.Args = []string{"dbus-run-session", "--", "sh", "-euc", script}
	if cmd.Path, err = exec.LookPath(cmd.Args[0]); err != nil {
		t.Fatal(err)
	}
	s := startInTerminal(t, cmd)
	s.waitFor("API key for")
	s.step(apitest.Key+"\r", "n new")
	s.step("n", "@"+apitest.Domain)
	s.typeKeys("q")
	if status := s.exitStatus(); status != 0 {
		t.Errorf("status %d: %s", status, s.text())
	}
	if left, err := filepath.Glob(filepath.Join(m.home, ".config/mayfly/*key*")); err != nil || len(left) > 0 {
		t.Errorf("the key is in %q, %v", left, err)
	}
}
