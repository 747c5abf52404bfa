//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store without its marker does not start empty: it is refused, checked and repaired.
func TestDamagedStoreIsRepaired(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store, repaired := filepath.Join(m.home, "store"), filepath.Join(m.home, "repaired")
	m.mustRun("admin", "key", "create", "--plan", "dev", "--name", "kept", "--store", store)
	if got := m.mustRun("admin", "store", "check", store); got != "whole: 1 key, 0 inboxes, 0 messages" {
		t.Errorf("of a whole store: %q", got)
	}
	markers, err := filepath.Glob(filepath.Join(store, "marker.manifest.*"))
	if err != nil || len(markers) != 1 {
		t.Fatalf("markers are %q, %v", markers, err)
	}
	if err := os.Remove(markers[0]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, stderr, status := m.run("serve", "--store", store, "--domains", "x.test", "--smtp", "127.0.0.1:0", "--http", "127.0.0.1:0")
		if status == 0 || !strings.Contains(stderr, "marker.manifest.* is missing") || !strings.Contains(stderr, "mayfly admin store repair "+store) {
			t.Errorf("serve: status %d: %s", status, stderr)
		}
	}
	if stdout, stderr, status := m.run("admin", "store", "check", store); status != 1 ||
		stdout != "marker.manifest.* is missing\nwhole: 1 key, 0 inboxes, 0 messages\n" || !strings.Contains(stderr, "repair") {
		t.Errorf("check: status %d: %s%s", status, stdout, stderr)
	}
	m.mustRun("admin", "store", "repair", store, "--to", repaired)
	if got := m.mustRun("admin", "key", "list", "--store", repaired); !strings.Contains(got, "kept") {
		t.Errorf("the repaired store has the keys %q", got)
	}
	if _, _, status := m.run("admin", "store", "repair", store, "--to", repaired); status == 0 {
		t.Error("a second repair overwrote the first")
	}
	if _, _, status := m.run("admin", "store", "check", filepath.Join(m.home, "nowhere")); status == 0 {
		t.Error("a folder that does not exist is whole")
	}
}
