package layout

import (
	"mayfly/render/doc"
	"mayfly/render/image"
)

// stripRows is how many rows of a picture are drawn as one image.
const stripRows = 64

// Picture lays out a picture, with a line for each of its rows. With a protocol that draws over cells the lines are
// blank: who shows them draws the rows that are in view.
func Picture(p image.Picture, th Theme) []Line {
	w, ink := newWriter(th, nil), newInks(th, doc.Color{}, false)
	for row := 0; row < p.Rows; row += stripRows {
		strip := &image.Drawing{Columns: p.Columns, Rows: min(stripRows, p.Rows-row)}
		if !p.Mode.Protocol.Placed() {
			strip = p.Draw(row, strip.Rows)
		}
		w.images++
		for n := range strip.Rows {
			w.image(nil, nil, strip, n, ink)
		}
	}
	return w.lines
}
