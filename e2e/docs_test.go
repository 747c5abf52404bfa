//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// example returns the one fenced block of docs/ci.md in a language.
func example(t *testing.T, language string) string {
	t.Helper()
	found := examples(t, "ci.md", language)
	if len(found) != 1 {
		t.Fatalf("docs/ci.md has %d blocks of %s", len(found), language)
	}
	return found[0]
}

// examples returns the fenced blocks in a language of a file in docs.
func examples(t *testing.T, file, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1) {
		found = append(found, block[1]+"\n")
	}
	return found
}

// newProject returns a folder with an application to test: sign-up mails a code to an address,
// confirm takes only that code.
func newProject(t *testing.T) string {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"sign-up": fmt.Sprintf("#!/bin/sh\nexec env %s=\"$1\" %s\n", signUpVariable, self),
		"confirm": "#!/bin/sh\ntest \"$2\" = 482913 && echo \"$1 $2\" > confirmed\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// signUpVariable makes the test binary that application: it mails a code to the address in the
// variable, through SMTP_ADDR.
const signUpVariable = "MAYFLY_TEST_SIGN_UP"

// mailCode is that application; it returns its exit status.
func mailCode(to string) int {
	message := strings.ReplaceAll(signup(to), "\n", "\r\n")
	if err := smtp.SendMail(os.Getenv("SMTP_ADDR"), nil, "no-reply@acme.example", []string{to}, []byte(message)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// checkConfirmed checks that the application got the code and that no inbox is left.
func checkConfirmed(t *testing.T, m *machine, dir string) {
	t.Helper()
	if text, err := os.ReadFile(filepath.Join(dir, "confirmed")); err != nil || !strings.HasSuffix(string(text), " 482913\n") {
		t.Errorf("confirmed with %q: %v", text, err)
	}
	if left := m.mustRun("ls"); left != "" {
		t.Errorf("inboxes are left: %s", left)
	}
}

// job returns the machine as a CI job has it: with a service to use and with mayfly in its PATH.
func (m *machine) job(s *server, plan string) *machine {
	return m.using(s, m.key(s.store, plan)).with("SMTP_ADDR="+s.smtp, "PATH="+filepath.Dir(program)+":"+m.getenv("PATH"))
}

// mustExec runs any program on the machine, in a folder. It must succeed.
func (m *machine) mustExec(dir string, name string, args ...string) string {
	m.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, m.environ
	// A pipe would stay open as long as a process that the program leaves behind.
	out, err := os.CreateTemp(m.t.TempDir(), "output")
	if err != nil {
		m.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	ran := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if ran != nil || err != nil {
		m.t.Fatalf("%s %q: %v, %v\n%s", name, args, ran, err, text)
	}
	return string(text)
}

func TestDocsShellScript(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"))
	m = m.job(s, "dev")
	dir := newProject(t)
	if err := os.WriteFile(filepath.Join(dir, "signup.sh"), []byte(example(t, "sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	m.mustExec(dir, "sh", "signup.sh")
	checkConfirmed(t, m, dir)
}

func TestDocsWorkflow(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the steps of a workflow run in bash; install it to run this test")
	}
	text := example(t, "yaml")
	for _, port := range []string{"8425", "2525"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, free, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		text = strings.ReplaceAll(text, port, free)
	}
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["signup"]
	dir := newProject(t)
	if err := os.WriteFile(filepath.Join(dir, "signup.sh"), []byte(example(t, "sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := filepath.Join(t.TempDir(), "env")
	m := newMachine(t)
	m = m.with("RUNNER_TEMP="+t.TempDir(), "GITHUB_ENV="+variables, "PATH="+filepath.Dir(program)+":"+m.getenv("PATH"))
	for name, value := range job.Env {
		m = m.with(name + "=" + value)
	}
	t.Cleanup(func() { // as a runner ends the processes that a job leaves behind
		_ = exec.Command("sh", "-c", `kill $(cat "$0") 2>/dev/null`, filepath.Join(dir, "pid")).Run()
	})
	steps := 0
	for _, step := range job.Steps {
		if step.Run == "" {
			continue
		}
		steps++
		m.mustExec(dir, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", strings.ReplaceAll(step.Run, `mayfly.log" &`, `mayfly.log" & echo $! > pid`))
		if set, err := os.ReadFile(variables); err == nil {
			m = m.with(strings.Fields(string(set))...)
		}
	}
	if steps != 2 {
		t.Fatalf("%d steps were run", steps)
	}
	checkConfirmed(t, m, dir)
}

func TestDocsGoTest(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"))
	m = m.job(s, "dev").with("GOFLAGS=-mod=mod", "GOCACHE="+goCache(t), "GOTOOLCHAIN=local")
	dir := newProject(t)
	for name, text := range map[string]string{
		"go.mod":         "module signup\n\ngo 1.26\n",
		"signup_test.go": example(t, "go"),
		"app_test.go": `package signup

import (
	"os/exec"
	"testing"
)

func application(t *testing.T, args ...string) {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func signUp(t *testing.T, address string)        { application(t, "./sign-up", address) }
func confirm(t *testing.T, address, code string) { application(t, "./confirm", address, code) }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.mustExec(dir, "go", "test", ".")
	checkConfirmed(t, m, dir)
}

func goCache(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// signupSite is an application with a form for an address and one for the code it mails there.
func signupSite(smtpAddr string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><form method="post" action="/sign-up"><label>E-mail <input name="address"></label><button>Sign up</button></form>`)
	})
	mux.HandleFunc("POST /sign-up", func(w http.ResponseWriter, r *http.Request) {
		to := r.FormValue("address")
		message := strings.ReplaceAll(signup(to), "\n", "\r\n")
		if err := smtp.SendMail(smtpAddr, nil, "no-reply@acme.example", []string{to}, []byte(message)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, `<!doctype html><form method="post" action="/confirm"><label>Code <input name="code"></label><button>Confirm</button></form>`)
	})
	mux.HandleFunc("POST /confirm", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("code") == "482913" {
			fmt.Fprint(w, "<!doctype html><p>Welcome</p>")
		}
	})
	return mux
}

func TestDocsPlaywright(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("MAYFLY_PLAYWRIGHT")
	if modules == "" {
		t.Skip("needs Playwright: in an empty folder run `npm install @playwright/test`, and set MAYFLY_PLAYWRIGHT to the folder " +
			"and CHROMIUM to the path of a Chromium")
	}
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"))
	m = m.job(s, "dev")
	site := httptest.NewServer(signupSite(s.smtp))
	defer site.Close()

	dir := t.TempDir()
	settings, err := json.Marshal(map[string]any{"baseURL": site.URL, "launchOptions": map[string]any{
		"executablePath": os.Getenv("CHROMIUM"), "args": []string{"--no-sandbox"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"signup.spec.ts":       example(t, "ts"),
		"playwright.config.ts": "export default { testDir: '.', use: " + string(settings) + " };\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	out := m.mustExec(dir, filepath.Join(modules, "node_modules", ".bin", "playwright"), "test")
	if !strings.Contains(out, "1 passed") {
		t.Errorf("%s", out)
	}
	if left := m.mustRun("ls"); left != "" {
		t.Errorf("inboxes are left: %s", left)
	}
}
