//go:build unix && !race

package e2e

var buildFlags []string
