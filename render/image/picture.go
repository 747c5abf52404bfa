package image

import (
	"image"
	"image/color"
	"image/draw"
)

// Picture is an image that fills the lines of a view at its own size: 8 px are a column, unless there is less room.
type Picture struct {
	Columns, Rows int
	pixels        *image.RGBA
	mode          Mode
}

// NewPicture returns a picture for room columns.
func NewPicture(pixels *image.RGBA, room int, m Mode) *Picture {
	size, cell := pixels.Bounds().Size(), m.cell()
	columns := max(min((size.X+cssColumn/2)/cssColumn, room, maxColumns), 1)
	rows := (size.Y*columns*cell.Width + size.X*cell.Height - 1) / (size.X * cell.Height)
	return &Picture{columns, max(rows, 1), pixels, m}
}

// Draw draws rows from to to, of which there are fewer than 297 for KittyCells.
func (p *Picture) Draw(from, to int) *Drawing {
	size := p.pixels.Bounds().Size()
	top, bottom := from*size.Y/p.Rows, max(to*size.Y/p.Rows, from*size.Y/p.Rows+1)
	part := image.NewRGBA(image.Rect(0, 0, size.X, bottom-top))
	draw.Draw(part, part.Bounds(), p.pixels, image.Pt(0, top), draw.Src)
	return (&Image{Width: size.X, Height: bottom - top, Opaque: true, pixels: part}).Draw(p.Columns, to-from, p.mode, color.RGBA{}, color.RGBA{})
}
