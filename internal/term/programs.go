package term

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
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

// Opener is the program that opens a URL or a file.
type Opener struct {
	Name string
	// Run returns when the program exits, which may be when the user closes the browser; the error says how it failed.
	// The program is left running when this one ends or is suspended.
	Run func() error
}

// Opener returns the program that opens a URL or a file, which it gets as one argument; no shell sees it. The error
// is why nothing here can open it, such as "no display".
func (e Env) Opener(target string) (Opener, error) {
	command, err := e.opener(target)
	if err != nil {
		return Opener{}, err
	}
	name := filepath.Base(command[0])
	if !installed(command[0]) {
		return Opener{}, fmt.Errorf("%s is not installed", name)
	}
	return Opener{name, func() error {
		cmd := exec.Command(command[0], command[1:]...)
		Detach(cmd)
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s could not open it: %w", name, err)
		}
		return nil
	}}, nil
}

// opener is the command that opens target where the user sees it.
func (e Env) opener(target string) ([]string, error) {
	const handler = "url.dll,FileProtocolHandler"
	switch {
	case runtime.GOOS == "darwin" && !e.ssh():
		return []string{"open", target}, nil
	case runtime.GOOS == "windows" && !e.ssh():
		return []string{"rundll32", handler, target}, nil
	}
	if command := e.browser(target); command != nil {
		return command, nil
	}
	distribution := e.Getenv("WSL_DISTRO_NAME")
	switch {
	case e.ssh():
		return nil, errors.New("over SSH")
	case distribution != "" && installed("wslview"):
		return []string{"wslview", target}, nil
	case distribution != "" && installed("rundll32.exe"):
		if filepath.IsAbs(target) { // a file, as Windows sees it
			target = `\\wsl.localhost\` + distribution + strings.ReplaceAll(target, "/", `\`)
		}
		return []string{"rundll32.exe", handler, target}, nil
	case e.Getenv("DISPLAY") == "" && e.Getenv("WAYLAND_DISPLAY") == "" && e.Getenv("TERMUX_VERSION") == "":
		return nil, errors.New("no display")
	}
	return []string{"xdg-open", target}, nil
}

// browser is the first command in BROWSER that is installed, nil without one. The variable has
// commands separated by colons; %s in an argument stands for the target, which otherwise comes last.
func (e Env) browser(target string) []string {
	for _, listed := range filepath.SplitList(e.Getenv("BROWSER")) {
		command := strings.Fields(listed)
		if len(command) == 0 || !installed(command[0]) {
			continue
		}
		if !strings.Contains(listed, "%s") {
			return append(command, target)
		}
		for i, argument := range command {
			command[i] = strings.ReplaceAll(argument, "%s", target)
		}
		return command
	}
	return nil
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
