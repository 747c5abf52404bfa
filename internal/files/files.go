// Package files replaces files as a whole, on every system: readers see the old content or the new,
// never a mix.
package files
