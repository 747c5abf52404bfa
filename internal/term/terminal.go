package term

import (
	"context"
	"errors"
	"io"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"
)

// FD returns the file descriptor of the terminal that stream is.
func FD(stream any) (fd int, ok bool) {
	f, ok := stream.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	return int(f.Fd()), true
}

// Is reports whether stream is a terminal.
func Is(stream any) bool {
	_, ok := FD(stream)
	return ok
}

// Foreground reports whether stream is a terminal on which this process is in the foreground. In the
// background, the kernel stops a process that reads from the terminal or changes its settings, and
// what is drawn gets in the way of what is in the foreground.
func Foreground(stream any) bool {
	fd, ok := FD(stream)
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
	if fd, ok := FD(stream); ok {
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
	fd, ok := FD(stream)
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
	fd, ok := FD(in)
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
