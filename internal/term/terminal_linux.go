package term

import "golang.org/x/sys/unix"

const drainRequest = unix.TCSBRK
