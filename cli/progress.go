package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mayfly/term"
)

// progress shows on stderr, if that is a terminal, what is waited for and how much time is left. It
// shows nothing in the background, where it would get in the way of what the user types.
// The function it returns removes the line.
func (a *app) progress(ctx context.Context, what func() string) (stop func()) {
	if !term.Is(a.env.Stderr) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	show := func(line string) {
		if term.Foreground(a.env.Stderr) {
			fmt.Fprint(a.env.Stderr, "\r"+ansi.EraseLineRight+ansi.Truncate(line, columnsOf(a.env.Stderr)-1, "…"))
		}
	}
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(125 * time.Millisecond)
		defer tick.Stop()
		for frame := 0; ; frame++ {
			line := string([]rune(`⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏`)[frame%10]) + " " + what()
			if end, ok := ctx.Deadline(); ok {
				line += " · " + timeLeft(end)
			}
			show(line)
			select {
			case <-ctx.Done():
				show("")
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		drawing.Wait()
	})
}
