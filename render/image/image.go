// Package image decodes the images that a mail carries, within bounds, and draws them for a terminal: with half
// blocks, or by the graphics protocol of kitty, of iTerm2, or sixel. What a terminal is given is made of decoded pixels:
// no byte of an image is passed on. Nothing here touches the network.
package image

import (
	"errors"
	"image"
	"image/color"
	"io"

	"golang.org/x/image/draw"
)

// Bounds on one image.
const (
	maxBytes  = 16 << 20 // as it comes
	maxSide   = 16384    // px
	maxMemory = 40 << 20 // bytes that decoding it takes
	maxKept   = 1 << 20  // px that are kept of it: no terminal shows more in the room that an image gets
	leastSide = 4        // px: below, it spaces something out
	iconSide  = 40       // px: up to this it is an icon, for which its text stands
)

// Errors of Decode.
var (
	ErrTooLarge = errors.New("the image is too large")
	ErrNothing  = errors.New("the image shows nothing")
	ErrSpent    = errors.New("the mail has too many images")
)

// Image is a decoded image, reduced to what a terminal can show.
type Image struct {
	Width, Height int         // px as it came
	Opaque        bool        // nothing shines through
	Mean          color.NRGBA // its average colour where it is not transparent

	pixels *image.RGBA
}

// Decode decodes the first frame of a PNG, JPEG, GIF, WebP or BMP image, and charges the budget for it.
func Decode(data io.Reader, b *Budget) (*Image, error) {
	if b.spent() {
		return nil, ErrSpent
	}
	all, err := io.ReadAll(io.LimitReader(data, maxBytes+1))
	if err != nil {
		return nil, err
	}
	p, err := b.decode(all)
	if err != nil {
		return nil, err
	}
	p.weigh()
	return p, nil
}

// shrink scales an image to at most the given pixels, keeping its ratio. Halving it over and over averages every pixel
// and takes little memory.
func shrink(src image.Image, canvas image.Rectangle, most int) *image.RGBA {
	w, h := canvas.Dx(), canvas.Dy()
	for w*h > most {
		w, h = max(w*9/10, 1), max(h*9/10, 1)
	}
	return scale(src, canvas, image.Pt(w, h))
}

// scale scales the part of an image that canvas is, which may reach beyond the image, to a size.
func scale(src image.Image, canvas image.Rectangle, size image.Point) *image.RGBA {
	for canvas.Dx() >= 2*size.X || canvas.Dy() >= 2*size.Y {
		half := image.Pt(canvas.Dx(), canvas.Dy())
		if half.X >= 2*size.X {
			half.X = (half.X + 1) / 2
		}
		if half.Y >= 2*size.Y {
			half.Y = (half.Y + 1) / 2
		}
		src = resample(src, canvas, half)
		canvas = src.Bounds()
	}
	if dst, ok := src.(*image.RGBA); ok && canvas == dst.Bounds() && canvas.Min == (image.Point{}) && canvas.Size() == size {
		return dst
	}
	return resample(src, canvas, size)
}

func resample(src image.Image, canvas image.Rectangle, size image.Point) *image.RGBA {
	dst := image.NewRGBA(image.Rectangle{Max: size})
	if part := src.Bounds(); !canvas.In(part) { // a frame that is smaller than its image
		whole := image.NewRGBA(canvas)
		draw.Draw(whole, part, src, part.Min, draw.Src)
		src = whole
	}
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, canvas, draw.Src, nil)
	return dst
}

// weigh finds the average colour.
func (p *Image) weigh() {
	var r, g, b, a uint64
	pix := p.pixels.Pix
	for i := 0; i+3 < len(pix); i += 4 {
		r, g, b, a = r+uint64(pix[i]), g+uint64(pix[i+1]), b+uint64(pix[i+2]), a+uint64(pix[i+3])
	}
	p.Opaque = p.pixels.Opaque()
	if a > 0 {
		p.Mean = color.NRGBA{uint8(r * 255 / a), uint8(g * 255 / a), uint8(b * 255 / a), 255}
	}
}

// Size is a number of pixels or of cells across and down.
type Size struct{ Width, Height int }

// usualCell is the size of a cell of which nothing is known, in px.
var usualCell = Size{8, 16}

// cssColumn is how many px of a mail's layout a column stands for: 640 px are 80 columns.
const cssColumn = 8

// Mode says how images are drawn; the zero value is not at all.
type Mode struct {
	Protocol Protocol
	Cell     Size // px of a cell; zero when it is not known
	Rows     int  // most rows of an image; MaxRows when zero
}

// MaxRows is the most rows that an image takes.
const MaxRows = 24

func (m Mode) cell() Size {
	if m.Cell.Width < 1 || m.Cell.Height < 1 || m.Cell.Width > 200 || m.Cell.Height > 400 {
		return usualCell
	}
	return m.Cell
}

// Shown reports whether an image is one that is drawn, neither a spacer nor an icon: by its size in px, and by the one
// that the mail declares, 0 where it does not.
func Shown(width, height, declaredWidth, declaredHeight int) bool {
	if min(width, height) < leastSide {
		return false
	}
	w, h := displayed(width, height, declaredWidth, declaredHeight)
	return min(w, h) >= leastSide && max(w, h) > iconSide
}

// displayed is the size in px that an image is meant to be seen in, its ratio kept.
func displayed(width, height, declaredWidth, declaredHeight int) (w, h float64) {
	w, h = float64(width), float64(height)
	switch {
	case declaredWidth > 0:
		return float64(declaredWidth), h * float64(declaredWidth) / w
	case declaredHeight > 0:
		return w * float64(declaredHeight) / h, float64(declaredHeight)
	}
	return w, h
}

// Box is how many columns and rows an image takes where there is room for so many columns. width and height are px as
// the mail declares them, 0 where it does not. The ratio of the image is kept, whatever the mail declares.
// It is no columns where the image is so small that its text says more.
func (p *Image) Box(width, height, room int, m Mode) (columns, rows int) {
	if !Shown(p.Width, p.Height, width, height) {
		return 0, 0
	}
	w, h := displayed(p.Width, p.Height, width, height)
	ratio := h / w
	cell := m.cell()
	perRow := ratio * float64(cell.Width) / float64(cell.Height) // rows of a column
	most := MaxRows
	if m.Rows > 0 {
		most = min(most, m.Rows)
	}
	columns = int(min(max(w/cssColumn+.5, 1), float64(max(min(room, maxColumns), 1))))
	rows = max(int(float64(columns)*perRow+.5), 1)
	if rows > most {
		rows = most
		columns = min(columns, max(int(float64(rows)/perRow+.5), 1))
	}
	return columns, rows
}
