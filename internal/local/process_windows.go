package local

import "syscall"

// ownSession takes a process off the console of the process that starts it, and off its group, so
// that neither ctrl+c nor closing the console ends it.
func ownSession() *syscall.SysProcAttr {
	const detachedProcess = 0x8
	return &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}
