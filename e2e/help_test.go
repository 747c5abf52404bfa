//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The help fits the terminal, leaves colours to terminals that have them, and asks the terminal for nothing.
func TestHelpInATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for environment, coloured := range map[string]bool{"TERM=xterm-256color": true, "TERM=dumb": false, "TERM=xterm NO_COLOR=1": false} {
		for _, columns := range []uint16{40, 120} {
			s := startInTerminalOf(t, columns, m.command("serve", "--help"), strings.Fields(environment)...)
			s.exitStatus()
			raw := s.output()
			if strings.Contains(raw, "\x1b[3") != coloured || strings.Contains(raw, "\x1b]") || strings.Contains(raw, "\x1b[c") {
				t.Errorf("%s: %q", environment, raw)
			}
			widest := 0
			for line := range strings.Lines(ansi.Strip(raw)) {
				widest = max(widest, ansi.StringWidth(strings.TrimRight(line, "\r\n")))
			}
			if widest > int(columns) || widest < int(columns)*3/4 || !strings.Contains(raw, "SMTP LIMITS") || !strings.Contains(raw, "LEARN MORE") {
				t.Errorf("%d columns, %d wide: %q", columns, widest, raw)
			}
		}
	}
}
