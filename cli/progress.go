package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/term"
	"mayfly/render"
)

// progress shows on stderr, if that is a terminal that can erase a line, what is waited for and how
// much time is left. It shows nothing in the background, where it would get in the way of what the
// user types. The function it returns removes the line.
func (a *app) progress(ctx context.Context, what func() string) (stop func()) {
	if !term.Is(a.env.Stderr) || a.env.Environ.Dumb() {
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

// slowAnswer is how long the user waits for an answer before they are told. An attempt may take 30 s, and
// there are four.
const slowAnswer = 6 * time.Second

// slowWarner tells the user of each request that is not answered soon, except long polls.
type slowWarner struct {
	http.RoundTripper
	terminal io.Writer
}

func (w slowWarner) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Prefer") == "" {
		defer time.AfterFunc(slowAnswer, func() {
			fmt.Fprintf(w.terminal, "\r%smayfly: %s does not answer; still trying, ctrl+c stops\n", ansi.EraseLineRight, render.Clean(r.URL.Host))
		}).Stop()
	}
	return w.RoundTripper.RoundTrip(r)
}
