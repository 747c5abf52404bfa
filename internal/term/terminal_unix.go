//go:build unix

package term

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func size(fd int) Size {
	ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return Size{}
	}
	return Size{
		Columns: int(ws.Col), Rows: int(ws.Row),
		CellWidth: int(ws.Xpixel / ws.Col), CellHeight: int(ws.Ypixel / ws.Row),
	}
}

// foreground reports whether this process is in the foreground of the terminal, and whether it is in
// its background. It is in neither of a terminal that does not control it, as below su -c.
func foreground(fd int) (foreground, background bool) {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp(), err == nil && group != unix.Getpgrp()
}

// drain waits until the terminal has written everything. That changes nothing, but the kernel stops a
// background process that asks for it (POSIX tcdrain), or fails when no shell could continue it.
func drain(fd int) error { return unix.IoctlSetInt(fd, drainRequest, 1) }

// stopTime bounds how long the kernel takes to stop a process.
const stopTime = 100 * time.Millisecond

// Suspend stops this program until a shell continues it. Where none would, as in a container, the kernel does not stop it,
// and Suspend returns.
func Suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = syscall.Kill(0, syscall.SIGTSTP) // its group, as a terminal does; it may be ignored in any case
	select {
	case <-continued:
	case <-time.After(stopTime):
	}
}

// Detach gives a program a session of its own, so that ctrl+z, ctrl+c and the end of the terminal do
// not reach it, and it cannot read the terminal. When its context ends, so do the programs that it
// started.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	}
}

// EndDetached ends what is left of a detached program after it has ended: its children.
func EndDetached(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // there may be none
	}
}
