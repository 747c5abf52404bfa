package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/term"
)

const (
	maxOutput  = 1 << 20         // bytes of a program's output that are kept
	endTimeout = 2 * time.Second // how long a program may take to end when it has to
)

// Program is a line for the shell. Nothing from a mail may be part of the line: it belongs in the
// environment or the input.
type Program struct {
	Line    string
	Environ []string // added to the environment, as NAME=value
	Input   []byte
	// File, if set, is the name under which a program that has the terminal gets its input as a file,
	// by its path as the last argument. The file is for reading only, and removed afterwards.
	File string
}

// command returns the program as a command. Arguments are added to its line.
func (p Program) command(ctx context.Context, arguments ...string) *exec.Cmd {
	var cmd *exec.Cmd
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, "cmd", append([]string{"/C", p.Line}, arguments...)...)
	} else {
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", p.Line, "sh"}, arguments...)...)
	}
	cmd.Env = append(os.Environ(), p.Environ...)
	cmd.Stdin = bytes.NewReader(p.Input)
	return cmd
}

// Run runs a program without the terminal, and returns what it wrote, up to 1 MiB. What it leaves
// running in the background stays.
func Run(ctx context.Context, p Program) (output []byte, err error) {
	cmd := p.command(ctx)
	term.Detach(cmd)
	var written limited
	cmd.Stdout, cmd.Stderr = &written, &written
	cmd.WaitDelay = 100 * time.Millisecond // what it left running may keep its output open
	err = run(cmd)
	return written.Bytes(), err
}

// run runs a command. That it left something running which has its input or output is no failure.
func run(cmd *exec.Cmd) error {
	if err := cmd.Run(); !errors.Is(err, exec.ErrWaitDelay) {
		return err
	}
	return nil
}

// limited keeps the first maxOutput bytes written.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, maxOutput-l.Len()))])
	return len(p), nil
}

// Lend gives a program the terminal until it ends. With pause, what it wrote stays on the screen
// until a key is pressed. The message of then follows.
func (h *Host) Lend(ctx context.Context, p Program, pause bool, then func(err error) tea.Msg) tea.Cmd {
	return tea.Exec(&lent{ctx, p, pause, h.LendTerminal}, then)
}

// lent is a program that has the terminal.
type lent struct {
	ctx   context.Context
	p     Program
	pause bool
	lend  func() (back func())
}

// SetStdin and the others do nothing: the program gets the terminal itself.
func (*lent) SetStdin(io.Reader)  {}
func (*lent) SetStdout(io.Writer) {}
func (*lent) SetStderr(io.Writer) {}

func (l *lent) Run() error {
	defer l.lend()()
	cmd, done, err := l.command()
	if err != nil {
		return err
	}
	defer done()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTimeout
	err = run(cmd)
	if l.pause && l.ctx.Err() == nil {
		l.waitForKey(err)
	}
	return err
}

// command returns the program as a command that has the terminal, and what to do when it has ended.
// ctrl+c reaches the shell too, which must not end before the program that it waits for.
func (l *lent) command() (_ *exec.Cmd, done func(), err error) {
	p := l.p
	if p.File == "" {
		if runtime.GOOS != "windows" {
			p.Line = "trap 'exit 130' INT; " + p.Line
		}
		return p.command(l.ctx), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "mayfly-edit-") // mode 0700
	if err != nil {
		return nil, nil, fmt.Errorf("making a folder for the message: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) } // at worst a file that only the user can read stays
	path := filepath.Join(dir, p.File)
	if err := os.WriteFile(path, p.Input, 0o400); err != nil {
		done()
		return nil, nil, fmt.Errorf("writing the message to a file: %w", err)
	}
	if runtime.GOOS != "windows" {
		p.Line = "trap : INT; " + p.Line + ` "$1"`
	}
	cmd := p.command(l.ctx, path)
	cmd.Stdin = os.Stdin
	return cmd, done, nil
}

// waitForKey says how the program ended, and waits for a key.
func (l *lent) waitForKey(ended error) {
	keys, err := term.Raw(l.ctx, os.Stdin) // before the keys are asked for
	if err != nil {
		return
	}
	defer keys.Close() // nothing is left to do about a terminal that refuses
	text := "press a key to return"
	if ended != nil {
		text = ended.Error() + "; " + text
	}
	fmt.Printf("\r\n[%s]", text)
	_, _ = keys.Read(make([]byte, 64)) // at its end there is nobody to wait for
}
