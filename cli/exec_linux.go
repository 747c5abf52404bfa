package cli

import (
	"os/exec"
	"syscall"
)

// endWithParent makes a command exit with this process, even if that is killed: it would run on
// without its service.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
