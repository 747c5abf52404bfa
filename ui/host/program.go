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
	"slices"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/message"
	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/ui/store"
)

const (
	maxOutput  = 1 << 20         // bytes of a program's output that are kept
	endTimeout = 2 * time.Second // how long a program may take to end when it has to
)

// Program is a line for the shell. Nothing from a message may be part of the line: it belongs in the
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

// Run runs a program without the terminal, and returns up to 1 MiB of its output. It may leave others running.
func Run(ctx context.Context, p Program) (output []byte, err error) {
	cmd := p.command(ctx)
	term.Detach(cmd)
	var written limited
	cmd.Stdout, cmd.Stderr = &written, &written
	cmd.WaitDelay = 100 * time.Millisecond // what it left running may keep its output open
	err = run(cmd)
	return written.Bytes(), err
}

// run runs a command. It does not fail if it left something running that holds its input or output.
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

// RunInTerminal gives a program the terminal until it ends. With pause, what it wrote stays on the screen
// until a key is pressed. The message of then follows.
func (h *Host) RunInTerminal(ctx context.Context, p Program, pause bool, then func(err error) tea.Msg) tea.Cmd {
	return tea.Exec(&onTerminal{ctx, p, pause, h.ReleaseTerminal}, then)
}

// onTerminal is a program with the terminal; [tea.ExecProcess] would leave no room for the pause and the file.
type onTerminal struct {
	ctx     context.Context
	p       Program
	pause   bool
	release func() (back func())
}

// SetStdin and the others do nothing: the program gets the terminal itself.
func (*onTerminal) SetStdin(io.Reader)  {}
func (*onTerminal) SetStdout(io.Writer) {}
func (*onTerminal) SetStderr(io.Writer) {}

func (l *onTerminal) Run() error {
	defer l.release()()
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

// Suspend gives the terminal to the shell until that continues this program. [tea.Suspend] never returns where no shell would.
func Suspend() tea.Msg { return tea.Exec(&suspended{}, nil)() }

type suspended struct{ onTerminal }

func (*suspended) Run() error { term.Suspend(); return nil }

// command returns the program as a command that has the terminal, and what to do when it has ended.
// ctrl+c reaches the shell too, which must not end before the program that it waits for.
func (l *onTerminal) command() (_ *exec.Cmd, done func(), err error) {
	p := l.p
	if p.File == "" {
		if runtime.GOOS != "windows" {
			p.Line = "trap 'exit 130' INT; " + p.Line
		}
		return p.command(l.ctx), func() {}, nil
	}
	dir, err := os.MkdirTemp("", "mayfly-edit-") // mode 0700
	if err != nil {
		return nil, nil, fmt.Errorf("creating a directory for the message: %w", err)
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

// waitForKey says how the program exited, and waits for a key.
func (l *onTerminal) waitForKey(ended error) {
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

// Part is what of a message goes to a program.
type Part struct {
	Title   string
	File    string // its name as a file
	Content []byte
	Reason  string // why the message does not have it, "" if it does
}

// PartsOf returns the parts of a message, the one that a view shows first.
func PartsOf(m *message.Message, v render.View) []Part {
	text := Part{Title: "Text", File: "message.txt", Content: []byte(m.PlainText() + "\n")}
	html := Part{Title: "HTML source", File: "message.html", Content: []byte(m.HTML)}
	raw := Part{Title: "Raw message", File: "message.eml", Content: m.Raw}
	if m.HTML == "" {
		html.Reason = "This message has no HTML"
	}
	if m.Raw == nil {
		raw.Reason = "The service does not provide raw messages"
	}
	switch v {
	case render.HTML:
		return []Part{html, text, raw}
	case render.Headers, render.Raw:
		return []Part{raw, text, html}
	}
	return []Part{text, html, raw}
}

// FirstPart is the first part that a message has.
func FirstPart(parts []Part) Part {
	return parts[slices.IndexFunc(parts, func(p Part) bool { return p.Reason == "" })]
}

// The variables in the environment of a program.
const (
	CodeVariable    = "MAYFLY_CODE"
	LinkVariable    = "MAYFLY_LINK"
	AddressVariable = "MAYFLY_ADDRESS" // of the inbox
	SubjectVariable = "MAYFLY_SUBJECT"
	FromVariable    = "MAYFLY_FROM" // the address of the sender
)

// maxValue is how long a value may be, in bytes: systems start no program with one of 128 KiB.
const maxValue = 32 << 10

// Variables are what a program is told of a message. A value that is too long is left empty.
func Variables(m *message.Message, address string) []string {
	found := store.Find(m)
	var environ []string
	for _, v := range [][2]string{
		{CodeVariable, found.Code}, {LinkVariable, found.Link.URL}, {AddressVariable, address},
		{SubjectVariable, render.Clean(m.Subject)}, {FromVariable, render.Clean(m.From.Addr)},
	} {
		if len(v[1]) > maxValue || strings.Contains(v[1], "\x00") {
			v[1] = ""
		}
		environ = append(environ, v[0]+"="+v[1])
	}
	return environ
}
