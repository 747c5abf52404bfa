//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A composed environment sets its key with the same command at every start.
func TestPresetKey(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const secret = "preset-by-the-environment-0123456789"
	store, file := filepath.Join(m.home, "store"), m.write("secret", secret+"\n")
	create := []string{"admin", "key", "create", "--plan", "dev", "--name", "ci", "--secret-file", file, "--store", store}
	for range 2 {
		m.prints(secret, create...)
	}
	bad := m.write("bad", "too-short")
	none := filepath.Join(m.home, "none")
	for name, test := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"another plan": {[]string{"--plan", "startup", "--secret-file", file, "--store", store}, 1, "has the plan dev"},
		"too short":    {[]string{"--plan", "dev", "--secret-file", bad, "--store", none}, 1, "32 to 256 characters"},
		"no file":      {[]string{"--plan", "dev", "--secret-file", none, "--store", none}, 1, "no such file"},
		"no name":      {[]string{"--plan", "dev", "--secret-file", "", "--store", none}, 2, "--secret-file is empty"},
	} {
		stdout, stderr, status := m.run(append([]string{"admin", "key", "create"}, test.args...)...)
		if status != test.status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) ||
			strings.Contains(stderr, secret) || strings.Contains(stderr, "too-short") {
			t.Errorf("%s: status %d, %q, %q", name, status, stdout, stderr)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a mistake created a store")
	}
}

// TestCompose does what Docker would do with docker-compose.yml, and with the file in docs/service.md that goes with it.
func TestCompose(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const secret = "preset-by-the-environment-0123456789"
	store, file := filepath.Join(m.home, "store"), m.write("secret", secret)
	type dependencies map[string]struct{ Condition string }
	var compose struct {
		Services map[string]struct {
			Image, Build, Restart string
			PullPolicy            string `yaml:"pull_policy"`
			Entrypoint, Command   []string
			Ports, Volumes        []string
			Secrets, Environment  []string
			Logging               struct{ Driver string }
			Attach                *bool
			Healthcheck           struct {
				Disable           bool
				Test              []string
				Interval, Timeout string
				StartPeriod       string `yaml:"start_period"`
			}
			DependsOn dependencies `yaml:"depends_on"`
		}
		Secrets map[string]struct{ Environment string }
		Volumes map[string]struct{}
	}
	for _, text := range append([]string{sourceFile(t, "docker-compose.yml")}, examples(t, "service.md", "yaml")...) {
		in := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(text, "/run/secrets/mayfly", file)))
		in.KnownFields(true)
		must(t, in.Decode(&compose))
	}
	builds := 0
	for name, s := range compose.Services {
		if s.Build != "" {
			builds++
		} else if s.Image == "mayfly" && s.PullPolicy != "never" {
			t.Errorf("%s may pull the image that another service builds", name)
		}
		for on, how := range s.DependsOn {
			healthy := len(compose.Services[on].Healthcheck.Test) > 0
			if how.Condition != map[bool]string{true: "service_healthy", false: "service_completed_successfully"}[healthy] {
				t.Errorf("%s waits for %s to be %s", name, on, how.Condition)
			}
		}
		for _, secret := range s.Secrets {
			if compose.Secrets[secret].Environment != "MAYFLY_API_KEY" {
				t.Errorf("%s has the secret %s, which is not MAYFLY_API_KEY", name, secret)
			}
		}
		for _, volume := range s.Volumes {
			source, target, _ := strings.Cut(volume, ":")
			if _, ok := compose.Volumes[source]; !ok || target != "/data" {
				t.Errorf("%s has the volume %s", name, volume)
			}
		}
	}
	if builds != 1 {
		t.Errorf("the image is built %d times", builds)
	}
	if test := compose.Services["mayfly"].Healthcheck.Test; !slices.Equal(test, []string{"CMD", "/mayfly", "health"}) {
		t.Errorf("the health check is %q", test)
	}
	// There is no HOME in the image.
	container := m.with("HOME=", "MAYFLY_SERVE_STORE="+store)

	create := compose.Services["key"].Entrypoint[1:]
	container.mustRun(create...)
	s := container.serve(store, compose.Services["mayfly"].Command...)
	container.mustRun(create...) // as when all is started again
	_, port, _ := strings.Cut(strings.TrimPrefix(s.rest, "http://"), ":")
	container = container.with("MAYFLY_SERVE_HTTP=:" + port)
	container.prints("ready", "health")
	tests := m.using(s, secret)
	send(t, s.smtp, "anyone@mail.test", signup("anyone@mail.test"))
	tests.prints("482913", "wait", "anyone@mail.test", "--code")
	s.stop(syscall.SIGTERM)
	container.fails(1, "refused the connection", "health")
}
