package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/render"
	"mayfly/render/image"
)

// pictures is what there is of the pictures on the screen beside its cells.
type pictures struct {
	of     *opened  // the message that shows pictures: what was decoded of it is forgotten when they go
	given  []uint32 // the images that the terminal was given
	giving string   // is on its way to the terminal; laid goes on the screen when it is there
	laid   laidMsg  // whose pictures the terminal is being given
}

// sensePictures finds how the screen shows pictures, from what the terminal said about itself. Half blocks are cells like
// all others. Of the graphics protocols only kitty's placeholders are, since the screen is redrawn in parts; a terminal
// says by its version that it knows them.
func (a *app) sensePictures() {
	m := image.Mode{}
	switch profile := a.caps.profile; {
	case profile < colorprofile.ANSI:
	case profile == colorprofile.TrueColor && image.KnowsPlaceholders(a.caps.version):
		m = image.Mode{Protocol: image.KittyCells, Cell: kittyCell}
	default:
		m = image.Mode{Protocol: image.Blocks}
	}
	a.reader.pictureMode = m
}

// kittyCell is taken for the size of a cell: kitty scales what it is given.
var kittyCell = image.Size{Width: 10, Height: 20}

// togglePictures shows the pictures that the message carries, or hides them again.
func (a *app) togglePictures() tea.Cmd {
	r := a.reader
	r.pictures = !r.pictures
	if !r.pictures {
		return a.say(note, "The pictures are hidden again")
	}
	r.setView(render.Rich)
	return a.fetchRaw()
}

// tidyPictures frees what pictures took that are on the screen no more.
func (a *app) tidyPictures() tea.Cmd {
	p, r := &a.pictures, a.reader
	if p.of != nil && (p.of != r.opened || !r.pictures) {
		p.of.mail.ForgetImages()
		p.of = nil
	}
	if r.pictures && r.opened != nil {
		p.of = r.opened
		return nil
	}
	return a.takeBack(nil)
}

// takeBack frees the images that the terminal was given and that lines do not show.
func (a *app) takeBack(lines []render.Line) tea.Cmd {
	var b strings.Builder
	a.pictures.given = slices.DeleteFunc(a.pictures.given, func(id uint32) bool {
		if slices.ContainsFunc(lines, func(l render.Line) bool { return l.ImageID == id }) {
			return false
		}
		b.WriteString(image.Forget(id))
		return true
	})
	if b.Len() == 0 {
		return nil
	}
	return tea.Raw(b.String())
}

// give sends the terminal the images that lines show by placeholders, and reports whether there were any it has not.
func (a *app) give(m laidMsg) (tea.Cmd, bool) {
	p := &a.pictures
	var b strings.Builder
	for i := range m.lines {
		if l := &m.lines[i]; l.ImageID > 0 && !slices.Contains(p.given, l.ImageID) {
			p.given = append(p.given, l.ImageID)
			b.WriteString(l.Draw)
		}
	}
	if b.Len() == 0 {
		return nil, false
	}
	p.giving, p.laid = b.String(), m
	return tea.Raw(p.giving), true
}

// gave puts the lines on the screen whose images the terminal has by now.
func (a *app) gave(m tea.RawMsg) tea.Cmd {
	p := &a.pictures
	if sent, ok := m.Msg.(string); !ok || sent != p.giving || p.giving == "" {
		return nil
	}
	laid := p.laid
	p.giving, p.laid = "", laidMsg{}
	return laid.apply(a)
}

// quit ends the application. What the terminal was given it need not keep.
func (a *app) quit() tea.Cmd {
	if free := a.takeBack(nil); free != nil {
		return tea.Sequence(free, tea.Quit)
	}
	return tea.Quit
}

// picturesText is a number of pictures.
func picturesText(n int) string {
	if n == 1 {
		return "1 picture"
	}
	return itoa(n) + " pictures"
}
