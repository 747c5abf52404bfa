package term

import (
	"context"
	"errors"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// descriptor returns the file descriptor of the terminal that stream is.
func descriptor(stream any) (fd int, ok bool) {
	f, ok := stream.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// Remote is a stream that is a terminal elsewhere, such as that of a client of SSH.
type Remote interface{ TerminalSize() Size }

// RemoteKeys is a Remote that can be read as [Raw] reads a terminal.
type RemoteKeys interface {
	RawKeys(ctx context.Context) io.ReadCloser
}

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	if _, ok := stream.(Remote); ok {
		return true
	}
	_, ok := descriptor(stream)
	return ok
}

// Foreground reports whether stream is a terminal on which this process is in the foreground. In the
// background, the kernel stops a process that reads from the terminal or changes its settings, and
// what is drawn gets in the way of what is in the foreground.
func Foreground(stream any) bool {
	if _, ok := stream.(Remote); ok {
		return true
	}
	fd, ok := descriptor(stream)
	if !ok {
		return false
	}
	is, _ := foreground(fd)
	return is
}

// AwaitForeground waits until this process is in the foreground of the terminal that stream is: in the
// background, the kernel stops it until the shell's fg. Settings that are read before are those that
// the shell needs for its own line, not those to go back to.
func AwaitForeground(stream any) error {
	if fd, ok := descriptor(stream); ok {
		if _, background := foreground(fd); background {
			return drain(fd)
		}
	}
	return nil
}

// Size is the size of a terminal. What it does not tell is zero.
type Size struct {
	Columns, Rows         int
	CellWidth, CellHeight int // of one cell, in pixels
}

// SizeOf returns the size of the terminal that stream is, the zero Size when it is none.
func SizeOf(stream any) Size {
	if r, ok := stream.(Remote); ok {
		return r.TerminalSize()
	}
	fd, ok := descriptor(stream)
	if !ok {
		return Size{}
	}
	return size(fd)
}

// Raw hands over the keys of the terminal that in is as they are typed: nothing is echoed, and ctrl+c
// is a key. Reading fails when ctx ends. Close gives the terminal its settings back, unless another
// program is in the foreground by then.
//
// In the background, Raw stops this process until it is in the foreground: see [AwaitForeground].
func Raw(ctx context.Context, in io.Reader) (io.ReadCloser, error) {
	if r, ok := in.(RemoteKeys); ok {
		return r.RawKeys(ctx), nil
	}
	fd, ok := descriptor(in)
	if !ok {
		return nil, errors.New("there is no terminal to read keys from")
	}
	if err := AwaitForeground(in); err != nil {
		return nil, err
	}
	settings, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	keys, err := uv.NewCancelReader(in)
	if err != nil {
		return nil, errors.Join(err, term.Restore(fd, settings))
	}
	return &raw{keys, fd, settings, context.AfterFunc(ctx, func() { keys.Cancel() })}, nil
}

type raw struct {
	io.ReadCloser
	fd       int
	settings *term.State // from before
	forget   func() bool // the context
}

func (r *raw) Close() error {
	r.forget()
	err := r.ReadCloser.Close()
	if _, background := foreground(r.fd); background {
		return err
	}
	return errors.Join(err, term.Restore(r.fd, r.settings))
}

// Background is what text stands on.
type Background uint8

const (
	UnknownBackground Background = iota
	DarkBackground
	LightBackground
)

const (
	// answerTimeout bounds the wait for a terminal's answer. What comes later would be taken for typing.
	answerTimeout = 500 * time.Millisecond
	// remoteAnswerTimeout is the same over SSH.
	remoteAnswerTimeout = time.Second
)

// Background asks the terminal that in and out are for its background, and where it does not answer
// reads COLORFGBG. It asks only in the foreground, and not in CI, where terminals do not answer. It
// waits for half a second, over SSH for one. Typing that arrives meanwhile is lost.
func (e Env) Background(ctx context.Context, in io.Reader, out io.Writer) Background {
	if !Foreground(in) || !Foreground(out) || e.Getenv("CI") != "" {
		return e.background()
	}
	timeout := answerTimeout
	if e.ssh() {
		timeout = remoteAnswerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if c := ask(ctx, in, out); c != nil {
		return shade(c)
	}
	return e.background()
}

// maxAnswer is how many bytes of an answer are read, and of what is typed before it.
const maxAnswer = 4 << 10

// ask asks a terminal for its background (xterm's OSC 11), and for its attributes (ECMA-48 DA), which
// nearly every terminal answers, and last. The background is nil if it does not say.
func ask(ctx context.Context, in io.Reader, out io.Writer) color.Color {
	keys, err := Raw(ctx, in)
	if err != nil {
		return nil
	}
	defer keys.Close()
	if _, err := io.WriteString(out, ansi.RequestBackgroundColor+ansi.RequestPrimaryDeviceAttributes); err != nil {
		return nil
	}
	attributes := regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
	var answer []byte
	for buffer := make([]byte, 256); !attributes.Match(answer) && len(answer) < maxAnswer; {
		n, err := keys.Read(buffer)
		if err != nil {
			return nil
		}
		answer = append(answer, buffer[:n]...)
	}
	if found := regexp.MustCompile(`\x1b\]11;([^\x07\x1b]*)`).FindSubmatch(answer); found != nil {
		return ansi.XParseColor(string(found[1]))
	}
	return nil
}

func shade(c color.Color) Background {
	switch {
	case c == nil:
		return UnknownBackground
	case tea.BackgroundColorMsg{Color: c}.IsDark():
		return DarkBackground
	}
	return LightBackground
}

// background reads COLORFGBG, rxvt's "text;background" or "text;default;background", by number of the
// sixteen colours.
func (e Env) background() Background {
	fields := strings.Split(e.Getenv("COLORFGBG"), ";")
	switch n, err := strconv.Atoi(fields[len(fields)-1]); {
	case err != nil || len(fields) < 2:
		return UnknownBackground
	case n == 7 || n == 15:
		return LightBackground
	}
	return DarkBackground
}
