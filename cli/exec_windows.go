package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// supervise runs a command and returns its exit status. The console sends a ctrl+c to both processes;
// this one ignores it.
func (s *signals) supervise(cmd *exec.Cmd) (status int, interrupted bool, err error) {
	signal.Stop(s.received)
	defer s.notify()
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt)
	defer signal.Stop(received)
	err = cmd.Run()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		return exit.ExitCode(), false, nil
	}
	return 0, false, err
}

// endByInterrupt does nothing: only Unix ends processes by signals.
func endByInterrupt() {}
