//go:build !windows

package term

import (
	"context"
	"runtime"
)

// copyHelpers are the programs that write a system's clipboard, each with the variable that says that
// what it talks to is there.
var copyHelpers = []struct {
	variable string
	command  []string
}{
	{"WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"DISPLAY", []string{"xclip", "-in", "-selection", "clipboard"}},
	{"DISPLAY", []string{"xsel", "--input", "--clipboard"}},
	{"TERMUX_VERSION", []string{"termux-clipboard-set"}},
	{"WSL_DISTRO_NAME", []string{"clip.exe"}},
}

// systemClipboard returns what writes the system's clipboard, nil when there is none.
func (e Env) systemClipboard() func(context.Context, string) error {
	if runtime.GOOS == "darwin" {
		return helper("pbcopy")
	}
	for _, h := range copyHelpers {
		if e.Getenv(h.variable) != "" && installed(h.command[0]) {
			return helper(h.command[0], h.command[1:]...)
		}
	}
	return nil
}
