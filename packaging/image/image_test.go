package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

const source = "https://example.com/mayfly/mayfly"

// TestImage makes the images twice, and runs each as an engine would: its files as the root of the file
// system, its user, its environment, and its entry point.
func TestImage(t *testing.T) {
	programs := []string{program(t, "amd64"), program(t, "arm64")}
	dir := filepath.Join(t.TempDir(), "image")
	digest, err := write(dir, source, programs)
	must(t, err)
	if again, err := write(filepath.Join(t.TempDir(), "again"), source, programs); err != nil || again != digest {
		t.Errorf("made again it is %v, not %v (%v)", again, digest, err)
	}
	outer, err := layout.ImageIndexFromPath(dir)
	must(t, err)
	index, err := outer.ImageIndex(digest)
	must(t, err)
	must(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	must(t, err)
	for i, want := range []string{"linux/amd64", "linux/arm64"} {
		entry := manifest.Manifests[i]
		if got := entry.Platform.String(); got != want {
			t.Errorf("image %d is for %s", i, got)
		}
		image, err := index.Image(entry.Digest)
		must(t, err)
		t.Run(entry.Platform.Architecture, func(t *testing.T) { testImage(t, image) })
	}
}

func testImage(t *testing.T, image v1.Image) {
	config, err := image.ConfigFile()
	must(t, err)
	checkDockerfile(t, config.Config)
	for _, label := range []string{"version", "created"} {
		if config.Config.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("there is no label %s", label)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("running the image needs root: run `go test -exec sudo ./...`")
	}
	c := unpack(t, image, config)

	if out, err := c.command("/mayfly", "health").CombinedOutput(); err == nil {
		t.Errorf("without the service, health says %s", out)
	}
	stop := c.serve(t)
	key, err := c.command("/mayfly", "admin", "key", "create", "--plan", "dev").Output()
	if err != nil {
		t.Fatal(err, c.log())
	}
	client := func(args ...string) string {
		cmd := c.command(append([]string{"/mayfly"}, args...)...)
		cmd.Env = append(cmd.Env, "MAYFLY_BASE_URL=http://"+c.http, "MAYFLY_API_KEY="+strings.TrimSpace(string(key)), "HOME=/tmp")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("mayfly %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	address := client("new")
	mail := "From: a@b.test\r\nSubject: Your code\r\n\r\nYour code is 482913.\r\n"
	if err := smtp.SendMail(c.smtp, nil, "a@b.test", []string{address}, []byte(mail)); err != nil {
		t.Fatal(err, c.log())
	}
	stop()
	defer c.serve(t)()
	if code := client("wait", address, "--code"); code != "482913" {
		t.Errorf("after a restart the code is %q", code)
	}
	if info, err := os.Stat(filepath.Join(c.root, "data", "LOCK")); err != nil || info.Sys().(*syscall.Stat_t).Uid != user {
		t.Errorf("the store is not in /data, or not its user's: %v, %v", info, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkDockerfile holds the Dockerfile to the configuration made here.
func checkDockerfile(t *testing.T, config v1.Config) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	must(t, err)
	quoted := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	check := config.Healthcheck
	for _, line := range []string{
		"USER " + config.User,
		"STOPSIGNAL " + config.StopSignal,
		"VOLUME /data",
		"EXPOSE 2525 8425",
		"ENV " + strings.Join(config.Env, " "),
		"ENTRYPOINT " + quoted(config.Entrypoint),
		fmt.Sprintf("HEALTHCHECK --interval=%v --timeout=%v --start-period=%v CMD %s", check.Interval, check.Timeout, check.StartPeriod, quoted(check.Test[1:])),
	} {
		if !slices.Contains(strings.Split(string(text), "\n"), line) {
			t.Errorf("the Dockerfile has no line %q", line)
		}
	}
	for _, label := range []string{"title", "description", "licenses", "source"} {
		value := config.Labels["org.opencontainers.image."+label]
		if unquoted := strings.ReplaceAll(string(text), `"`, ""); value == "" || !strings.Contains(unquoted, "org.opencontainers.image."+label+"="+value) {
			t.Errorf("the Dockerfile does not give the label %s the value %q", label, value)
		}
	}
}

// container is an image that was unpacked.
type container struct {
	root       string // the root of its file system
	config     v1.Config
	emulator   []string // before each command line; none for an image for this machine
	http, smtp string
	out        string // the file of what the service says
}

func unpack(t *testing.T, image v1.Image, config *v1.ConfigFile) *container {
	t.Helper()
	c := &container{root: t.TempDir(), config: config.Config, out: filepath.Join(t.TempDir(), "log"), http: freeAddress(t), smtp: freeAddress(t)}
	for dir := c.root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	content := mutate.Extract(image)
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		name := filepath.Join(c.root, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.Mkdir(name, 0o700)
		} else {
			var b []byte
			if b, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(name, b, 0o600)
			}
		}
		must(t, errors.Join(err, os.Chown(name, header.Uid, header.Gid), os.Chmod(name, header.FileInfo().Mode())))
	}
	if config.Architecture == runtime.GOARCH {
		return c
	}
	name := map[string]string{"arm64": "qemu-aarch64-static", "amd64": "qemu-x86_64-static"}[config.Architecture]
	emulator, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s: apt-get install -y --no-install-recommends qemu-user-static", name)
	}
	b, err := os.ReadFile(emulator)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(c.root, name), b, 0o755))
	c.emulator = []string{"/" + name}
	return c
}

// command runs in the container as its user.
func (c *container) command(args ...string) *exec.Cmd {
	args = append(slices.Clone(c.emulator), args...)
	return &exec.Cmd{
		Path: args[0], Args: args, Dir: c.config.WorkingDir,
		Env: append(slices.Clone(c.config.Env), "MAYFLY_SERVE_HTTP="+c.http, "MAYFLY_SERVE_SMTP="+c.smtp),
		SysProcAttr: &syscall.SysProcAttr{
			Chroot: c.root, Credential: &syscall.Credential{Uid: user, Gid: user}, Pdeathsig: syscall.SIGKILL,
		},
	}
}

// serve starts the service and waits until its health check passes. The result ends the service as an
// engine does.
func (c *container) serve(t *testing.T) (stop func()) {
	t.Helper()
	out, err := os.Create(c.out)
	must(t, err)
	cmd := c.command(c.config.Entrypoint...)
	cmd.Stdout, cmd.Stderr = out, out
	must(t, cmd.Start())
	ctx, cancel := context.WithCancel(context.Background())
	var ended error
	go func() {
		ended = cmd.Wait()
		cancel()
	}()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ctx.Done()
		_ = out.Close()
		if ended != nil {
			t.Errorf("it ended with %v: %s", ended, c.log())
		}
	}
	for tries := 0; c.command(c.config.Healthcheck.Test[1:]...).Run() != nil; tries++ {
		select {
		case <-ctx.Done():
			t.Fatalf("it does not start: %v: %s", ended, c.log())
		case <-time.After(100 * time.Millisecond):
		}
		if tries == 300 {
			_ = cmd.Process.Kill()
			t.Fatalf("it does not become healthy: %s", c.log())
		}
	}
	return stop
}

func (c *container) log() string {
	b, _ := os.ReadFile(c.out)
	return string(b)
}

// program builds Mayfly for Linux.
func program(t *testing.T, architecture string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "mayfly-"+architecture)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", name, ".")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return name
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}
