//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignored are the signals that this process was started to ignore, as nohup and a shell's `&` do. A
// command that it runs has to ignore them too.
var ignored = func() map[os.Signal]bool {
	found := map[os.Signal]bool{}
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		found[s] = signal.Ignored(s)
	}
	return found
}()

// supervise runs a command as if it had been run instead of this process. It returns the command's
// exit status, or 128 and the number of the signal that killed it, and whether that was a ctrl+c. It
// fails if the command cannot be started.
//
// The command stays in this process's group, so that it is one job with it to shells and terminals.
// Signals are passed on. When the command stops on a terminal, so does this process, as the shell waits
// for it to; nothing else stops it. As process 1 it reaps orphans.
func (s *signals) supervise(cmd *exec.Cmd) (status int, interrupted bool, err error) {
	received, stop := make(chan os.Signal, 64), make(chan os.Signal, 1)
	defer signal.Stop(received)
	defer signal.Stop(stop)
	defer s.notify()
	for _, passed := range []os.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTTIN, syscall.SIGTTOU,
	} {
		if !ignored[passed] {
			signal.Notify(received, passed)
		}
	}
	signal.Notify(stop, syscall.SIGTSTP)
	signal.Stop(s.received)

	runtime.LockOSThread() // with which the command would end
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return 0, false, err
	}
	changed := make(chan syscall.WaitStatus)
	go await(cmd.Process.Pid, changed)
	for {
		var sig os.Signal
		select {
		case sig = <-received:
		case sig = <-stop:
		case w := <-changed:
			switch {
			case w.Signaled():
				return statusSignalFloor + int(w.Signal()), w.Signal() == syscall.SIGINT && foregroundGroup() != 0, nil
			case w.Exited():
				return w.ExitStatus(), false, nil
			case foregroundGroup() != 0: // somebody may be controlling jobs
				stopAlong(stop)
			}
			continue
		}
		if !fromTerminal(sig, cmd.Process.Pid) {
			_ = cmd.Process.Signal(sig) // it may have ended
		}
	}
}

// stopAlong stops this process. A ctrl+z that stopped it and its command is forgotten: passed on
// after `bg`, it would stop them again.
func stopAlong(stop chan os.Signal) {
	signal.Stop(stop)
	select {
	case <-stop:
	default:
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	signal.Notify(stop, syscall.SIGTSTP)
}

// fromTerminal reports whether a terminal has sent a signal to the command, too: to send it again
// would be a second ctrl+c. What the terminal sends goes to the process group in its foreground.
func fromTerminal(sig os.Signal, pid int) bool {
	switch sig {
	case syscall.SIGTTIN, syscall.SIGTTOU: // what the command has done
		return true
	case syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGWINCH:
	default:
		return false
	}
	foreground := foregroundGroup()
	group, gone := unix.Getpgid(pid)
	return foreground == unix.Getpgrp() && (gone != nil || group == foreground)
}

// await reports each time that a child has stopped, and then that it has ended.
func await(pid int, changed chan<- syscall.WaitStatus) {
	for {
		var w syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &w, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) || ended != pid {
			continue
		}
		changed <- w
		if !w.Stopped() {
			return
		}
	}
}

// endByInterrupt ends this process as SIGINT does by default: a shell whose loop runs it then ends the
// loop, which it does not for an exit status. It returns where the signal has no effect: the kernel
// spares process 1.
func endByInterrupt() {
	if ignored[os.Interrupt] || os.Getpid() == 1 {
		return
	}
	signal.Reset(os.Interrupt)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err == nil {
		select {} // another thread may get it, after this one would have ended the process
	}
}

// foregroundGroup is the process group in the foreground of the terminal that controls this process, 0
// if there is none.
func foregroundGroup() int {
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}
