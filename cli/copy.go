package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"mayfly/internal/term"
)

// copy puts text on every clipboard there is and says which: the terminal's by OSC 52, which has no
// answer, and the system's.
func (a *app) copy(ctx context.Context, text string) string {
	var ways []string
	if w := a.terminalWriter(); w != nil {
		if _, err := io.WriteString(w, a.env.Environ.CopySequence(text)); err == nil {
			ways = append(ways, "OSC 52")
		}
	}
	names, err := a.env.Environ.Copy(ctx, text)
	switch ways = append(ways, names...); {
	case len(ways) > 0:
		return fmt.Sprintf("copied (%s)", strings.Join(ways, ", "))
	case err != nil:
		return "not copied: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return "not copied: there is neither a terminal nor a clipboard"
}

// terminalWriter returns stdout or stderr, whichever is a terminal, else nil.
func (a *app) terminalWriter() io.Writer {
	switch {
	case term.Is(a.env.Stdout):
		return a.env.Stdout
	case term.Is(a.env.Stderr):
		return a.env.Stderr
	}
	return nil
}
