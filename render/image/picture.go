package image

import (
	"image"
	"image/color"
	"image/draw"
)

// Picture is an image that fills the lines of a view at its own size: 8 px are a column, unless there is less room.
type Picture struct {
	Columns, Rows int
	Mode          Mode
	pixels        *image.RGBA
}

// NewPicture returns a picture for room columns.
func NewPicture(pixels *image.RGBA, room int, m Mode) Picture {
	size, cell := pixels.Rect.Size(), m.cell()
	columns := max(min((size.X+cssColumn/2)/cssColumn, room, maxColumns), 1)
	rows := (size.Y*columns*cell.Width + size.X*cell.Height - 1) / (size.X * cell.Height)
	return Picture{columns, max(rows, 1), m, pixels}
}

// Draw draws some rows, of which there are fewer than 297 for KittyCells.
func (p Picture) Draw(from, rows int) *Drawing {
	size := p.pixels.Rect.Size()
	top := from * size.Y / p.Rows
	part := image.NewRGBA(image.Rect(0, 0, size.X, max((from+rows)*size.Y/p.Rows-top, 1)))
	draw.Draw(part, part.Rect, p.pixels, image.Pt(0, top), draw.Src)
	return (&Image{Opaque: true, pixels: part}).Draw(p.Columns, rows, p.Mode, color.RGBA{}, color.RGBA{})
}
