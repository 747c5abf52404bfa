package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asUser has a program end with the test, and run as another user when the test is root's: PostgreSQL refuses root.
func asUser(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid, gid, ok := otherUser(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	cmd.Dir = "/"
	return cmd
}

// giveToUser lets that user have a folder.
func giveToUser(dir string) error {
	if uid, gid, ok := otherUser(); ok {
		return os.Chown(dir, int(uid), int(gid))
	}
	return nil
}

func otherUser() (uid, gid uint32, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return uint32(uid), uint32(gid), true
		}
	}
	return 0, 0, false
}
