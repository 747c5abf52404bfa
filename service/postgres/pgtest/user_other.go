//go:build !linux

package pgtest

import "os/exec"

func asUser(cmd *exec.Cmd) *exec.Cmd { return cmd }

func giveToUser(string) error { return nil }
