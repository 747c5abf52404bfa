package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"mayfly/internal/term"
)

// page calls write with a writer to $PAGER if stdout is a terminal, else to stdout. Quitting the
// pager early is no error.
func (a *app) page(ctx context.Context, write func(io.Writer) error) error {
	command := a.pagerCommand()
	if len(command) == 0 {
		return write(a.env.Stdout)
	}
	cmd := a.pager(ctx, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the pager: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return write(a.env.Stdout)
	}
	err = write(in)
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	if werr := cmd.Wait(); err == nil && werr != nil && ctx.Err() == nil {
		err = fmt.Errorf("the pager %s: %w", command[0], werr)
	}
	return err
}

func (a *app) pager(ctx context.Context, command []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = a.env.Stdout, a.env.Stderr
	cmd.Env = slices.Clone(a.env.Environ)
	if a.env.Getenv("LESS") == "" {
		// Quit if it fits on one screen, keep colours, leave the text on the screen.
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	return cmd
}

// pagerCommand returns $PAGER, by default less, and nothing without that program or a terminal, which
// a pager needs to be in the foreground of.
func (a *app) pagerCommand() []string {
	if !term.Foreground(a.env.Stdout) || !term.Foreground(a.env.Stdin) || a.env.Getenv("TERM") == "dumb" {
		return nil
	}
	command := strings.Fields(a.env.Getenv("PAGER"))
	if len(command) == 0 {
		command = []string{"less"}
	}
	if _, err := exec.LookPath(command[0]); err != nil || command[0] == "cat" {
		return nil
	}
	return command
}
