//go:build unix

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// action is action.yml, as far as its steps need it.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, If, Shell, Run string
			Env                map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// act carries out the steps of the action in the project, as GitHub's runner does, and returns its
// outputs, what it printed, and whether it succeeded. Programs that it installs stay in the PATH.
func (p *project) act(with map[string]string) (outputs map[string]string, printed string, ok bool) {
	p.t.Helper()
	text, err := os.ReadFile("../action.yml")
	must(p.t, err)
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil || a.Runs.Using != "composite" {
		p.t.Fatalf("action.yml: %v", err)
	}
	values := map[string]string{}
	for name, input := range a.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range with {
		if _, ok := a.Inputs[name]; !ok {
			p.t.Fatalf("the action has no input %s", name)
		}
		values["inputs."+name] = value
	}
	evaluate := func(s string) string {
		return expression.ReplaceAllStringFunc(s, func(s string) string { return values[expression.FindStringSubmatch(s)[1]] })
	}
	temp := filepath.Join(p.home, "runner") // for all actions of a job
	must(p.t, os.MkdirAll(temp, 0o700))
	runner := p.with("RUNNER_OS="+map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH], "RUNNER_TEMP="+temp)
	ok = true
	for _, step := range a.Runs.Steps {
		if condition, found := strings.CutSuffix(step.If, " != ''"); step.If != "" && (!found || values[condition] == "") {
			continue
		}
		if step.Shell != "bash" {
			p.t.Fatalf("a step has the shell %q", step.Shell)
		}
		files := p.t.TempDir()
		script, paths, results := filepath.Join(files, "script"), filepath.Join(files, "path"), filepath.Join(files, "output")
		must(p.t, os.WriteFile(script, []byte(evaluate(step.Run)), 0o600))
		cmd := exec.CommandContext(p.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		cmd.Dir = p.dir
		cmd.Env = append(runner.with("PATH="+p.getenv("PATH")).environ, "GITHUB_PATH="+paths, "GITHUB_OUTPUT="+results)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+evaluate(value))
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		for _, line := range readLines(paths) {
			if info, err := os.Stat(line); err != nil || !info.IsDir() {
				p.t.Errorf("the action puts %s into the PATH, which is no folder: %v", line, err)
			}
			p.machine = p.with("PATH=" + line + ":" + p.getenv("PATH"))
		}
		for _, line := range readLines(results) {
			name, value, _ := strings.Cut(line, "=")
			values["steps."+step.ID+".outputs."+name] = value
		}
		if ok = err == nil; !ok {
			break
		}
	}
	outputs = map[string]string{}
	for name, output := range a.Outputs {
		outputs[name] = evaluate(output.Value)
	}
	return outputs, printed, ok
}

// readLines returns the lines of a file that a step may have written.
func readLines(path string) []string {
	text, _ := os.ReadFile(path)
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// publication is where releases were published: a repository and the files of 0.9.0 and 1.2.3, the newest.
type publication struct {
	url   string // of the releases
	files map[string][]byte

	mu    sync.Mutex
	asked []string // the paths that were asked for
}

const (
	commit123 = "1230000000000000000000000000000000000000"
	tags      = "0900000000000000000000000000000000000000\trefs/tags/v0\n" +
		"0900000000000000000000000000000000000000\trefs/tags/v0.9.0\n" +
		commit123 + "\trefs/tags/v1\n" +
		"aaaa000000000000000000000000000000000000\trefs/tags/v1.2.3\n" +
		commit123 + "\trefs/tags/v1.2.3^{}\n" +
		"1300000000000000000000000000000000000000\trefs/tags/v1.3.0-rc.1\n"
)

// runProgram is a script that runs the program, and is packed in its place: packing 60 MB takes seconds.
func runProgram() string { return "#!/bin/sh\nexec '" + program + "' \"$@\"\n" }

// publish serves releases of a script that runs the program as packaging/publish leaves them; with a token, as GitHub serves
// those of a private repository.
func publish(t *testing.T, token string) *publication {
	t.Helper()
	system := runtime.GOOS + "_" + runtime.GOARCH
	content := runProgram()
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	w := tar.NewWriter(compressed)
	must(t, w.WriteHeader(&tar.Header{Name: "mayfly_" + system + "/mayfly", Mode: 0o755, Size: int64(len(content))}))
	must(t, failure(io.WriteString(w, content)))
	w.Close()
	compressed.Close()
	sum := fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))
	p := &publication{files: map[string][]byte{
		"mayfly_" + system + ".tar.gz": archive.Bytes(),
		"checksums.txt":                fmt.Appendf(nil, "%s  mayfly_%s.tar.gz\n%x  other.deb\n", sum, system, sha256.Sum256(nil)),
	}}
	file := func(w http.ResponseWriter, r *http.Request) {
		content, ok := p.files[r.PathValue("name")]
		if !ok || r.PathValue("tag") == "v0.0.0" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(content)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/you/mayfly/info/refs", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, tags) })
	if token == "" {
		mux.HandleFunc("/you/mayfly/releases/download/{tag}/{name}", file)
		mux.HandleFunc("/you/mayfly/releases/latest/download/{name}", file)
	} else {
		mux.HandleFunc("/api/repos/you/mayfly/releases/", func(w http.ResponseWriter, r *http.Request) {
			var assets []map[string]string
			for name := range p.files {
				assets = append(assets, map[string]string{"name": name, "url": "http://" + r.Host + "/asset/" + name})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"assets": assets})
		})
		mux.HandleFunc("/asset/{name}", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") == "application/octet-stream" {
				file(w, r)
			}
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.Path)
		p.mu.Unlock()
		_, password, _ := r.BasicAuth()
		if token != "" && password != token && r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL + "/you/mayfly/releases"
	p.files["install.sh"] = []byte(strings.NewReplacer("@VERSION@", "1.2.3", "@RELEASES@", p.url, "@SHA256 "+system+"@", sum).
		Replace(sourceFile(t, "packaging/templates/install.sh")))
	return p
}

// has reports whether a path was asked for.
func (p *publication) has(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.asked, path)
}

// runnerProject is a project on a machine without mayfly.
func runnerProject(t *testing.T) *project {
	t.Helper()
	need(t, "it", "bash", "curl")
	p := newProject(t)
	p.machine = p.with("PATH=" + os.Getenv("PATH"))
	return &p
}

func TestAction(t *testing.T) {
	t.Parallel()
	archive := "mayfly_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	published := publish(t, "")
	with := func(more map[string]string) map[string]string {
		inputs := map[string]string{"releases": published.url}
		maps.Copy(inputs, more)
		return inputs
	}

	t.Run("installs the release of its own ref", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ ref, version, release string }{
			{"v1", "", "download/v1.2.3"},
			{"v1.2.3", "", "download/v1.2.3"},
			{commit123, "", "download/v1.2.3"},
			{"v0", "", "download/v0.9.0"},
			{"v1.3.0-rc.1", "", "download/v1.3.0-rc.1"},
			{"main", "", "latest/download"},
			{"", "", "latest/download"}, // uses: ./
			{"v1", "0.9.0", "download/v0.9.0"},
			{"v1", "v0.9.0", "download/v0.9.0"},
			{"v1", "latest", "latest/download"},
		} {
			published := publish(t, "")
			p := runnerProject(t)
			path := filepath.Join(p.home, "_work", "mayfly")
			if c.ref != "" {
				path = filepath.Join(p.home, "_work", "_actions", "you", "mayfly", c.ref)
			}
			p.machine = p.with("GITHUB_ACTION_PATH=" + path)
			if _, printed, ok := p.act(map[string]string{"releases": published.url, "version": c.version}); !ok || !published.has("/you/mayfly/releases/"+c.release+"/"+archive) {
				t.Errorf("%+v: asked for %q: %s", c, published.asked, printed)
			}
			if installed := p.exec("command -v mayfly"); !strings.HasPrefix(installed, p.home) {
				t.Errorf("%+v: %s", c, installed)
			}
		}
	})
	t.Run("installs a release of a private repository", func(t *testing.T) {
		t.Parallel()
		need(t, "it", "jq")
		private := publish(t, "secret")
		p := runnerProject(t)
		p.machine = p.with("GITHUB_ACTION_PATH="+filepath.Join(p.home, "_actions", "you", "mayfly", "v1"), "GITHUB_API_URL="+strings.TrimSuffix(private.url, "/you/mayfly/releases")+"/api")
		if _, printed, ok := p.act(map[string]string{"releases": private.url, "token": "secret"}); !ok || !private.has("/api/repos/you/mayfly/releases/tags/v1.2.3") || strings.Contains(printed, "secret") {
			t.Error(printed)
		}
		p.exec("mayfly --version")
		if _, printed, ok := p.act(map[string]string{"releases": private.url, "token": "wrong"}); ok || !strings.Contains(printed, "cannot read the tags of "+strings.TrimSuffix(private.url, "/releases")) {
			t.Error(printed)
		}
	})
	t.Run("installs another release in the same job", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		for _, name := range []string{"mayfly_b", "mayfly_a"} {
			must(t, os.Mkdir(filepath.Join(p.dir, name), 0o700))
			must(t, os.WriteFile(filepath.Join(p.dir, name, "mayfly"), []byte(runProgram()), 0o700))
			p.exec("tar -czf it.tar.gz " + name)
			if _, printed, ok := p.act(map[string]string{"path": "it.tar.gz"}); !ok {
				t.Fatal(printed)
			}
			if installed := p.exec("command -v mayfly"); !strings.HasSuffix(installed, "/"+name+"/mayfly\n") {
				t.Errorf("%s: %s", name, installed)
			}
		}
	})
	t.Run("installs an archive", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		p.write("it.tar.gz", string(published.files[archive]))
		must(t, os.Mkdir(filepath.Join(p.dir, "app"), 0o700))
		if _, printed, ok := p.act(map[string]string{"path": "it.tar.gz", "releases": "http://127.0.0.1:1", "run": "mayfly new && pwd", "working-directory": "app"}); !ok || !strings.Contains(printed, "@mayfly.test\n") || !strings.HasSuffix(printed, "/app\n") || strings.Contains(printed, "SMTP ") {
			t.Error(printed)
		}
	})
	t.Run("writes a summary", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		summary := filepath.Join(p.home, "summary")
		p.machine = p.with("GITHUB_STEP_SUMMARY=" + summary)
		p.write("mail.eml", "From: a@acme.example\nTo: ada@acme.example\nSubject: <b>|Welcome|</b> {{name}}\n\nHello\n")
		for _, c := range []struct{ then, want string }{
			{"true", "<td>error <code>placeholder</code></td></tr>"},
			{"false", `<td>error <code>placeholder</code></td><td><code>mails/\S*Welcome\S*\.eml</code>(<br><code>mails/\S*\.png</code>)?</td></tr>`},
		} {
			_, printed, ok := p.act(with(map[string]string{"run": "mayfly sendmail -t <mail.eml\n" + c.then}))
			text, err := os.ReadFile(summary)
			want := regexp.MustCompile(`### Mail\n\n1 message arrived.\n\n(?s:.*)<tr><td><code>ada@acme.example</code></td><td>&lt;b&gt;\|Welcome\|&lt;/b&gt; \{\{name\}\}</td>` + c.want)
			if err != nil || ok != (c.then == "true") || !want.Match(text) {
				t.Errorf("%v, %s\n%s", err, printed, text)
			}
			must(t, os.Remove(summary))
		}
	})
	t.Run("refuses a version that does not exist", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		if _, printed, ok := p.act(with(map[string]string{"version": "0.0.0", "run": "touch ran"})); ok || !strings.Contains(printed, "cannot download "+published.url+"/download/v0.0.0/"+archive) {
			t.Error(printed)
		}
		p.exec("! test -e ran")
	})
	t.Run("passes lines and quotes on as they are", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		_, printed, ok := p.act(with(map[string]string{
			"env": "A=smtp://{smtp}\n\nB=$(touch ran) \"{port}\"\n", "run": "printf '%s\\n' \"$A\"\nprintf '%s\\n' \"$B\" \"it's\"\nfalse | true\n"}))
		if ok || !regexp.MustCompile(`smtp://127.0.0.1:(\d+)\n\$\(touch ran\) "\d+"\nit's\n`).MatchString(printed) {
			t.Error(printed)
		}
		p.exec("! test -e ran")
	})
}

// What was downloaded must be what was released.
func TestAnArchiveThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	published := publish(t, "")
	archive := "mayfly_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	published.files[archive] = append(published.files[archive], 0)
	p := runnerProject(t)
	if _, printed, ok := p.act(map[string]string{"releases": published.url, "version": "latest", "run": "touch ran"}); ok || !strings.Contains(printed, ".tar.gz: FAILED") {
		t.Error(printed)
	}
	p.exec("! test -e ran")
	p.write("install.sh", string(published.files["install.sh"]))
	if said := p.exec("sh install.sh bin 2>&1 && echo installed || true"); !strings.Contains(said, archive+" is not what was released") || strings.Contains(said, "installed\n") {
		t.Error(said)
	}
	p.exec("! test -e bin")
}
