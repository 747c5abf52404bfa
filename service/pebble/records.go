package pebble

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/cockroachdb/pebble/v2/record"
)

// Logs and manifests are records in blocks of that many bytes, which the package record describes.
// No part of a record crosses the end of a block.
const blockSize = 32 << 10

// extent is how much of a log or a manifest can be read.
type extent struct {
	intact int64 // bytes
	end    error // what ended them
	beyond bool  // something can be read after the damage
}

// eachRecord calls visit for the whole records of a log or, with number 0, of a manifest. What is
// damaged ends with its block. A log that was opened and never written is empty, and whole.
func eachRecord(b []byte, log uint64, visit func(rec []byte)) (e extent) {
	e.end = io.EOF
	for start := 0; start < len(b); {
		size := 0
		// The rest of a log that was used before is full of blocks with another number.
		if start == 0 || log == 0 || len(b) < start+11 || binary.LittleEndian.Uint32(b[start+7:]) == uint32(log) {
			var end error
			size, end = intactRecords(recordReader(record.NewReader, b[start:], log), visit)
			if start == 0 {
				e.intact, e.end = int64(size), end
			}
		}
		e.beyond = e.beyond || start > 0 && size > 0
		start += size/blockSize*blockSize + blockSize
	}
	return e
}

// recordReader calls a function with a number of a type that has no name outside of the database.
func recordReader[N ~uint64](open func(io.Reader, N) *record.Reader, b []byte, log uint64) *record.Reader {
	return open(bytes.NewReader(b), N(log))
}

// intactRecords calls visit for the records in front of the first damage, and returns the size of all
// parts of records there, and the damage or io.EOF.
func intactRecords(r *record.Reader, visit func(rec []byte)) (size int, end error) {
	part := make([]byte, blockSize)
	for {
		next, err := r.Next()
		if err != nil {
			return size, err
		}
		var rec []byte
		for {
			n, err := next.Read(part) // one part
			if err == io.EOF {
				break
			} else if err != nil {
				return size, err
			}
			rec, size = append(rec, part[:n]...), int(r.Offset())
		}
		visit(rec)
	}
}

// noteFirstLog takes a record of a manifest. If it has the number of the first log, it starts with it,
// or with the name of the order of keys.
func (f *folder) noteFirstLog(rec []byte) {
	const comparerTag, logTag = 1, 2
	tag, rec := uvarint(rec)
	if tag == comparerTag {
		var n uint64
		n, rec = uvarint(rec)
		tag, rec = uvarint(rec[min(n, uint64(len(rec))):])
	}
	if tag == logTag {
		f.firstLog, _ = uvarint(rec)
	}
}

// uvarint splits a number off b; of nothing it makes 0.
func uvarint(b []byte) (uint64, []byte) {
	n, size := binary.Uvarint(b)
	return n, b[max(0, size):]
}
