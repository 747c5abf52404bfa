package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

var errFormat = errors.New("neither PNG, JPEG, GIF, WebP nor BMP")

// format is an image file format.
type format struct {
	name   string
	magic  string // ? matches any byte
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// cost returns the most bytes that decoding takes, for an image of so many pixels.
	cost func(data []byte, pixels int) int
}

var formats = []format{
	{"png", "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode, costPNG},
	{"jpeg", "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode, costJPEG},
	{"gif", "GIF8?a", gif.DecodeConfig, gif.Decode, func(_ []byte, n int) int { return n }},
	{"webp", "RIFF????WEBPVP8", webp.DecodeConfig, webp.Decode, costWebP},
	{"bmp", "BM????\x00\x00\x00\x00", bmp.DecodeConfig, bmp.Decode, func(_ []byte, n int) int { return 4 * n }},
}

// sniffLen is how many bytes identify a format.
const sniffLen = 32

func formatOf(data []byte) *format {
next:
	for i := range formats {
		magic := formats[i].magic
		if len(data) < len(magic) {
			continue
		}
		for j := range len(magic) {
			if magic[j] != '?' && magic[j] != data[j] {
				continue next
			}
		}
		return &formats[i]
	}
	return nil
}

// unbounded is the cost of an image that must not be decoded.
const unbounded = 1 << 40

// costPNG reads bit depth and interlacing from the header (PNG, 11.2.2): each pass is an image of
// its own.
func costPNG(data []byte, pixels int) int {
	const depth, interlace = 24, 28
	if len(data) <= interlace {
		return unbounded
	}
	n := 4 * pixels
	if data[depth] == 16 {
		n *= 2
	}
	if data[interlace] != 0 {
		n *= 2
	}
	return n
}

// costWebP compares the length claimed by the container with the actual one: the decoder allocates
// what is claimed.
func costWebP(data []byte, pixels int) int {
	if int64(binary.LittleEndian.Uint32(data[4:]))+8 > int64(len(data))+1 {
		return unbounded
	}
	return 8 * pixels
}

// costJPEG reads the frame header (ITU T.81, B.2.2): how the components are sampled, and whether
// the image is progressive, for which the decoder keeps all coefficients.
func costJPEG(data []byte, pixels int) int {
	const adobe = 0xee
	converted := 0 // bytes per pixel of a copy in RGB or CMYK
	for at := 2; at+4 <= len(data); {
		if data[at] != 0xff {
			at++
			continue
		}
		marker := data[at+1]
		if marker == 0xff {
			at++
			continue
		}
		if marker == 0 || marker >= 0xd0 && marker <= 0xd8 { // without a length
			at += 2
			continue
		}
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		segment := data[at+4 : max(min(at+2+size, len(data)), at+4)]
		switch {
		case marker == adobe && bytes.HasPrefix(segment, []byte("Adobe")):
			converted = 4
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			return frameJPEG(segment, marker == 0xc2, pixels, converted)
		case marker == 0xd9 || marker == 0xda:
			return unbounded
		}
		at += 2 + max(size, 2)
	}
	return unbounded
}

func frameJPEG(frame []byte, progressive bool, pixels, converted int) int {
	if len(frame) < 6 || len(frame) < 6+3*int(frame[5]) || frame[5] == 0 {
		return unbounded
	}
	components, samples, across, down := frame[6:6+3*int(frame[5])], 0, 1, 1
	for ; len(components) > 0; components = components[3:] {
		h, v := int(components[1]>>4), int(components[1]&15)
		samples += h * v
		across, down = max(across, h), max(down, v)
		if components[0] == 'R' || frame[5] == 4 {
			converted = 4
		}
	}
	each := 1
	if progressive {
		each = 5 // four more for a coefficient
	}
	return pixels*samples*each/(across*down) + pixels*converted
}
