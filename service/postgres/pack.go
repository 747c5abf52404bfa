package postgres

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"mayfly/service"
)

// The first byte of a stored body says how the rest is encoded.
const (
	uncompressed = 0
	compressed   = 1 // Zstandard, RFC 8878
)

// minCompressed is the size in bytes from which compression can pay.
const minCompressed = 256

var (
	compressor   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20)))
	decompressor = must(zstd.NewReader(nil, zstd.WithDecoderMaxMemory(math.MaxUint32)))
)

// must panics on an error that only invalid options could cause.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pack returns the body to store for a message, compressed if that makes it smaller.
func pack(raw []byte) []byte {
	if len(raw) >= minCompressed {
		packed := compressor.EncodeAll(raw, append(make([]byte, 0, 1+len(raw)/2), compressed))
		if len(packed) <= len(raw) {
			return packed
		}
	}
	return append([]byte{uncompressed}, raw...)
}

// unpack returns the message of the given size that a stored body encodes.
func unpack(packed []byte, size int64) ([]byte, error) {
	damaged := func(cause error) error {
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: cause}
	}
	if len(packed) == 0 {
		return nil, damaged(fmt.Errorf("the body is empty"))
	}
	raw := packed[1:]
	if packed[0] == compressed {
		var err error
		if raw, err = decompressor.DecodeAll(raw, make([]byte, 0, size)); err != nil {
			return nil, damaged(err)
		}
	}
	if int64(len(raw)) != size {
		return nil, damaged(fmt.Errorf("the body has %d bytes instead of %d", len(raw), size))
	}
	return raw, nil
}
