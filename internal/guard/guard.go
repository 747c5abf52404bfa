// Package guard keeps a message from crashing the program. All code that parses, reads, lays out, checks or renders messages runs under it.
package guard

import (
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// maxLogged bounds the stacks that a process logs: anyone can send such a message again and again.
const maxLogged = 20

var logged atomic.Int32

// Run calls f and reports whether it returned. A panic goes, with its stack, to the default logger of package slog.
func Run(doing string, f func()) (returned bool) {
	defer func() {
		if p := recover(); p != nil && logged.Add(1) <= maxLogged {
			slog.Error("a message made the program panic", "while", doing, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	f()
	return true
}
