package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Programs returns the folder of PostgreSQL's programs: that of the pg_ctl in PATH, or else of the
// newest version where Debian installs them. If there is none, the test is skipped.
func Programs(t testing.TB) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Skipf("needs PostgreSQL (%v): install it, on Debian with apt-get install postgresql", err)
	}
	return dir
}

var programs = sync.OnceValues(func() (string, error) {
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { // a longer path has a larger version
		return 2*(len(b)-len(a)) + strings.Compare(b, a)
	})
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = slices.Insert(folders, 0, filepath.Dir(path))
		}
	}
	for _, dir := range folders {
		if complete(dir) {
			_, err := owner()
			return dir, err
		}
	}
	return "", errors.New("there is no pg_ctl")
})

func complete(dir string) bool {
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
