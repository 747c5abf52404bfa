package reader

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/render"
	"mayfly/ui/cell"
	"mayfly/ui/input"
	"mayfly/ui/theme"
)

// maxHits bounds the hits of a search.
const maxHits = 2000

// search finds text in the lines of the pane. The zero value means no search.
type search struct {
	typing bool
	line   *input.Line
	hits   []hit // from top to bottom
	at     int   // index of the current hit

	lines  []render.Line // the lines that folded was made from
	folded []string      // their text
}

// hit is a stretch of a line.
type hit struct{ line, col, width int }

func newSearch(text string) search {
	return search{typing: text == "", line: input.New(input.Options{Value: text})}
}

func (s *search) text() string {
	if s.line == nil {
		return ""
	}
	return s.line.Value()
}

func (s *search) on() bool   { return s.text() != "" }
func (s *search) clearHits() { s.hits, s.at = nil, 0 }

// typeSearch applies a key or a paste to the search being typed.
func (p *Pane) typeSearch(msg tea.Msg) {
	s := &p.search
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch input.KeyName(k) {
		case "esc":
			*s = search{}
			return
		case "enter", "tab":
			s.typing = false
			return
		}
	}
	if !s.line.Update(msg) {
		return
	}
	s.find(p.lines)
	if line, ok := s.from(p.top - len(p.head())); ok {
		p.reveal(line)
	}
}

// Find searches the message for the first of several texts that occurs in it, once it is laid out.
func (p *Pane) Find(texts []string) {
	p.showView(render.Rich)
	p.wanted = texts
}

func (p *Pane) findWanted() {
	for _, text := range p.wanted {
		s := newSearch(text)
		if s.find(p.lines); len(s.hits) > 0 {
			p.search = s
			p.reveal(s.hits[0].line)
			break
		}
	}
	p.wanted = nil
}

// find finds the text in lines, whatever its case and accents.
func (s *search) find(lines []render.Line) {
	s.clearHits()
	if !s.on() {
		return
	}
	s.fold(lines)
	want := cell.Fold(s.text())
	for n, plain := range s.folded {
		for _, col := range cell.Find(plain, want) {
			s.hits = append(s.hits, hit{n, col, cell.Width(want)})
			if len(s.hits) == maxHits {
				return
			}
		}
	}
}

// fold caches the folded lines between keystrokes.
func (s *search) fold(lines []render.Line) {
	if len(lines) == len(s.lines) && (len(lines) == 0 || &lines[0] == &s.lines[0]) {
		return
	}
	s.lines, s.folded = lines, make([]string, len(lines))
	for n, l := range lines {
		s.folded[n] = cell.Fold(l.Plain)
	}
}

// found is the number of hits as shown to the user.
func (s *search) found() string {
	if len(s.hits) == maxHits {
		return strconv.Itoa(maxHits) + " or more"
	}
	return strconv.Itoa(len(s.hits))
}

// step goes to the next hit, with -1 to the previous one, wrapping around, and returns its line.
func (s *search) step(n int) (line int, ok bool) {
	if len(s.hits) == 0 {
		return 0, false
	}
	s.at = (s.at + n + len(s.hits)) % len(s.hits)
	return s.hits[s.at].line, true
}

// from goes to the first hit at or below a line, and returns its line.
func (s *search) from(line int) (int, bool) {
	for i, h := range s.hits {
		if h.line >= line {
			s.at = i
			return h.line, true
		}
	}
	return s.step(0)
}

// mark highlights the hits in a line. Such a line loses its other styles, so that the hits stand
// out.
func (s *search) mark(th *theme.Theme, n int, l render.Line) string {
	var cols []hit
	present := -1
	for i, h := range s.hits {
		if h.line == n {
			if i == s.at {
				present = len(cols)
			}
			cols = append(cols, h)
		}
	}
	if len(cols) == 0 {
		return l.Styled
	}
	var b strings.Builder
	end := 0
	for i, h := range cols {
		style := th.Match
		if i == present {
			style = th.Match + theme.Reverse
		}
		b.WriteString(ansi.Cut(l.Plain, end, h.col))
		b.WriteString(style.On(ansi.Cut(l.Plain, h.col, h.col+h.width)))
		end = h.col + h.width
	}
	b.WriteString(ansi.TruncateLeft(l.Plain, end, ""))
	return b.String()
}

// status says how many hits there are.
func (s *search) status(th *theme.Theme) string {
	switch {
	case !s.on() || s.typing:
		return ""
	case len(s.hits) == 0:
		return th.Warn.On("/" + cell.Cut(cell.Steady(s.text()), 12) + " not found ")
	}
	return th.Dim.On(strconv.Itoa(s.at+1) + " of " + s.found() + " ")
}

func (s *search) prompt(th *theme.Theme, w int) string {
	found := ""
	if s.on() {
		found = "  " + s.found() + " found"
	}
	return th.Accent.On("/") + s.line.View(th, w-1-len(found)) + th.Dim.On(found)
}
