//go:build unix && !race

package e2e

// buildFlags build the program as releases are: with symbols, linking it takes twice as long.
var buildFlags = []string{"-ldflags=-s -w"}
