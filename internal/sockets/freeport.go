package sockets

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// The ports that FreePort returns are below the ephemeral ones of Linux, macOS and Windows, so that no connection and no
// listener on port 0 takes one before its server does, or while that server is stopped.
const first, last = 15_000, 32_000

var given sync.Map

// FreePort returns a port of the loopback interface on which nothing listens. It returns each port once
// per process.
func FreePort() (int, error) {
	var failed error
	for range 100 {
		port := first + rand.IntN(last-first)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			failed = err
			continue
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("find a free port: %w", failed)
}

// Address returns the address host:port of a port of the loopback interface.
func Address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
