// Package image decodes the images in a message, within bounds, and draws them for a terminal: as
// half blocks, or by the graphics protocols of kitty and iTerm2, or as sixels. A terminal gets
// decoded pixels, encoded again, and never a byte of the message. The package never uses the network.
package image

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"strings"

	"golang.org/x/image/draw"
)

// Bounds on one image.
const (
	maxBytes  = 16 << 20 // of the encoded image
	maxSide   = 16384    // px
	maxMemory = 40 << 20 // bytes that decoding takes
	maxKept   = 1 << 20  // px to which it is reduced: no terminal shows more of it
	leastSide = 4        // px; a smaller image is a spacer
	iconSide  = 40       // px; up to this it is an icon, which is not drawn
)

// Errors of Decode.
var (
	ErrTooLarge = errors.New("the image is too large")
	ErrNothing  = errors.New("the image shows nothing")
	ErrBudget   = errors.New("the message has too many images")
)

// Image is a decoded image, reduced to what a terminal can show.
type Image struct {
	Width, Height int         // original size in px
	Opaque        bool        // without transparent pixels
	Mean          color.NRGBA // average colour, without transparent pixels

	pixels *image.RGBA
}

// Decode decodes the first frame of a PNG, JPEG, GIF, WebP or BMP image and charges the budget for
// it.
func Decode(data io.Reader, b *Budget) (*Image, error) {
	if b.exhausted() {
		return nil, ErrBudget
	}
	all, err := io.ReadAll(io.LimitReader(data, maxBytes+1))
	if err != nil {
		return nil, err
	}
	return b.decode(all)
}

// shrink scales an image to at most so many pixels, keeping its aspect ratio.
func shrink(src image.Image, canvas image.Rectangle, most int) *image.RGBA {
	w, h := canvas.Dx(), canvas.Dy()
	for w*h > most {
		w, h = max(w*9/10, 1), max(h*9/10, 1)
	}
	return scale(src, canvas, image.Pt(w, h))
}

// scale scales the canvas, which may be larger than the image on it, to a size. It halves it
// repeatedly, so that every pixel counts and little memory is needed.
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
	if part := src.Bounds(); !canvas.In(part) { // a frame smaller than its canvas
		whole := image.NewRGBA(canvas)
		draw.Draw(whole, part, src, part.Min, draw.Src)
		src = whole
	}
	draw.ApproxBiLinear.Scale(dst, dst.Bounds(), src, canvas, draw.Src, nil)
	return dst
}

// average finds the average colour, and whether there are transparent pixels.
func (p *Image) average() {
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

// Size is a size in pixels or cells.
type Size struct{ Width, Height int }

// usualCell is the assumed size of a cell in px.
var usualCell = Size{8, 16}

// cssColumn is how many CSS px make a column: 640 px are 80 columns.
const cssColumn = 8

// Mode says how images are drawn. With the zero value they are not.
type Mode struct {
	Protocol Protocol
	Cell     Size // px of a cell; zero if unknown
	Rows     int  // most rows an image may take; MaxRows if zero
}

// MaxRows is the most rows an image may take.
const MaxRows = 24

func (m Mode) cell() Size {
	if m.Cell.Width < 1 || m.Cell.Height < 1 || m.Cell.Width > 200 || m.Cell.Height > 400 {
		return usualCell
	}
	return m.Cell
}

// Shown reports whether an image is worth drawing, neither a spacer nor an icon, by its actual and
// its declared size in px; a declared size of 0 is unknown.
func Shown(width, height, declaredWidth, declaredHeight int) bool {
	if min(width, height) < leastSide {
		return false
	}
	w, h := displayed(width, height, declaredWidth, declaredHeight)
	return min(w, h) >= leastSide && max(w, h) > iconSide
}

// displayed returns the size in px at which an image is meant to be seen, with its aspect ratio
// kept.
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

// Box returns the columns and rows an image takes where room columns are available, or 0, 0 if it
// is not worth drawing. width and height are the declared size in px, 0 if unknown; the aspect
// ratio is that of the image, whatever is declared.
func (p *Image) Box(width, height, room int, m Mode) (columns, rows int) {
	if !Shown(p.Width, p.Height, width, height) {
		return 0, 0
	}
	w, h := displayed(p.Width, p.Height, width, height)
	cell := m.cell()
	perColumn := h / w * float64(cell.Width) / float64(cell.Height) // rows
	most := MaxRows
	if m.Rows > 0 {
		most = min(most, m.Rows)
	}
	columns = int(min(max(w/cssColumn+.5, 1), float64(max(min(room, maxColumns), 1))))
	rows = max(int(float64(columns)*perColumn+.5), 1)
	if rows > most {
		rows = most
		columns = min(columns, max(int(float64(rows)/perColumn+.5), 1))
	}
	return columns, rows
}

// Protocol is a way to show images in a terminal.
type Protocol uint8

const (
	Off        Protocol = iota
	Blocks              // half blocks in the colours of text
	Kitty               // kitty's graphics protocol, placed at the cursor
	KittyCells          // the same, placed by placeholder characters: for screens redrawn in parts
	ITerm2              // OSC 1337 of iTerm2
	Sixel
)

// Placed reports whether a protocol draws over cells that are blank in the text.
func (p Protocol) Placed() bool { return p == Kitty || p == ITerm2 || p == Sixel }

// Detect returns the best protocol that the environment of a terminal names. In a multiplexer it is
// half blocks: it redraws the screen without the images.
func Detect(getenv func(string) string) Protocol {
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	case getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
	case getenv("KITTY_WINDOW_ID") != "" || strings.Contains(term, "kitty") || strings.Contains(term, "ghostty") || program == "ghostty":
		return Kitty
	case program == "iTerm.app" || program == "WezTerm":
		return ITerm2
	case strings.Contains(term, "sixel") || program == "foot" || term == "foot" || strings.HasPrefix(term, "foot-") || term == "mlterm":
		return Sixel
	}
	return Blocks
}

// KnowsPlaceholders reports, from a terminal's answer to XTVERSION, whether it supports
// placeholders: kitty does since 0.28, and Ghostty.
func KnowsPlaceholders(version string) bool {
	if strings.HasPrefix(version, "ghostty ") {
		return true
	}
	var major, minor int
	n, err := fmt.Sscanf(version, "kitty(%d.%d", &major, &minor)
	return err == nil && n == 2 && (major > 0 || minor >= 28)
}
