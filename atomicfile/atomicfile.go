// Package atomicfile replaces files as a whole, on every system: who reads one finds what it was or
// what it is now.
package atomicfile
