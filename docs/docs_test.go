package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the repository.
const root = ".."

func contributing(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources calls found with each file of Go, and the folder it is in.
func sources(t *testing.T, found func(dir, file string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			found(filepath.ToSlash(dir), path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheMapOfTheHouse holds the map in CONTRIBUTING.md to the folders that there are.
func TestTheMapOfTheHouse(t *testing.T) {
	var named, have []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z0-9/`, ]+`) \\| (.*)$").FindAllStringSubmatch(contributing(t), -1) {
		for _, folder := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(row[1], -1) {
			named = append(named, folder[1])
		}
		for _, folder := range regexp.MustCompile("`([a-z0-9]+/[a-z0-9/]+)`").FindAllStringSubmatch(row[2], -1) {
			named = append(named, folder[1])
		}
	}
	sources(t, func(dir, _ string) {
		if dir != "." && !slices.Contains(have, dir) {
			have = append(have, dir)
		}
	})
	for _, folder := range have {
		if !slices.Contains(named, folder) {
			t.Errorf("CONTRIBUTING.md does not say what %s is for", folder)
		}
	}
	for _, folder := range named {
		if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
			t.Errorf("CONTRIBUTING.md names what is not there: %v", err)
		}
	}
}

// TestTheGoldenCommand holds the command that writes golden files to the packages that have its flag.
func TestTheGoldenCommand(t *testing.T) {
	command := regexp.MustCompile(`(?m)^ +go test ([./a-z ]+) -update`).FindStringSubmatch(contributing(t))
	if command == nil {
		t.Fatal("CONTRIBUTING.md has no command that writes golden files")
	}
	var have []string
	sources(t, func(dir, file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `flag.Bool("`+`update"`) {
			have = append(have, "./"+dir)
		}
	})
	slices.Sort(have)
	if want := strings.Join(have, " "); command[1] != want {
		t.Errorf("CONTRIBUTING.md writes golden files in %s; the packages with the flag are %s", command[1], want)
	}
}

// TestMonitoringNamesMetrics holds what packaging/monitoring asks for to the metrics that operations.md names.
func TestMonitoringNamesMetrics(t *testing.T) {
	page, err := Pages.ReadFile("operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		text, err := os.ReadFile(filepath.Join(root, "packaging", "monitoring", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`mayfly_[a-z_]+`).FindAllString(string(text), -1) {
			if name = strings.TrimSuffix(name, "_bucket"); !strings.Contains(string(page), "`"+name) {
				t.Errorf("%s asks for %s, which operations.md does not have", file, name)
			}
		}
	}
}
