package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// inherit has a browser take its orders from in and answer to out.
func inherit(cmd *exec.Cmd, in, out *os.File) error {
	from, to := syscall.Handle(in.Fd()), syscall.Handle(out.Fd())
	cmd.SysProcAttr = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{from, to}}
	cmd.Args = append(cmd.Args, "--remote-debugging-pipe", fmt.Sprintf("--remote-debugging-io-pipes=%d,%d", from, to))
	return errors.Join(
		syscall.SetHandleInformation(from, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT),
		syscall.SetHandleInformation(to, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT))
}
