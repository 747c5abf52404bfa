//go:build unix && race

package e2e

// buildFlags has the program detect races when the tests do: it then exits with 66.
var buildFlags = []string{"-race"}
