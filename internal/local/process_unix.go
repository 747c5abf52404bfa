//go:build unix

package local

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// ownSession puts a process in a session of its own, so that neither the terminal nor the shell of
// the process that starts it ends or stops it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// checkOwner returns an error if a folder belongs to another user.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	name := strconv.Itoa(int(stat.Uid))
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return fmt.Errorf("it belongs to the user %s", name)
}
