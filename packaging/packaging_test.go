//go:build linux

// Package packaging tests a release that packaging/release made.
package packaging

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"mayfly/internal/fortest"
)

// dist returns the folder of the release to test.
func dist(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MAYFLY_DIST")
	if dir == "" {
		t.Skip("needs a release: run `packaging/release --snapshot`, and set MAYFLY_DIST to the folder dist it makes")
	}
	return dir
}

// one returns the one file of the release that matches a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has %q for %s, %v", found, pattern, err)
	}
	return found[0]
}

var must = fortest.Must

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			t.Fatalf("%s %q: %v\n%s", name, args, err, failed.Stderr)
		}
		t.Fatal(err)
	}
	return out
}

// The packages of all formats have the same files with the same modes.
func TestContents(t *testing.T) {
	for _, arch := range [][4]string{{"amd64", "x86_64", "x86_64", "x86_64"}, {"arm64", "aarch64", "aarch64", "aarch64"}} {
		deb := tarFiles(t, bytes.NewReader(output(t, "dpkg-deb", "--fsys-tarfile", one(t, "*_"+arch[0]+".deb"))))
		if len(deb) < 50 || deb["/usr/bin/mayfly"] != 0o755 || deb["/etc/mayfly/serve.toml"] != 0o640 || deb["/usr/share/doc/mayfly/docs/guides/rails.md"] != 0o644 {
			t.Errorf("the deb for %s has %v", arch[0], deb)
		}
		const debian, others = "/usr/share/zsh/vendor-completions/_mayfly", "/usr/share/zsh/site-functions/_mayfly"
		want := deb
		want[others] = deb[debian]
		delete(want, debian)
		t.Run("apk "+arch[0], func(t *testing.T) { compare(t, apkFiles(t, one(t, "*_"+arch[1]+".apk")), want) })
		t.Run("Arch "+arch[0], func(t *testing.T) { compare(t, archFiles(t, one(t, "*-"+arch[2]+".pkg.tar.zst")), want) })
		t.Run("rpm "+arch[0], func(t *testing.T) {
			if _, err := exec.LookPath("rpm"); err != nil {
				t.Skip("needs the package rpm")
			}
			file := one(t, "*."+arch[3]+".rpm")
			compare(t, rpmFiles(t, file), want)
			if got := string(output(t, "rpm", "-qp", "--nosignature", "--configfiles", file)); got != "/etc/mayfly/serve.toml\n" {
				t.Errorf("its configuration is %q", got)
			}
		})
	}
}

func compare(t *testing.T, got, want map[string]fs.FileMode) {
	t.Helper()
	for name, mode := range want {
		if got[name] != mode {
			t.Errorf("%s has mode %o, in the deb %o", name, got[name], mode)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not in the deb", name)
		}
	}
}

// tarFiles returns the modes of the files in a tar file, by path from the root.
func tarFiles(t *testing.T, r io.Reader) map[string]fs.FileMode {
	t.Helper()
	files := map[string]fs.FileMode{}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		name := path.Join("/", header.Name)
		if header.Typeflag == tar.TypeReg && !strings.HasPrefix(name, "/.") { // with a dot: about the package
			files[name] = header.FileInfo().Mode().Perm()
		}
	}
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// apkFiles reads an apk: tar files without an end, each in a gzip stream of its own.
func apkFiles(t *testing.T, name string) map[string]fs.FileMode {
	t.Helper()
	r, err := gzip.NewReader(open(t, name))
	must(t, err)
	return tarFiles(t, r)
}

func archFiles(t *testing.T, name string) map[string]fs.FileMode {
	t.Helper()
	r, err := zstd.NewReader(open(t, name))
	must(t, err)
	defer r.Close()
	return tarFiles(t, r)
}

func rpmFiles(t *testing.T, name string) map[string]fs.FileMode {
	t.Helper()
	files := map[string]fs.FileMode{}
	for line := range strings.Lines(string(output(t, "rpm", "-qp", "--nosignature", "--qf", `[%{FILEMODES:octal} %{FILENAMES}\n]`, name))) {
		var mode fs.FileMode
		var file string
		if _, err := fmt.Sscanf(line, "%o %s", &mode, &file); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if mode&0o170000 == 0o100000 { // a regular file
			files[file] = mode & 0o777
		}
	}
	return files
}

// A deb is installed, used, upgraded, removed and purged in a copy of this machine that is thrown away, once
// with the user made by systemd-sysusers, and once without systemd.
func TestLifecycle(t *testing.T) {
	deb := one(t, "*_"+runtime.GOARCH+".deb")
	if os.Getuid() != 0 {
		t.Skip("needs root, for a file system of its own")
	}
	for _, user := range []string{"systemd-sysusers", "useradd"} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			// The changes are kept in memory, and end with the last process.
			const enclose = `set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount -t tmpfs tmpfs "$1/root/tmp"
mount --bind /dev "$1/root/dev"
mount -t proc proc "$1/root/proc"
cp "$2" "$1/root/tmp/mayfly.deb"
cp testdata/lifecycle.sh "$1/root/tmp/"
exec chroot "$1/root" bash /tmp/lifecycle.sh /tmp/mayfly.deb "$3"`
			out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child",
				"sh", "-c", enclose, "sh", t.TempDir(), deb, user).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// What other package managers read names the archives of the release by their checksums.
func TestManifests(t *testing.T) {
	sums, err := os.ReadFile(one(t, "checksums.txt"))
	must(t, err)
	for name, archives := range map[string]int{"mayfly.rb": 4, "mayfly.json": 2, "PKGBUILD": 2, "SRCINFO": 2, "mayfly.nix": 4, "install.sh": 4} {
		text, err := os.ReadFile(filepath.Join(dist(t), name))
		must(t, err)
		if left := regexp.MustCompile(`@[A-Z][^@\n]*@`).FindAllString(string(text), -1); left != nil {
			t.Errorf("%s still has %q", name, left)
		}
		found := regexp.MustCompile(`\b[0-9a-f]{64}\b`).FindAllString(string(text), -1)
		if slices.Sort(found); len(slices.Compact(found)) != archives {
			t.Errorf("%s has the checksums %q", name, found)
		}
		for _, sum := range found {
			if !regexp.MustCompile(`(?m)^` + sum + `  mayfly_\S+\.(tar\.gz|zip)$`).Match(sums) {
				t.Errorf("%s has a checksum %s of no archive", name, sum)
			}
		}
		if name == "mayfly.json" && !json.Valid(text) {
			t.Errorf("%s is no JSON", name)
		}
	}
	output(t, "bash", "-n", filepath.Join(dist(t), "PKGBUILD"))
	output(t, "sh", "-n", filepath.Join(dist(t), "install.sh"))
}

// The archive for this machine has the program, which names the commit, and its SBOM has the modules.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	output(t, "tar", "-xzf", one(t, "mayfly_linux_"+runtime.GOARCH+".tar.gz"), "-C", dir, "--strip-components=1")
	var built struct{ Version, Commit, Date string }
	must(t, json.Unmarshal(output(t, filepath.Join(dir, "mayfly"), "version", "--json"), &built))
	if head := strings.TrimSpace(string(output(t, "git", "rev-parse", "HEAD"))); built.Commit != head || built.Date == "" || built.Version == "" {
		t.Errorf("%+v, built from %s", built, head)
	}
	var bom struct {
		Components []struct{ Name, Version string }
	}
	text, err := os.ReadFile(one(t, "mayfly_linux_"+runtime.GOARCH+".cdx.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &bom))
	modules := map[string]string{}
	for _, c := range bom.Components {
		modules[c.Name] = c.Version
	}
	lines := strings.Split(string(output(t, "go", "version", "-m", filepath.Join(dir, "mayfly"))), "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "dep" {
			continue
		}
		if with := strings.Fields(lines[i+1]); len(with) > 2 && with[0] == "=>" { // what it is replaced with
			fields = with
		}
		if found := modules[fields[1]]; found != fields[2] {
			t.Errorf("the SBOM has %s %s, the program %s", fields[1], found, fields[2])
		}
	}
}
