package layout

import (
	"slices"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"mayfly/render/doc"
	"mayfly/render/link"
)

// writer makes lines from pieces. Nothing else writes escape sequences: SGR, and OSC 8 for http,
// https and mailto targets, both closed at the end of a line.
type writer struct {
	theme Theme
	links []doc.Link
	lines []Line
	// images is how many images were written.
	images int
	// block and offset are those of the lines being written.
	block, offset int

	limit    int       // lines
	buffers  bool      // lines are kept as pieces, to be joined with others
	buffered [][]piece // those of each line

	styled, plain []byte
}

func newWriter(theme Theme, links []doc.Link) *writer {
	return &writer{theme: theme, links: links, limit: maxLines}
}

// bufferedLine is a line that is not yet written.
type bufferedLine struct {
	Line   // without Styled
	pieces []piece
}

// release returns the lines kept, without empty ones at the end.
func (w *writer) release() []bufferedLine {
	for len(w.lines) > 0 && w.endsEmpty() {
		w.lines = w.lines[:len(w.lines)-1]
	}
	kept := make([]bufferedLine, len(w.lines))
	for i := range kept {
		kept[i] = bufferedLine{w.lines[i], w.buffered[i]}
	}
	return kept
}

// maxLines bounds how many lines a document takes.
const maxLines = 30_000

// full reports whether the bound on lines is reached.
func (w *writer) full() bool { return len(w.lines) >= w.limit }

func (w *writer) any() bool { return len(w.lines) > 0 }

func (w *writer) count() int { return len(w.lines) }

// grow makes room for n more lines.
func (w *writer) grow(n int) {
	n = min(n, w.limit-w.count())
	w.lines = slices.Grow(w.lines, n)
	if w.buffers {
		w.buffered = slices.Grow(w.buffered, n)
	}
}

// cut removes the lines from keep on, which is at least from, and returns how many of them had
// text.
func (w *writer) cut(from, keep int) int {
	for p := w.lines[keep].Image; p > 0 && keep > from && w.lines[keep-1].Image == p; { // an image is shown whole or not at all
		keep--
	}
	for keep > from+1 && w.lines[keep-1].Image == 0 && strings.TrimSpace(w.lines[keep-1].Plain) == "" {
		keep--
	}
	n, last := 0, 0
	for _, l := range w.lines[keep:] {
		if l.Image == 0 && !empty(l.Plain) || l.Image > last {
			n++
		}
		last = max(last, l.Image)
	}
	w.lines = w.lines[:keep]
	w.buffered = w.buffered[:min(keep, len(w.buffered))]
	return n
}

// blank writes an empty line after the prefix, unless it would be the first line or a second empty
// one.
func (w *writer) blank(prefix []piece) {
	if len(w.lines) == 0 || w.endsEmpty() {
		return
	}
	w.line(prefix, nil)
}

// endsEmpty reports whether the last line is empty.
func (w *writer) endsEmpty() bool {
	l := &w.lines[len(w.lines)-1]
	return l.Image == 0 && empty(l.Plain)
}

// empty reports whether a line has only spaces and the bars of quotes and callouts.
func empty(plain string) bool { return strings.Trim(plain, " ▏▎") == "" }

// maxHyperlink is the longest target, in bytes, that becomes a hyperlink. Terminals ignore longer
// ones, or worse.
const maxHyperlink = 8000

// line writes a line.
func (w *writer) line(prefix, pieces []piece) {
	if w.full() {
		return
	}
	for len(pieces) > 0 && blankPiece(&pieces[len(pieces)-1]) {
		pieces = pieces[:len(pieces)-1]
	}
	if len(pieces) == 0 && len(w.lines) > 0 && w.endsEmpty() {
		return
	}
	w.styled, w.plain = w.styled[:0], w.plain[:0]
	if len(pieces) == 0 {
		for len(prefix) > 0 && blankPiece(&prefix[len(prefix)-1]) {
			prefix = prefix[:len(prefix)-1]
		}
		if len(prefix) == 0 && len(w.lines) == 0 {
			return
		}
	}
	if w.buffers {
		w.buffer(slices.Concat(prefix, pieces))
		return
	}
	s := state{w: w}
	for i := range prefix {
		s.piece(&prefix[i])
	}
	for i := range pieces {
		s.piece(&pieces[i])
	}
	s.close()
	line := Line{Styled: string(w.styled), Links: s.at, Block: w.block, Offset: w.offset}
	if len(w.styled) == len(w.plain) {
		line.Plain = line.Styled
	} else {
		line.Plain = string(w.plain)
	}
	w.lines = append(w.lines, line)
}

// buffer keeps a line.
func (w *writer) buffer(line []piece) {
	for i := range line {
		w.plain = appendText(w.plain, line[i].text())
	}
	w.lines = append(w.lines, Line{Plain: string(w.plain), Block: w.block, Offset: w.offset})
	w.buffered = append(w.buffered, line)
}

// blankPiece reports whether a piece is spaces that show no colour.
func blankPiece(p *piece) bool {
	return p.pen.bg == 0 && p.pen.attrs&(underline|reverse) == 0 && strings.Trim(p.text(), " \u00a0") == ""
}

// finish removes empty lines at the end, and returns all lines.
func (w *writer) finish(width int) []Line {
	if w.full() {
		cut := "… cut here"
		if stringWidth(cut) > width {
			cut = "…"
		}
		w.lines[len(w.lines)-1] = Line{Styled: cut, Plain: cut}
	}
	for len(w.lines) > 0 && w.endsEmpty() {
		w.lines = w.lines[:len(w.lines)-1]
	}
	return w.lines
}

// state is the state of the terminal while a line is written.
type state struct {
	w    *writer
	pen  pen
	link int
	open bool // a hyperlink
	col  int
	at   []LinkAt
}

func (s *state) piece(p *piece) {
	if p.start >= p.end {
		return
	}
	if p.link != s.link {
		s.unlink()
		s.hyperlink(p.link)
	}
	s.switchTo(p.pen)
	text := p.text()
	s.w.styled = appendText(s.w.styled, text)
	s.w.plain = appendText(s.w.plain, text)
	width := p.width
	if width != len(text) { // links are found by grapheme clusters
		width = displaywidth.String(text)
	}
	if p.link > 0 {
		if n := len(s.at); n > 0 && s.at[n-1].N == p.link && s.at[n-1].Col+s.at[n-1].Width == s.col {
			s.at[n-1].Width += width
		} else {
			s.at = append(s.at, LinkAt{N: p.link, Col: s.col, Width: width})
		}
	}
	s.col += width
}

// hyperlink opens an OSC 8 hyperlink, if the target may be one. Each row has its own ID: some
// renderers lose the target of a second row with the same ID.
func (s *state) hyperlink(n int) {
	s.link = n
	if n == 0 || !s.w.theme.Hyperlinks || n > len(s.w.links) {
		return
	}
	l := &s.w.links[n-1]
	if l.Blocked {
		return
	}
	target := link.Escape(l.Target)
	if len(target) > maxHyperlink || !absolute(target) {
		return
	}
	b := append(s.w.styled, "\x1b]8;id="...)
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, int64(len(s.w.lines)), 10)
	b = append(b, ';')
	b = append(b, target...)
	s.w.styled = append(b, "\x1b\\"...)
	s.open = true
}

// absolute reports whether every terminal understands a target alike: a web address with an
// authority, or a mail address.
func absolute(target string) bool {
	for _, start := range [...]string{"https://", "http://", "mailto:"} {
		if len(target) > len(start) && strings.EqualFold(target[:len(start)], start) {
			return true
		}
	}
	return false
}

func (s *state) unlink() {
	if s.open {
		s.w.styled = append(s.w.styled, "\x1b]8;;\x1b\\"...)
		s.open = false
	}
	s.link = 0
}

func (s *state) close() {
	s.unlink()
	if s.pen != (pen{}) {
		s.w.styled = append(s.w.styled, "\x1b[m"...)
	}
}

// appendText appends clean text. No-break spaces become spaces.
func appendText(b []byte, s string) []byte {
	for {
		i := strings.Index(s, "\u00a0")
		if i < 0 {
			return append(b, s...)
		}
		b = append(b, s[:i]...)
		b = append(b, ' ')
		s = s[i+len("\u00a0"):]
	}
}
