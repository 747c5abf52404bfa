package layout

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// piece is a run of text, src[start:end], drawn with one pen.
type piece struct {
	src        string
	start, end int32
	width      int
	pen        pen
	base       int32 // bytes of the leaf before src
	link       int
}

// offset is the number of bytes of the leaf before a line.
func offset(line []piece) int {
	if len(line) == 0 {
		return 0
	}
	return int(line[0].base + line[0].start)
}

func (p *piece) text() string { return p.src[p.start:p.end] }

// text1 returns a piece of known width.
func text1(s string, width int, p pen) piece {
	return piece{src: s, end: int32(len(s)), width: width, pen: p}
}

func spaces(n int) piece { return text1(strings.Repeat(" ", n), n, pen{}) }

func repeat(s string, n int) string { return strings.Repeat(s, max(n, 0)) }

func itoa(n int) string { return strconv.Itoa(n) }

func measure(line []piece) int {
	n := 0
	for i := range line {
		n += line[i].width
	}
	return n
}

// stringWidth returns how many columns a text takes in any terminal.
func stringWidth(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			n := 0
			for clusters := displaywidth.StringGraphemes(s); clusters.Next(); {
				n += clusterWidth(clusters.Value(), clusters.Width())
			}
			return n
		}
	}
	return len(s)
}

// clusterWidth returns the most columns that a grapheme cluster takes, which should take width: many
// terminals count each sign that is not drawn above or below another, as in the scripts of India.
func clusterWidth(value string, width int) int {
	if width != 1 || len(value) <= utf8.UTFMax {
		return width
	}
	return max(width, ansi.StringWidthWc(value))
}

// wrapper fills lines with words.
type wrapper struct {
	width int
	pre   bool // spaces are kept
	emit  func([]piece)

	line  []piece
	lineW int
	space piece // before the word
	word  []piece
	wordW int
	last  rune // last character of the word, which decides whether the line may break after it
	any   bool // the line is not empty; it may be only spaces

	base int32 // bytes of the leaf before the text that is added

	longest int // width of the widest word so far
}

func (w *wrapper) reset(width int, emit func([]piece)) {
	*w = wrapper{width: max(width, 1), emit: emit, line: w.line[:0], word: w.word[:0]}
}

// text adds text drawn with one pen.
func (w *wrapper) text(s string, p pen, link int) {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\n':
			w.newline()
			i++
		case c == ' ' && !w.pre && len(w.word) > 0 && spacedMark(s[i+1:]):
			w.put(piece{s, int32(i), int32(i + 1), 1, p, w.base, link})
			i++
		case c == ' ':
			n := 1
			for i+n < len(s) && s[i+n] == ' ' {
				n++
			}
			w.blank(s, i, n, p, link)
			i += n
		case c < ' ': // documents have no control characters
			i++
		default:
			start := i
			if r, _ := utf8.DecodeRuneInString(s[i:]); breakable(w.last, r) {
				w.commit()
			}
			for i < len(s) && s[i] > ' ' && s[i] < utf8.RuneSelf {
				i++
			}
			if i < len(s) && s[i] >= utf8.RuneSelf {
				i = w.wide(s, start, p, link)
			} else {
				w.put(piece{s, int32(start), int32(i), i - start, p, w.base, link})
				w.last = rune(s[i-1])
			}
		}
	}
	w.base += int32(len(s))
}

// spacedMark reports a punctuation mark that French sets off with a space, and that must not begin
// a line.
func spacedMark(s string) bool {
	if s == "" || strings.IndexByte(":;!?", s[0]) < 0 {
		return false
	}
	return len(s) == 1 || s[1] == ' ' || s[1] == '\n'
}

// wide adds a word with characters beyond ASCII, by grapheme clusters, and returns where it ends.
// The line may break between the characters of scripts without spaces.
func (w *wrapper) wide(s string, start int, p pen, link int) int {
	end := start
	for end < len(s) && s[end] != ' ' && s[end] != '\n' {
		end++
	}
	run := piece{s, int32(start), int32(start), 0, p, w.base, link}
	at := start
	clusters := displaywidth.StringGraphemes(s[start:end])
	for clusters.Next() {
		value := clusters.Value()
		width := clusterWidth(value, clusters.Width())
		r, _ := utf8.DecodeRuneInString(value)
		if breakable(w.last, r) {
			if run.end > run.start {
				w.put(run)
			}
			w.commit()
			run = piece{s, int32(at), int32(at), 0, p, w.base, link}
		}
		at += len(value)
		run.end = int32(at)
		run.width += width
		w.last = r
	}
	if run.end > run.start {
		w.put(run)
	}
	return end
}

// put adds a piece to the word.
func (w *wrapper) put(p piece) {
	w.wordW += p.width
	w.word = extended(w.word, p)
}

// extended adds a piece to others: to the last one, if it follows that directly in the same text.
func extended(pieces []piece, p piece) []piece {
	if n := len(pieces); n > 0 {
		last := &pieces[n-1]
		if last.end == p.start && last.pen == p.pen && last.link == p.link && len(last.src) == len(p.src) && last.src == p.src {
			last.end, last.width = p.end, last.width+p.width
			return pieces
		}
	}
	return append(pieces, p)
}

// object begins a word that is not text, such as a button. The line may break before and after it, but
// not beside a punctuation mark.
func (w *wrapper) object() {
	if breakable(w.last, objectRune) {
		w.commit()
	}
	w.last = objectRune
}

// blank adds n spaces, where the line may break.
func (w *wrapper) blank(s string, at, n int, p pen, link int) {
	w.commit()
	w.last = ' '
	if !w.pre {
		n = 1
		if w.lineW == 0 || w.space.width > 0 {
			return
		}
	}
	w.space = piece{s, int32(at), int32(at + n), n, p, w.base, link}
	if w.pre && n > w.width {
		w.space.end, w.space.width = int32(at+w.width), w.width
	}
}

// commit moves the word to the line, or to a new one if it does not fit.
func (w *wrapper) commit() {
	if len(w.word) == 0 {
		if w.pre && w.space.width > 0 && w.lineW+w.space.width <= w.width {
			w.add(w.space)
			w.space = piece{}
		}
		return
	}
	w.longest = max(w.longest, w.wordW)
	if w.lineW+w.space.width+w.wordW > w.width && (w.lineW > 0 || w.space.width > 0) {
		if w.lineW > 0 && (w.wordW <= w.width || w.lineW+w.space.width > w.width*2/3) {
			w.send()
		}
		if w.lineW == 0 && w.space.width+w.wordW > w.width && w.wordW <= w.width {
			w.space = piece{}
		}
	}
	if w.space.width > 0 && (w.lineW > 0 || w.pre) {
		w.add(w.space)
	}
	w.space = piece{}
	if w.lineW+w.wordW <= w.width {
		for _, p := range w.word {
			w.add(p)
		}
	} else {
		w.split()
	}
	w.word, w.wordW = w.word[:0], 0
}

// add adds a piece to the line.
func (w *wrapper) add(p piece) {
	w.lineW += p.width
	w.line = extended(w.line, p)
}

// send writes the line.
func (w *wrapper) send() {
	w.emit(w.line)
	w.line, w.lineW, w.any = w.line[:0], 0, true
	w.space = piece{}
}

func (w *wrapper) newline() {
	w.commit()
	w.send()
	w.last = 0
}

// end writes the rest.
func (w *wrapper) end() {
	w.commit()
	if w.lineW > 0 || !w.any {
		w.send()
	}
}

// split breaks a word that is wider than a line between grapheme clusters, preferably after a mark
// in a URL.
func (w *wrapper) split() {
	for i, p := range w.word {
		rest := 0 // such as the number of a link, which must not be alone on a line
		for j := i + 1; j < len(w.word) && rest <= 8; j++ {
			rest += w.word[j].width
		}
		for s := p.text(); s != ""; s = p.text() {
			if s[0] == ' ' && w.lineW == 0 { // before a mark that French sets off
				p.start++
				continue
			}
			n, width := fit(s, w.width-w.lineW)
			if n == len(s) && rest > 0 && rest <= 8 && w.lineW+width+rest > w.width && width > rest {
				n, width = fit(s, w.width-w.lineW-rest)
			}
			if n == 0 && w.lineW > 0 {
				w.send()
				continue
			}
			if n == 0 { // not even one cluster fits
				first := displaywidth.StringGraphemes(s)
				first.Next()
				p.start += int32(len(first.Value()))
				w.add(text1("?", 1, p.pen))
				continue
			}
			if n < len(s) {
				if m := strings.LastIndexAny(s[:n], "/?&=-_.,;:%#+") + 1; m > n/2 {
					n, width = m, stringWidth(s[:m])
				}
			}
			w.add(piece{p.src, p.start, p.start + int32(n), width, p.pen, p.base, p.link})
			p.start += int32(n)
			if p.start < p.end {
				w.send()
			}
		}
	}
}

// fit returns how many bytes of s, in whole grapheme clusters, fit into room columns.
func fit(s string, room int) (n, width int) {
	clusters := displaywidth.StringGraphemes(s)
	for clusters.Next() {
		one := clusterWidth(clusters.Value(), clusters.Width())
		if width+one > room {
			return n, width
		}
		n += len(clusters.Value())
		width += one
	}
	return n, width
}

// noStart are characters that must not begin a line, noEnd those that must not end one (JIS X 4051,
// GB/T 15834).
const (
	noStart = "、。，．・：；？！‼⁇⁈⁉）］｝〕〉》」』】〙〗〟’”»›ーァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎゕゖㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿ々〻ゝゞヽヾ‐゠–〜～…‥%‰℃°,.:;?!)]}｡､｣･ｰﾞﾟ％"
	noEnd   = "（［｛〔〈《「『【〘〖〝‘“«‹([{$£¥＄￡￥｢№"
)

// objectRune stands for an object in text. A line may break beside it as beside an ideograph (UAX #14).
const objectRune = '\uFFFC'

// breakable reports whether a line may break between two characters without a space between them.
func breakable(before, after rune) bool {
	if before == 0 || before == ' ' || !ideographic(before) && !ideographic(after) {
		return false
	}
	return !strings.ContainsRune(noStart, after) && !strings.ContainsRune(noEnd, before)
}

// ideographic reports whether a character is of a script without spaces between words.
func ideographic(r rune) bool {
	return r >= 0x2e80 && r <= 0x2fdf || r >= 0x3000 && r <= 0x30ff || r >= 0x31f0 && r <= 0x4dbf || r >= 0x4e00 && r <= 0x9fff ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xff01 && r <= 0xff9f || r >= 0x20000 && r <= 0x3ffff || r == objectRune
}
