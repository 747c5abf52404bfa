// Package ballast keeps the garbage collector from running while the program starts.
//
// The libraries allocate 7 MB before main runs, and with the small heap of a program that starts, the
// collector would run two or three times, a quarter of what a short command costs. A heap that holds
// the ballast is let grow by as much first. The ballast is never written to, so that it takes no memory.
//
// This package must import nothing. Packages are initialised in the order of their import paths as far
// as what they import allows (Go spec, "Program initialization"), so that this one comes before nearly
// all others.
package ballast

//lint:ignore U1000 it is there to be large, not to be read
var weight = make([]byte, 16<<20)

// Drop lets the collector work as usual from now on.
func Drop() { weight = nil }
