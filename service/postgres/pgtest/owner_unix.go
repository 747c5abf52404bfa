//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
)

// owner returns the user of a server's files and processes, since PostgreSQL does not run as root.
// It is nil for the user who runs the tests.
var owner = sync.OnceValues(func() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("it does not run as root, and there is neither a user postgres nor a user nobody")
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
})

// asOwner makes a command run as the owner, in a process group of its own so that it does not get a
// terminal's signals.
func asOwner(cmd *exec.Cmd) error {
	credential, err := owner()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential, Setpgid: true}
	return err
}

func giveToOwner(path string) error {
	credential, err := owner()
	if err != nil || credential == nil {
		return err
	}
	return os.Chown(path, int(credential.Uid), int(credential.Gid))
}
