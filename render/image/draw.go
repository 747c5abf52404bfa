package image

import (
	"bytes"
	"encoding/base64"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/mattn/go-sixel"
	"golang.org/x/image/draw"
)

// Drawing is an image drawn for a box of terminal cells.
type Drawing struct {
	Columns, Rows int
	Cells         []Cell // for Blocks: row by row
	ID            uint32 // for KittyCells: the image's ID, 24 bits
	// Sequence draws the image at the cursor, which it may move. For KittyCells it transmits the
	// image, which appears where its placeholders are.
	Sequence string
}

// Cell is a terminal cell of two pixels. A pixel with alpha 0 is transparent.
type Cell struct{ Top, Bottom color.RGBA }

// Draw draws the image into a box of cells. Transparent pixels are filled with matte. If that is
// the zero colour they stay transparent, and translucent ones are blended with behind.
func (p *Image) Draw(columns, rows int, m Mode, matte, behind color.RGBA) *Drawing {
	d := &Drawing{Columns: columns, Rows: rows}
	if m.Protocol == Blocks {
		d.Cells = p.blocks(columns, rows, matte, behind)
		return d
	}
	if m.Protocol == Sixel && matte.A == 0 {
		matte = behind // sixels cannot be translucent
	}
	pixels := p.inPixels(columns, rows, m)
	if matte.A > 0 && !p.Opaque {
		pixels = onColor(pixels, matte)
	}
	switch m.Protocol {
	case Kitty:
		d.Sequence = kittyImage(pixels, kitty.Options{
			Action: kitty.TransmitAndPut, Columns: columns, Rows: rows, DoNotMoveCursor: true,
		})
	case KittyCells:
		d.ID = imageID(pixels, columns, rows)
		d.Sequence = kittyImage(pixels, kitty.Options{
			Action: kitty.TransmitAndPut, Columns: columns, Rows: rows, ID: int(d.ID), VirtualPlacement: true,
		})
	case ITerm2:
		d.Sequence = iterm2Image(pixels, columns, rows)
	case Sixel:
		d.Sequence = sixelImage(pixels)
	}
	return d
}

// onColor puts an image on a plain colour.
func onColor(src *image.RGBA, c color.RGBA) *image.RGBA {
	dst := image.NewRGBA(src.Bounds())
	draw.Draw(dst, dst.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), src, image.Point{}, draw.Over)
	return dst
}

// inPixels scales the image to the box in pixels. It is not enlarged if the terminal scales images
// itself.
func (p *Image) inPixels(columns, rows int, m Mode) *image.RGBA {
	cell, at := m.cell(), p.pixels.Bounds()
	room := image.Pt(columns*cell.Width, rows*cell.Height)
	size := image.Pt(room.X, max(at.Dy()*room.X/at.Dx(), 1))
	if size.Y > room.Y {
		size = image.Pt(max(at.Dx()*room.Y/at.Dy(), 1), room.Y)
	}
	if m.Protocol != Sixel && size.X >= at.Dx() {
		return p.pixels
	}
	for size.X*size.Y > maxKept {
		size = size.Div(2)
	}
	return scale(p.pixels, at, size)
}

// blocks draws two pixels in each cell.
func (p *Image) blocks(columns, rows int, matte, behind color.RGBA) []Cell {
	small := scale(p.pixels, p.pixels.Bounds(), image.Pt(columns, 2*rows))
	cells := make([]Cell, 0, columns*rows)
	for y := 0; y < 2*rows; y += 2 {
		for x := range columns {
			cells = append(cells, Cell{blend(small.RGBAAt(x, y), matte, behind), blend(small.RGBAAt(x, y+1), matte, behind)})
		}
	}
	return cells
}

// minAlpha is the alpha below which a pixel counts as transparent.
const minAlpha = 40

// blend returns a pixel with premultiplied alpha as it is seen.
func blend(c, matte, behind color.RGBA) color.RGBA {
	if matte.A == 0 {
		if c.A < minAlpha {
			return color.RGBA{}
		}
		matte = behind
	}
	over := func(v, under uint8) uint8 { return uint8(min(int(v)+int(under)*(255-int(c.A))/255, 255)) }
	return color.RGBA{over(c.R, matte.R), over(c.G, matte.G), over(c.B, matte.B), 255}
}

// imageID derives a 24-bit ID from an image; none of its bytes is 0.
func imageID(m *image.RGBA, columns, rows int) uint32 {
	h := fnv.New32a()
	h.Write(m.Pix) // a hash never fails
	h.Write([]byte{byte(columns), byte(columns >> 8), byte(rows)})
	return h.Sum32()&0xffffff | 0x010101
}

func kittyImage(m image.Image, o kitty.Options) string {
	var b strings.Builder
	o.Format, o.Transmission, o.Chunk, o.Quiet = kitty.PNG, kitty.Direct, true, 2
	if kitty.EncodeGraphics(&b, m, &o) != nil {
		return "" // neither the image in memory nor the buffer can fail
	}
	return b.String()
}

// Forget returns the sequence that makes kitty free an image.
func Forget(id uint32) string {
	return ansi.KittyGraphics(nil, "a=d", "d=I", "q=2", "i="+strconv.FormatUint(uint64(id), 10))
}

// Placeholder returns the text that shows one cell of an image; its text colour has to be the
// image's ID. Rows and columns are below 297, the number of diacritics that kitty defines.
func Placeholder(row, column int) string {
	return string([]rune{kitty.Placeholder, kitty.Diacritic(row), kitty.Diacritic(column)})
}

// maxColumns is how many columns placeholders can address.
const maxColumns = 297

func iterm2Image(m image.Image, columns, rows int) string {
	var b bytes.Buffer
	if png.Encode(&b, m) != nil {
		return ""
	}
	return ansi.ITerm2(iterm2.File{
		Size: int64(b.Len()), Width: iterm2.Cells(columns), Height: iterm2.Cells(rows), Inline: true, DoNotMoveCursor: true,
		Content: []byte(base64.StdEncoding.EncodeToString(b.Bytes())),
	})
}

func sixelImage(m image.Image) string {
	var b strings.Builder
	e := sixel.NewEncoder(&b)
	e.Transparent, e.Dither = true, true
	if e.Encode(m) != nil {
		return ""
	}
	return b.String()
}
