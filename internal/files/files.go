// Package files replaces files as a whole, on every system: readers see the old content or the new,
// never a mix. It also checks that no other user has a hand in a file.
package files
