//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A store that does not read well is refused in one line that says what to do, as often as it is
// started. One with a table that cannot be read ends, and says that, too.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	damaged := func(pattern string, change func(name string) error) (store string) {
		store = filepath.Join(m.home, strings.Trim(pattern, "*."))
		for range 2 { // the second time it writes a table
			m.key(store, "dev")
		}
		files, err := filepath.Glob(filepath.Join(store, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %q, %v", store, files, err)
		}
		must(t, change(slices.Max(files)))
		return store
	}
	for want, store := range map[string]string{
		"marker.manifest.* is missing": damaged("marker.manifest.*", os.Remove),
		"invalid table": damaged("*.sst", func(name string) error {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b[len(b)-9] ^= 0xff
			return os.WriteFile(name, b, 0o600)
		}),
	} {
		for range 2 {
			_, stderr, status := m.run("serve", "--store", store, "--domains", "x.test", "--smtp", "127.0.0.1:0", "--http", "127.0.0.1:0")
			if status != 1 || !strings.Contains(stderr, want) || !strings.HasSuffix(stderr, "restore a backup, or name a new folder\n") {
				t.Errorf("serve: status %d: %s", status, stderr)
			}
		}
	}
}
