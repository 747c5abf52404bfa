package pebble

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Logs and manifests are blocks of chunks, which the package record of the database describes. A
// chunk is a header and a part of a record; none crosses the end of a block.
const (
	blockSize      = 32 << 10
	maxChunkHeader = 19 // bytes
)

// chunkHeaders are the sizes of headers by type of chunk: as in manifests, with the number of a log
// to tell chunks of a file's former use apart, and with an offset in addition. Zero: no such type.
var chunkHeaders = [...]int{1: 7, 7, 7, 7, 11, 11, 11, 11, 19, 19, 19, 19}

// intactSize returns up to which byte a file can be read, and whether there is a readable chunk
// beyond: then bytes in between are damaged. The log number of a manifest is 0.
func intactSize(b []byte, log uint32) (size int64, more bool) {
	for at := 0; at < len(b); at += blockSize {
		block := b[at:min(len(b), at+blockSize)]
		if size < int64(at) { // an earlier block is damaged
			if chunkSize(block, log) > 0 {
				return size, true
			}
		} else {
			size = int64(at) + intactChunks(block, log)
		}
	}
	return size, false
}

// intactChunks returns up to which byte of a block there are intact chunks: the block's size if only
// zeros follow that are too few for another one.
func intactChunks(block []byte, log uint32) int64 {
	at := 0
	for {
		n := chunkSize(block[at:], log)
		if n == 0 {
			break
		}
		at += n
	}
	if len(block) == blockSize && blockSize-at < maxChunkHeader && isZero(block[at:]) {
		return blockSize
	}
	return int64(at)
}

// chunkSize returns the size of the chunk that b starts with, or 0 if there is none that is intact.
func chunkSize(b []byte, log uint32) int {
	if len(b) < 7 {
		return 0
	}
	sum, length, kind := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[4:])), int(b[6])
	if kind >= len(chunkHeaders) || chunkHeaders[kind] == 0 {
		return 0
	}
	size := chunkHeaders[kind] + length
	if size > len(b) || checksum(b[6:size]) != sum {
		return 0
	}
	if chunkHeaders[kind] > 7 && binary.LittleEndian.Uint32(b[7:]) != log {
		return 0
	}
	return size
}

// eachRecord calls visit for the whole records of a file. What is damaged ends with its block.
func eachRecord(b []byte, log uint32, visit func(rec []byte)) {
	var rec []byte
	whole := false // rec has its first chunk
	for at := 0; at < len(b); {
		end := min(len(b), (at/blockSize+1)*blockSize)
		n := chunkSize(b[at:end], log)
		if n == 0 {
			at, whole = end, false
			continue
		}
		kind := int(b[at+6])
		part := b[at+chunkHeaders[kind] : at+n]
		first, last := kind%4 == 1 || kind%4 == 2, kind%4 == 1 || kind%4 == 0
		if first {
			rec, whole = rec[:0], true
		}
		rec = append(rec, part...)
		if last && whole {
			visit(rec)
			whole = false
		}
		at += n
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the masked CRC of LevelDB.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
