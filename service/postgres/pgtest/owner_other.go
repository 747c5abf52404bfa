//go:build !unix

package pgtest

import (
	"errors"
	"os/exec"
)

func owner() (any, error) {
	return nil, errors.New("tests do not run it on this system")
}

func asOwner(*exec.Cmd) error { return nil }

func giveToOwner(string) error { return nil }
