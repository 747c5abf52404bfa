//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The ballast is of no use to the packages that are initialised before it.
func TestBallastComesFirst(t *testing.T) {
	t.Parallel()
	_, trace, _ := newMachine(t).with("GODEBUG=inittrace=1").run("--version")
	allocated := 0
	for line := range strings.Lines(trace) {
		var name string
		var at, took float64
		var bytes int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &bytes); err != nil {
			continue
		}
		if strings.HasSuffix(name, "/ballast") {
			if allocated > 500_000 {
				t.Errorf("the packages before the ballast allocate %d bytes", allocated)
			}
			return
		}
		allocated += bytes
	}
	t.Errorf("no ballast among what is initialised:\n%s", trace)
}
