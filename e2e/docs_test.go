//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"mayfly/internal/sockets"
)

// page returns a file in docs.
func page(t *testing.T, file string) string {
	t.Helper()
	return sourceFile(t, filepath.Join("docs", file))
}

// sourceFile returns a file of the repository.
func sourceFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	must(t, err)
	return string(text)
}

// examples returns the fenced blocks in a language of a file in docs.
func examples(t *testing.T, file, language string) []string {
	t.Helper()
	return blocks(page(t, file), language)
}

func blocks(text, language string) []string {
	var found []string
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(text, -1) {
		found = append(found, block[1]+"\n")
	}
	return found
}

// example is a section of docs/ci.md: a block of code, and the command that runs it, if it has one.
type example struct{ code, command string }

func ciExample(t *testing.T, title, language string) example {
	t.Helper()
	_, section, _ := strings.Cut(page(t, "ci.md"), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found := blocks(section, language)
	if len(found) != 1 {
		t.Fatalf("%q in docs/ci.md has %d blocks of %s", title, len(found), language)
	}
	e := example{code: found[0]}
	if command := regexp.MustCompile(`\n    ((?:npx \S+/)?mayfly exec .*)\n`).FindStringSubmatch(section); command != nil {
		e.command = command[1]
	}
	return e
}

// project is a folder with an application to test (see runApp), on a machine with mayfly in its PATH.
type project struct {
	*machine
	dir string
}

func newProject(t *testing.T) project {
	t.Helper()
	p := project{newMachine(t), t.TempDir()}
	p.machine = p.with("PATH=" + filepath.Dir(program) + ":" + p.getenv("PATH"))
	for name, command := range map[string]string{"sign-up": "send", "log-in": "send", "confirm": "confirm"} {
		p.write(name, "#!/bin/sh\n"+appVariable+"="+command+" exec "+thisProgram(t)+" \"$@\"\n")
	}
	return p
}

func thisProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	return self
}

func (p project) write(name, text string) {
	p.t.Helper()
	must(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o755))
}

// exec runs a command of a shell in the folder. It must succeed.
func (p project) exec(command string) string {
	p.t.Helper()
	return p.mustExec(p.dir, "sh", "-c", command)
}

// mustExec runs any program on the machine, in a folder. It must succeed.
func (m *machine) mustExec(dir string, name string, args ...string) string {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, m.environ
	// A pipe would stay open as long as a process that the program leaves behind.
	out, err := os.CreateTemp(m.t.TempDir(), "output")
	must(m.t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	ran := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if ran != nil || err != nil {
		m.t.Fatalf("%s %q: %v, %v\n%s", name, args, ran, err, text)
	}
	return string(text)
}

// checkConfirmed checks that the application got n codes, each the right one, and that nothing is
// left of the service.
func (p project) checkConfirmed(n int) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "confirmed"))
	if got := strings.Count(string(text), "\n"); got != n {
		p.t.Errorf("%d codes were confirmed, want %d: %v", got, n, err)
	}
	for _, name := range p.leftovers() {
		if strings.HasPrefix(name, "mayfly") {
			p.t.Errorf("left behind: %s", name)
		}
	}
}

func TestDocsShellScript(t *testing.T) {
	t.Parallel()
	e := ciExample(t, "A shell script", "sh")
	p := newProject(t)
	p.write("signup.sh", e.code)
	p.exec(e.command)
	p.checkConfirmed(2)
}

// jobs are the jobs in docs/ci.md, by section. Each runs in a project and reports whether it succeeded.
func jobs(t *testing.T) map[string]func(*project) bool {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string
				With map[string]string
			}
		}
	}
	var pipeline map[string]struct {
		BeforeScript []string `yaml:"before_script"`
		Script       []string
	}
	must(t, yaml.Unmarshal([]byte(ciExample(t, "GitHub Actions", "yaml").code), &workflow))
	must(t, yaml.Unmarshal([]byte(ciExample(t, "GitLab", "yaml").code), &pipeline))
	url := publish(t, "").url
	return map[string]func(*project) bool{
		"GitHub Actions": func(p *project) bool {
			for _, step := range workflow.Jobs["signup"].Steps {
				if strings.Contains(step.Uses, "/mayfly@") {
					step.With["releases"] = url
					_, printed, ok := p.act(step.With)
					t.Log(printed)
					return ok
				}
			}
			return false
		},
		"GitLab": func(p *project) bool {
			job := pipeline["signup"]
			script := strings.Join(append(job.BeforeScript, job.Script...), "\n") + " && echo succeeded || true"
			return strings.HasSuffix(p.exec(strings.ReplaceAll(script, "https://example.com/mayfly/mayfly/releases", url)), "succeeded\n")
		},
	}
}

func TestDocsJobs(t *testing.T) {
	t.Parallel()
	for title, succeeds := range jobs(t) {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			p := runnerProject(t)
			p.machine.write(".config/mayfly/config.toml", "[browser]\ncommand = \"true\"\n") // no pictures, which take seconds
			p.write("signup.sh", ciExample(t, "A shell script", "sh").code)
			if !succeeds(p) {
				t.Fatal("it failed")
			}
			p.checkConfirmed(2)
			if _, err := os.Stat(filepath.Join(p.dir, "mails")); err == nil {
				t.Error("it kept the mails of a job that succeeded")
			}
			p.write("log-in", "#!/bin/sh\nexit 3\n")
			if succeeds(p) {
				t.Error("it succeeded")
			}
			if kept, err := filepath.Glob(filepath.Join(p.dir, "mails", "*.eml")); len(kept) != 1 {
				t.Errorf("it kept %q, %v", kept, err)
			}
		})
	}
}

// A sign-up and a log-in each wait for the code mailed to one address. What comes from the run before
// would be a wrong code. Each example is run once, or a hundred times on a busy machine with MAYFLY_LONG.
func TestDocsCodes(t *testing.T) {
	t.Parallel()
	n := 1
	if os.Getenv("MAYFLY_LONG") != "" {
		n = 100
		burden(t)
	}
	t.Run("Go", func(t *testing.T) { t.Parallel(); testGo(t, n) })
	t.Run("pytest", func(t *testing.T) { t.Parallel(); testPytest(t, n) })
	t.Run("Playwright", func(t *testing.T) { t.Parallel(); testPlaywright(t, n) })
}

// burden keeps all cores busy until the test ends.
func burden(t *testing.T) {
	var busy sync.WaitGroup
	for range runtime.NumCPU() {
		busy.Go(func() {
			for t.Context().Err() == nil {
			}
		})
	}
	t.Cleanup(busy.Wait)
}

func testGo(t *testing.T, n int) {
	e := ciExample(t, "Go", "go")
	p := newProject(t)
	p.machine = p.with("GOFLAGS="+os.Getenv("GOFLAGS"), "GOPROXY=off", "GOCACHE="+goOutput(t, "env", "GOCACHE"), "GOMODCACHE="+goOutput(t, "env", "GOMODCACHE"), "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	root, err := filepath.Abs("..")
	must(t, err)
	// In a workspace with Mayfly, all that is compiled of it is what `go test ./...` has compiled.
	p.write("go.mod", "module signup\n\ngo 1.26.0\n")
	p.write("go.work", strings.NewReplacer("use .", "use (\n\t.\n\t"+root+"\n)", "./packaging", root+"/packaging").Replace(sourceFile(t, "go.work")))
	p.write("signup_test.go", e.code)
	p.write("app_test.go", `package signup

import (
	"os"
	"os/exec"
	"testing"
)

type application struct {
	t        *testing.T
	smtpAddr string
}

func startApp(t *testing.T, smtpAddr string) application { return application{t, smtpAddr} }

func (a application) run(args ...string) {
	a.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SMTP_ADDR="+a.smtpAddr)
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %s", err, out)
	}
}

func (a application) signUp(address string)        { a.run("./sign-up", address) }
func (a application) logIn(address string)         { a.run("./log-in", address) }
func (a application) confirm(address, code string) { a.run("./confirm", address, code) }
`)
	p.exec("go test -count=" + strconv.Itoa(n))
	p.checkConfirmed(2 * n)
}

func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	must(t, err)
	return strings.TrimSpace(string(out))
}

func testPytest(t *testing.T, n int) {
	need(t, "the package python3-pytest", "pytest")
	kit, err := filepath.Abs(filepath.Join("..", "clients", "python", "src"))
	must(t, err)
	p := newProject(t)
	p.machine = p.with("PYTHONPATH="+kit, "PYTHONDONTWRITEBYTECODE=1")
	p.write("test_signup.py", ciExample(t, "pytest", "python").code)
	p.write("app.py", `
import os
import subprocess


class App:
    def __init__(self, smtp_host, smtp_port):
        self.environ = {**os.environ, "SMTP_ADDR": f"{smtp_host}:{smtp_port}"}

    def run(self, *args):
        subprocess.run(args, check=True, env=self.environ)

    def sign_up(self, address):
        self.run("./sign-up", address)

    def log_in(self, address):
        self.run("./log-in", address)

    def confirm(self, address, code):
        self.run("./confirm", address, code)
`)
	p.write("conftest.py", fmt.Sprintf(`
def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("run")
    metafunc.parametrize("run", range(%d))
`, n))
	if out := p.exec("pytest -p mayfly.pytest_plugin"); !strings.Contains(out, strconv.Itoa(n)+" passed") {
		t.Error(out)
	}
	p.checkConfirmed(2 * n)
}

func testPlaywright(t *testing.T, n int) {
	modules := os.Getenv("MAYFLY_PLAYWRIGHT")
	if modules == "" {
		t.Skip("needs Playwright: run `clients/js/pack DIR` and in an empty folder `npm install @playwright/test DIR/{mayfly,playwright}-*.tgz`, and set " +
			"MAYFLY_PLAYWRIGHT to the folder and CHROMIUM to the path of a Chromium")
	}
	e := ciExample(t, "Playwright", "ts")
	p := newProject(t)
	addr := sockets.Address(freePort(t))
	settings, err := json.Marshal(map[string]any{
		"testDir": ".",
		"use": map[string]any{"baseURL": "http://" + addr, "launchOptions": map[string]any{
			"executablePath": os.Getenv("CHROMIUM"), "args": []string{"--no-sandbox"},
		}},
		"webServer": map[string]any{
			"command": thisProgram(t) + " " + addr, "url": "http://" + addr, "env": map[string]string{appVariable: "site"},
		},
	})
	must(t, err)
	p.write("signup.spec.ts", e.code)
	p.write("playwright.config.ts", "export default "+string(settings)+";\n")
	must(t, os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(p.dir, "node_modules")))
	if out := p.exec(fmt.Sprintf("%s --repeat-each=%d --workers=2", e.command, n)); !strings.Contains(out, strconv.Itoa(n)+" passed") {
		t.Error(out)
	}
	p.checkConfirmed(2 * n)
}
