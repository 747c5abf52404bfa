// Package files replaces files as a whole, on every system: readers see the old content or the new,
// never a mix. It reads them within bounds, and checks that no other user has a hand in one.
package files
