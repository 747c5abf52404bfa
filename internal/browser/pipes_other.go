//go:build !windows

package browser

import (
	"os"
	"os/exec"
)

// inherit has a browser take its orders from in and answer to out.
func inherit(cmd *exec.Cmd, in, out *os.File) error {
	cmd.ExtraFiles = []*os.File{in, out} // 3 and 4, which it expects
	cmd.Args = append(cmd.Args, "--remote-debugging-pipe")
	return nil
}
