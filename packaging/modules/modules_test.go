// Package modules tests the modules in this folder, which go.work puts in the place of others.
package modules

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/DataDog/zstd"
)

// Pebble gives a buffer of CompressBound, and ends the program if the result is elsewhere.
func TestZstdCompressesInPlace(t *testing.T) {
	ctx, random := zstd.NewCtx(), rand.NewChaCha8([32]byte{})
	for _, n := range []int{1, 255, 256, 4096, 65_791, 65_792, 1 << 20} {
		src, buf, back := make([]byte, n), make([]byte, zstd.CompressBound(n)), make([]byte, n)
		for _, fill := range []func(){func() {}, func() { random.Read(src) }} {
			fill()
			compressed, err := ctx.CompressLevel(buf, src, 3)
			if err != nil || &compressed[0] != &buf[0] {
				t.Fatalf("%d bytes: not in the buffer, or %v", n, err)
			}
			if got, err := ctx.DecompressInto(back, compressed); err != nil || got != n || !bytes.Equal(back, src) {
				t.Errorf("%d bytes: %d came back, %v", n, got, err)
			}
			if _, err := ctx.DecompressInto(back[:n/2:n/2], compressed); err == nil {
				t.Errorf("%d bytes fit into half of them", n)
			}
		}
	}
}
