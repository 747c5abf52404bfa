package image

import (
	"bytes"
	"errors"
	"image"
	"io"
	"time"
)

// Bounds on all images of a mail.
const (
	maxImages = 32
	maxWork   = 128 << 20 // bytes that decoding them takes, in all
	maxHeld   = 4 << 20   // px that are kept of them
	maxTime   = 5 * time.Second
)

// maxHeader is how many bytes are looked at for the size of an image: cameras put their notes before it.
const maxHeader = 1 << 20

// Budget is what one mail has used up. Its zero value is a whole one.
type Budget struct {
	images, work, held int
	time               time.Duration
}

// Config is the size of an image, as its header tells it. Nothing is decoded.
func Config(data io.Reader) (width, height int, err error) {
	head := make([]byte, sniffed)
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

// spent counts an image, and reports that there is no room for it.
func (b *Budget) spent() bool {
	b.images++
	return b.images > maxImages || b.held >= maxHeld || b.time >= maxTime
}

// decode decodes an image as far as there is room for it.
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
		return nil, ErrSpent
	}
	b.work += cost
	begin := time.Now()
	defer func() { b.time += time.Since(begin) }()
	src, err := f.decode(&hurried{bytes.NewReader(data), begin.Add(maxTime - b.time)})
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, c.Width, c.Height)
	if f.name != "gif" { // whose first frame may be a part of it
		canvas = src.Bounds()
	}
	if canvas.Empty() || !src.Bounds().In(canvas) {
		return nil, ErrNothing
	}
	p := &Image{Width: c.Width, Height: c.Height, pixels: shrink(src, canvas, min(maxKept, maxHeld-b.held))}
	b.held += len(p.pixels.Pix) / 4
	return p, nil
}

// hurried gives up when it is late: a decoder cannot be told to stop but by an error of what it reads.
type hurried struct {
	data  *bytes.Reader
	until time.Time
}

var errSlow = errors.New("the image takes too long to decode")

// Read hands out little at a time, so that the clock is looked at often.
func (h *hurried) Read(p []byte) (int, error) {
	if time.Now().After(h.until) {
		return 0, errSlow
	}
	return h.data.Read(p[:min(len(p), 4096)])
}
