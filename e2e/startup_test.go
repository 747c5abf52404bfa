//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/creack/pty"
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

// BenchmarkHelp runs `mayfly --help`: what every run costs before it does anything.
func BenchmarkHelp(b *testing.B) {
	m := newMachine(b)
	for b.Loop() {
		m.mustRun("--help")
	}
}

// BenchmarkFirstFrame measures from the start of the application to its first frame, on a machine
// without a store.
func BenchmarkFirstFrame(b *testing.B) {
	m := newMachine(b)
	buffer := make([]byte, 32<<10)
	for b.Loop() {
		cmd := m.command()
		cmd.Env = append(cmd.Env, "TERM=xterm-256color")
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 30})
		must(b, err)
		var shown strings.Builder
		for !strings.Contains(shown.String(), "Inboxes") {
			n, err := tty.Read(buffer)
			must(b, err)
			shown.Write(buffer[:n])
		}
		b.StopTimer()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		_ = tty.Close()
		b.StartTimer()
	}
}
