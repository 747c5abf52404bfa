package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/atotto/clipboard"
	"github.com/aymanbagabas/go-osc52/v2"
)

// copy puts text on the clipboard by every way there is, and says by which: the terminal is told with OSC 52, which has
// no answer, and the system's clipboard is written.
func (a *app) copy(ctx context.Context, text string) string {
	var ways []string
	if w := a.terminalWriter(); w != nil {
		sequence := osc52.New(text)
		switch {
		case a.env.Getenv("TMUX") != "":
			sequence = sequence.Tmux()
		case strings.HasPrefix(a.env.Getenv("TERM"), "screen"):
			sequence = sequence.Screen()
		}
		if _, err := sequence.WriteTo(w); err == nil {
			ways = append(ways, "OSC 52")
		}
	}
	if a.nativeClipboard() && nativeCopy(ctx, text) {
		ways = append(ways, "system clipboard")
	}
	if len(ways) == 0 {
		return "not copied: there is neither a terminal nor a clipboard"
	}
	return fmt.Sprintf("copied (%s)", strings.Join(ways, ", "))
}

// terminalWriter is what leads to the terminal, nil without one.
func (a *app) terminalWriter() io.Writer {
	switch {
	case isTerminal(a.env.Stdout):
		return a.env.Stdout
	case isTerminal(a.env.Stderr):
		return a.env.Stderr
	}
	return nil
}

// nativeClipboard reports a system's clipboard that can be reached: where X11 or Wayland keeps it, there must be a display.
func (a *app) nativeClipboard() bool {
	if runtime.GOOS == "linux" && a.env.Getenv("DISPLAY")+a.env.Getenv("WAYLAND_DISPLAY")+a.env.Getenv("TERMUX_VERSION")+a.env.Getenv("WSL_DISTRO_NAME") == "" {
		return false
	}
	return !clipboard.Unsupported
}

// nativeCopy writes the system's clipboard; a clipboard that does not answer is given up.
func nativeCopy(ctx context.Context, text string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- clipboard.WriteAll(text) }()
	select {
	case err := <-done:
		return err == nil
	case <-ctx.Done():
		return false
	}
}
