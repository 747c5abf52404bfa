package image

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"io"
	"net/url"
	"strings"
	"time"
)

// Bounds on all images of a message together.
const (
	maxImages    = 32
	maxWork      = 128 << 20 // bytes that decoding them takes
	maxKeptTotal = 4 << 20   // px to which they are reduced
	maxTime      = 5 * time.Second
)

// maxHeader is how many bytes are read to find the size of an image: cameras put metadata before
// it.
const maxHeader = 1 << 20

// Budget is what the images of one message have cost so far. The zero value is ready to use.
type Budget struct {
	images, work, kept int
	time               time.Duration
}

// Config returns the size of an image in px, from its header alone.
func Config(data io.Reader) (width, height int, err error) {
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(data, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, ErrNothing
	}
	f := formatOf(head[:n])
	if f == nil {
		return 0, 0, errFormat
	}
	c, err := f.config(io.MultiReader(bytes.NewReader(head[:n]), io.LimitReader(data, maxHeader)))
	return c.Width, c.Height, err
}

// exhausted counts an image and reports whether it is beyond the bounds.
func (b *Budget) exhausted() bool {
	b.images++
	return b.images > maxImages || b.kept >= maxKeptTotal || b.time >= maxTime
}

// decode decodes an image if the budget allows it.
func (b *Budget) decode(data []byte) (*Image, error) {
	if len(data) > maxBytes {
		return nil, ErrTooLarge
	}
	f := formatOf(data)
	if f == nil {
		return nil, errFormat
	}
	c, err := f.config(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if min(c.Width, c.Height) < leastSide {
		return nil, ErrNothing
	}
	if c.Width > maxSide || c.Height > maxSide {
		return nil, ErrTooLarge
	}
	cost := f.cost(data, c.Width*c.Height)
	if cost > maxMemory {
		return nil, ErrTooLarge
	}
	if b.work+cost > maxWork {
		return nil, ErrBudget
	}
	b.work += cost
	begin := time.Now()
	defer func() { b.time += time.Since(begin) }()
	src, err := f.decode(&deadlineReader{bytes.NewReader(data), begin.Add(maxTime - b.time)})
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, c.Width, c.Height)
	if f.name != "gif" { // whose first frame may be smaller
		canvas = src.Bounds()
	}
	if canvas.Empty() || !src.Bounds().In(canvas) {
		return nil, ErrNothing
	}
	p := &Image{Width: c.Width, Height: c.Height, pixels: shrink(src, canvas, min(maxKept, maxKeptTotal-b.kept))}
	b.kept += len(p.pixels.Pix) / 4
	p.average()
	return p, nil
}

// deadlineReader fails after a deadline: only an error from its input stops a decoder.
type deadlineReader struct {
	data  *bytes.Reader
	until time.Time
}

var errSlow = errors.New("the image takes too long to decode")

// Read returns little at a time, so that the clock is checked often.
func (h *deadlineReader) Read(p []byte) (int, error) {
	if time.Now().After(h.until) {
		return 0, errSlow
	}
	return h.data.Read(p[:min(len(p), 4096)])
}

// FromURL decodes a data: URL (RFC 2397), and reports false for any other. White space in it is
// skipped: messages break long lines.
func FromURL(src string) (io.Reader, bool) {
	scheme, rest, _ := strings.Cut(src[:min(len(src), maxURL)], ":")
	kind, data, ok := strings.Cut(rest, ",")
	if !strings.EqualFold(scheme, "data") || !ok || len(kind) > 200 {
		return nil, false
	}
	if strings.Contains(data, "%") {
		if plain, err := url.PathUnescape(data); err == nil {
			data = plain
		}
	}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(kind)), ";base64") {
		return strings.NewReader(data), true
	}
	return base64.NewDecoder(base64.RawStdEncoding, &base64Text{data}), true
}

// maxURL is how much of a data: URL is decoded, in bytes.
const maxURL = maxBytes/3*4 + 1000

// base64Text reads base64 without padding and white space.
type base64Text struct{ rest string }

func (p *base64Text) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) && p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		if c > ' ' && c != '=' {
			b[n] = c
			n++
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
