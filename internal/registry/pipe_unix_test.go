//go:build !windows

package registry_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mayfly/internal/registry"
)

// TestPutReadsNoOtherInbox: the file of another inbox is a pipe, which nobody finishes reading.
func TestPutReadsNoOtherInbox(t *testing.T) {
	dir := t.TempDir()
	r := registry.Open(dir, "default", base)
	must(t, r.Put(inbox("a")))
	pipe := filepath.Join(filepath.Dir(files(t, dir)[0]), "another.json")
	must(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan error, 1)
	go func() { done <- registry.Open(dir, "default", base).Put(inbox("b")) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it is read")
	}
}
