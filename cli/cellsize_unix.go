//go:build unix

package cli

import (
	"golang.org/x/sys/unix"

	"mayfly/render/image"
)

// cellSize is the size in pixels of a terminal's cells; zero where the terminal does not tell.
func cellSize(fd int) image.Size {
	ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return image.Size{}
	}
	return image.Size{Width: int(ws.Xpixel / ws.Col), Height: int(ws.Ypixel / ws.Row)}
}
