package render_test

import (
	"testing"

	"mayfly/render"
)

// TestCleanDirection: words that are written backwards are shown as they are read. The name of a file
// is not: its ending would look like another.
func TestCleanDirection(t *testing.T) {
	const s = "invoice\u202efdp.exe"
	if got := render.Clean(s); got != "invoiceexe.pdf" {
		t.Errorf("Clean: %q", got)
	}
	if got := render.CleanWhole(s); got != "invoiceexe.pdf" {
		t.Errorf("CleanWhole: %q", got)
	}
	if got := render.CleanName(s); got != "invoicefdp.exe" {
		t.Errorf("CleanName: %q", got)
	}
}
