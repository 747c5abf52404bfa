package term

import "golang.org/x/term"

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

// Save returns a function that gives the terminal that stream is the settings it has now. It does
// nothing in the background, where the kernel stops a process that changes a terminal's settings.
func Save(stream any) (restore func()) {
	fd, ok := FD(stream)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(fd)
	if err != nil {
		return func() {}
	}
	return func() {
		if foreground(fd) {
			_ = term.Restore(fd, state) // nothing is left to do about a terminal that refuses
		}
	}
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
