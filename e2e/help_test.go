//go:build unix

package e2e

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// TestHelpInATerminal checks that the help fits the terminal, leaves colours to terminals that have
// them, and asks the terminal for nothing.
func TestHelpInATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, columns := range []uint16{40, 80, 120} {
		for environment, coloured := range map[string]bool{"TERM=xterm-256color": true, "TERM=dumb": false, "TERM=xterm NO_COLOR=1": false} {
			cmd := m.command("serve", "--help")
			cmd.Env = append(cmd.Env, strings.Fields(environment)...)
			tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: 30})
			must(t, err)
			out, _ := io.ReadAll(tty) // it ends with an error when the program does
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			_ = tty.Close()
			raw := string(out)
			if strings.Contains(raw, "\x1b[3") != coloured || strings.Contains(raw, "\x1b]") || strings.Contains(raw, "\x1b[c") {
				t.Errorf("%s: %q", environment, raw)
			}
			for line := range strings.Lines(ansi.Strip(raw)) {
				if ansi.StringWidth(strings.TrimRight(line, "\r\n")) > int(columns) {
					t.Errorf("%d columns: %q", columns, line)
				}
			}
			if !strings.Contains(raw, "LIMITS OF SMTP") || !strings.Contains(raw, "LEARN MORE") {
				t.Errorf("%d columns: %q", columns, raw)
			}
		}
	}
}
