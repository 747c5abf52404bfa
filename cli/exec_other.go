//go:build !linux

package cli

import "os/exec"

// endWithParent does nothing: only Linux tells a process when its parent has ended.
func endWithParent(*exec.Cmd) {}
