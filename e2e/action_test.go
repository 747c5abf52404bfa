//go:build unix

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
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

// releases serves a release of the program, named as .goreleaser.yaml names it, and returns its URL and the
// files of the release.
func releases(t *testing.T) (url string, files map[string][]byte) {
	t.Helper()
	name := "mayfly_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH
	content, err := os.ReadFile(program)
	must(t, err)
	var archive bytes.Buffer
	compressed, _ := gzip.NewWriterLevel(&archive, gzip.BestSpeed)
	w := tar.NewWriter(compressed)
	must(t, w.WriteHeader(&tar.Header{Name: name + "/mayfly", Mode: 0o755, Size: int64(len(content))}))
	must(t, failure(w.Write(content)))
	w.Close()
	compressed.Close()
	files = map[string][]byte{
		name + ".tar.gz":             archive.Bytes(),
		"mayfly_0.1.0_checksums.txt": fmt.Appendf(nil, "%x  %s.tar.gz\n%x  other.deb\n", sha256.Sum256(archive.Bytes()), name, sha256.Sum256(nil)),
	}
	mux := http.NewServeMux()
	mux.Handle("/latest", http.RedirectHandler("/tag/v0.1.0", http.StatusFound))
	mux.HandleFunc("/download/v0.1.0/{name}", func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.PathValue("name")]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(content)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, files
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
	url, files := releases(t)
	with := func(more map[string]string) map[string]string {
		inputs := map[string]string{"releases": url}
		maps.Copy(inputs, more)
		return inputs
	}

	t.Run("installs a release", func(t *testing.T) {
		t.Parallel()
		for _, version := range []string{"latest", "0.1.0", "v0.1.0"} {
			p := runnerProject(t)
			if _, printed, ok := p.act(with(map[string]string{"version": version})); !ok {
				t.Fatal(printed)
			}
			if installed := p.exec("command -v mayfly"); !strings.HasSuffix(installed, "/mayfly_0.1.0_"+runtime.GOOS+"_"+runtime.GOARCH+"/mayfly\n") {
				t.Errorf("%s: %s", version, installed)
			}
		}
	})
	t.Run("installs another release in the same job", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		for _, name := range []string{"mayfly_b", "mayfly_a"} {
			p.exec("mkdir " + name + " && cp " + program + " " + name + "/mayfly && tar -czf it.tar.gz " + name)
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
		p.write("it.tar.gz", string(files["mayfly_0.1.0_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"]))
		if _, printed, ok := p.act(map[string]string{"path": "it.tar.gz", "releases": "http://127.0.0.1:1", "run": "mayfly new"}); !ok || !strings.Contains(printed, "@mayfly.test\n") {
			t.Error(printed)
		}
	})
	t.Run("refuses a version that does not exist", func(t *testing.T) {
		t.Parallel()
		p := runnerProject(t)
		if _, printed, ok := p.act(with(map[string]string{"version": "0.2.0", "run": "touch ran"})); ok || !strings.Contains(printed, "404") {
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
func TestActionRefusesAnArchiveThatWasChanged(t *testing.T) {
	t.Parallel()
	url, files := releases(t)
	archive := "mayfly_0.1.0_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	files[archive] = append(files[archive], 0)
	p := runnerProject(t)
	if _, printed, ok := p.act(map[string]string{"releases": url, "run": "touch ran"}); ok || !strings.Contains(printed, ".tar.gz: FAILED") {
		t.Error(printed)
	}
	p.exec("! test -e ran")
}
