package term

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// copyTimeout is how long a clipboard may take to accept text.
const copyTimeout = 2 * time.Second

// CopySequence returns the sequence that asks the terminal to put text on its clipboard (OSC 52).
// Terminals do not say whether they did.
func (e Env) CopySequence(text string) string { return e.passthrough(ansi.SetSystemClipboard(text)) }

// destination is a clipboard that is not the terminal's.
type destination struct {
	name string
	copy func(ctx context.Context, text string) error
}

// destinations returns the clipboards that can be reached: inside tmux its buffer, which tmux passes on
// to the terminal it runs in, and the system's unless the user is at another machine.
func (e Env) destinations() []destination {
	var all []destination
	if e.tmux() {
		all = append(all, destination{"tmux", helper("tmux", "load-buffer", "-w", "-")})
	}
	if copy := e.systemClipboard(); copy != nil && !e.ssh() {
		all = append(all, destination{"system clipboard", copy})
	}
	return all
}

// Clipboards names the clipboards that Copy reaches: "tmux", "system clipboard".
func (e Env) Clipboards() []string {
	var names []string
	for _, d := range e.destinations() {
		names = append(names, d.name)
	}
	return names
}

// Copy puts text into every clipboard that can be reached, within two seconds, and names those that
// took it. The error says why others did not. Without any clipboard there is neither.
func (e Env) Copy(ctx context.Context, text string) (names []string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, copyTimeout, errors.New("it does not answer"))
	defer cancel()
	all := e.destinations()
	errs := make([]error, len(all))
	var copying sync.WaitGroup
	for i, d := range all {
		copying.Go(func() { errs[i] = d.copy(ctx, text) })
	}
	copying.Wait()
	for i, d := range all {
		if errs[i] == nil {
			names = append(names, d.name)
		}
	}
	return names, errors.Join(errs...)
}

// helper returns a function that hands text to a program, which is killed when it takes too long.
func helper(name string, args ...string) func(context.Context, string) error {
	return func(ctx context.Context, text string) error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Stdin = strings.NewReader(text)
		Detach(cmd)                            // it may stay to serve what was copied
		cmd.WaitDelay = 100 * time.Millisecond // what it started may keep the pipe open
		err := cmd.Run()
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("copying with %s: %w", name, err)
		}
		return nil
	}
}
