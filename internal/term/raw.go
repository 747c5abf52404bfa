package term

import (
	"context"
	"errors"
	"io"

	uv "github.com/charmbracelet/ultraviolet"
	"golang.org/x/term"
)

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
