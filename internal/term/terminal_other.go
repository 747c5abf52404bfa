//go:build !unix

package term

import (
	"os/exec"

	"golang.org/x/term"
)

func size(fd int) Size {
	columns, rows, err := term.GetSize(fd)
	if err != nil {
		return Size{}
	}
	return Size{Columns: columns, Rows: rows}
}

// foreground is true: only Unix has background processes of a terminal.
func foreground(int) (foreground, background bool) { return true, false }

func drain(int) error { return nil }

// Suspend does nothing: only Unix has shells that continue a program.
func Suspend() {}

// Detach does nothing: only Unix has sessions.
func Detach(*exec.Cmd) {}

// EndDetached does nothing.
func EndDetached(*exec.Cmd) {}
