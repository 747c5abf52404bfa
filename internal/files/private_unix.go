//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// CheckOwner returns an error if a file or directory belongs to anyone but this user and root.
func CheckOwner(name string) error {
	uid, _, err := stat(name)
	if err != nil || uid == 0 || uid == os.Geteuid() {
		return err
	}
	other := strconv.Itoa(uid)
	if u, err := user.LookupId(other); err == nil {
		other = u.Username
	}
	return fmt.Errorf("it belongs to the user %s", other)
}

// CheckMode returns an error if anyone but its owner may write to a file or directory. If that is another
// user, such as root, its group may write, too: this user cannot change that.
func CheckMode(name string) error {
	uid, mode, err := stat(name)
	others := fs.FileMode(0o022)
	if uid != os.Geteuid() {
		others = 0o002
	}
	if err != nil || mode&others == 0 {
		return err
	}
	return fmt.Errorf("%s is writable by other users: run `chmod go-w %s`", name, name)
}

func stat(name string) (owner int, mode fs.FileMode, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, 0, err
	}
	return int(info.Sys().(*syscall.Stat_t).Uid), info.Mode(), nil
}
