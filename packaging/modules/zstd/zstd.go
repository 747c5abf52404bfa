// Package zstd has what Pebble uses of the package of this path, in Go. The original compiles 85 s of C.
package zstd

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Ctx compresses and decompresses, one call at a time.
type Ctx interface {
	CompressLevel(dst, src []byte, level int) ([]byte, error)
	DecompressInto(dst, src []byte) (int, error)
}

// NewCtx returns a Ctx.
func NewCtx() Ctx { return context{} }

type context struct{}

var decoder = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0)) })

// CompressBound returns the length that the compressed form of n bytes has at most.
func CompressBound(n int) int { return n + n>>7 + 64 }

// CompressLevel compresses src into dst if it fits, else into a new buffer.
func (context) CompressLevel(dst, src []byte, level int) ([]byte, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer encoder.Close()
	return encoder.EncodeAll(src, dst[:0]), nil
}

// DecompressInto decompresses src into dst, and returns the length of the result.
func (context) DecompressInto(dst, src []byte) (int, error) {
	d, err := decoder()
	if err != nil {
		return 0, err
	}
	result, err := d.DecodeAll(src, dst[:0])
	if err == nil && len(result) > len(dst) {
		err = zstd.ErrDecoderSizeExceeded
	}
	return len(result), err
}
