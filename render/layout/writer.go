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
	theme         Theme
	links         []doc.Link
	lines         []Line
	images        int // written so far
	block, offset int // of the lines being written

	limit   int  // lines
	buffers bool // lines are kept as pieces, to be joined with others

	styled, plain []byte
}

func newWriter(theme Theme, links []doc.Link) *writer {
	return &writer{theme: theme, links: links, limit: maxLines}
}

// maxLines bounds how many lines a document takes.
const maxLines = 30_000

// full reports whether the bound on lines is reached.
func (w *writer) full() bool { return len(w.lines) >= w.limit }

func (w *writer) any() bool { return len(w.lines) > 0 }

// cut removes the lines from keep on, which is at least from, and returns how many of them had
// text.
func (w *writer) cut(from, keep int) int {
	for p := w.lines[keep].Image; p > 0 && keep > from && w.lines[keep-1].Image == p; { // an image is shown whole or not at all
		keep--
	}
	for keep > from+1 && w.lines[keep-1].Image == 0 && strings.TrimSpace(w.lines[keep-1].Plain) == "" {
		keep--
	}
	n := w.filled(keep)
	w.lines = w.lines[:keep]
	return n
}

// filled returns how many lines from one on have text. An image counts as one.
func (w *writer) filled(from int) int {
	n, last := 0, 0
	for _, l := range w.lines[from:] {
		if l.Image == 0 && !empty(l.Plain) || l.Image > last {
			n++
		}
		last = max(last, l.Image)
	}
	return n
}

// endsEmpty reports whether the last line is empty.
func (w *writer) endsEmpty() bool {
	l := &w.lines[len(w.lines)-1]
	return l.Image == 0 && empty(l.Plain)
}

// empty reports whether a line has only spaces and the bars of quotes and callouts.
func empty(plain string) bool { return strings.Trim(plain, " ▏▎▕") == "" }

// maxHyperlink is the longest target, in bytes, that becomes a hyperlink. Terminals ignore longer
// ones, or worse.
const maxHyperlink = 8000

// line writes a line.
func (w *writer) line(prefix, pieces []piece) {
	if w.full() {
		return
	}
	if pieces = trimmed(pieces); len(pieces) == 0 {
		if len(w.lines) > 0 && w.endsEmpty() {
			return
		}
		if prefix = trimmed(prefix); len(prefix) == 0 && len(w.lines) == 0 {
			return
		}
	}
	line := Line{Block: w.block, Offset: w.offset}
	w.styled, w.plain = w.styled[:0], w.plain[:0]
	if w.buffers {
		line.pieces = slices.Concat(prefix, pieces)
		for i := range line.pieces {
			w.plain = appendText(w.plain, line.pieces[i].text())
		}
	} else {
		s := state{w: w}
		s.pieces(prefix)
		s.pieces(pieces)
		s.close()
		line.Styled, line.Links = string(w.styled), s.at
	}
	if line.Plain = line.Styled; len(w.styled) != len(w.plain) {
		line.Plain = string(w.plain)
	}
	w.lines = append(w.lines, line)
}

// trimmed returns pieces without blank ones at the end.
func trimmed(pieces []piece) []piece {
	for len(pieces) > 0 && blankPiece(&pieces[len(pieces)-1]) {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}

// blankPiece reports whether a piece is spaces that show no colour.
func blankPiece(p *piece) bool {
	return p.pen.bg == 0 && p.pen.attrs&(underline|reverse) == 0 && strings.Trim(p.text(), " \u00a0") == ""
}

// finish returns all lines, and says at the end if they are cut.
func (w *writer) finish(width int) []Line {
	if w.full() {
		cut := "… cut here"
		if stringWidth(cut) > width {
			cut = "…"
		}
		w.lines[len(w.lines)-1] = Line{Styled: cut, Plain: cut}
	}
	return w.trimmed()
}

// trimmed returns the lines without empty ones at the end.
func (w *writer) trimmed() []Line {
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

func (s *state) pieces(line []piece) {
	for i := range line {
		s.piece(&line[i])
	}
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
		before, after, found := strings.Cut(s, "\u00a0")
		if b = append(b, before...); !found {
			return b
		}
		b, s = append(b, ' '), after
	}
}
