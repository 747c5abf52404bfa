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

// CheckOwner returns an error if a file or folder belongs to another user than this one and root.
func CheckOwner(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	uid := owner(info)
	if uid == 0 || uid == os.Geteuid() {
		return nil
	}
	other := strconv.Itoa(uid)
	if u, err := user.LookupId(other); err == nil {
		other = u.Username
	}
	return fmt.Errorf("it belongs to the user %s", other)
}

// CheckMode returns an error if others than its owner may write to a file or folder. A group may to
// which another user, such as root, gave it: this user cannot change that.
func CheckMode(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	others := fs.FileMode(0o002)
	if owner(info) == os.Geteuid() {
		others = 0o022
	}
	if info.Mode()&others != 0 {
		return fmt.Errorf("others may write to %s: `chmod go-w %s` mends it", name, name)
	}
	return nil
}

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
