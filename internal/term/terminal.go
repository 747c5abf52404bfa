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
