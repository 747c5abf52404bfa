package postgres

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"mayfly/service"
)

// A raw message is stored with a byte before it that says how.
const (
	asItIs = 0
	zipped = 1 // Zstandard, RFC 8878
)

// worthPacking is the size below which compression gains nothing.
const worthPacking = 256

var (
	packer   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderMaxMemory(math.MaxUint32)))
)

// must is for what fails only with options that do not exist.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pack returns a copy of the message, smaller if it can be.
func pack(raw []byte) []byte {
	if len(raw) >= worthPacking {
		packed := packer.EncodeAll(raw, append(make([]byte, 0, 1+len(raw)/2), zipped))
		if len(packed) <= len(raw) {
			return packed
		}
	}
	return append([]byte{asItIs}, raw...)
}

// unpack returns the message, which has the size.
func unpack(packed []byte, size int64) ([]byte, error) {
	damaged := func(cause error) error {
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: cause}
	}
	if len(packed) == 0 {
		return nil, damaged(fmt.Errorf("the body is empty"))
	}
	raw := packed[1:]
	if packed[0] == zipped {
		var err error
		if raw, err = unpacker.DecodeAll(raw, make([]byte, 0, size)); err != nil {
			return nil, damaged(err)
		}
	}
	if int64(len(raw)) != size {
		return nil, damaged(fmt.Errorf("the body has %d bytes instead of %d", len(raw), size))
	}
	return raw, nil
}
