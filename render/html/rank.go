package html

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// How much larger than the body a heading is, and how many characters it has at most.
const (
	headingSize   = 1.2
	numberSize    = 1.3 // the same of a number
	figureSize    = 2   // of a number that dominates
	headingLength = 120
	titleLength   = 80
	labelLength   = 40 // of a line above or below a number that says what it counts
	logoLength    = 24
)

// Sizes that differ by less than a tenth are one rank. The first rank has a few headings at most: titles of
// many equal parts are of the second.
const (
	sameRank  = .9
	maxTitles = 3
)

// ranks finds the headings of a message and their ranks. The size of their text says
// more than their elements: templates use those as they please.
type ranks struct {
	body  float32
	all   []ranked
	begun bool // there is running text above
}

// ranked is a heading and the size of its text in px.
type ranked struct {
	block  *doc.Block
	size   float32
	titled bool // it may be of the first rank
	opens  bool // there is no running text above
}

// headings makes headings of short lines that are much larger than the body, and sets the rank of each: 1
// is the largest of the mail, or one not much smaller above all text, 2 the next size, 3 all others.
func (b *builder) headings() {
	r := ranks{body: b.bodySize()}
	r.find(b.doc.Blocks, true)
	if len(r.all) > 1 && r.all[1].size >= r.all[0].size*.7 && b.isLogo(r.all[0]) {
		r.all[0].block.Kind = doc.Paragraph
		r.strengthen(r.all[0].block)
		r.all = r.all[1:]
	}
	first := r.first()
	same, second := 0, float32(0)
	for _, h := range r.all {
		if h.size < first.size*sameRank {
			second = max(second, h.size)
		} else if h.sized(first) {
			same++
		}
	}
	titled := same <= maxTitles && first.titled && first.size >= r.body*headingSize
	if !titled {
		second = first.size
	}
	for _, h := range r.all {
		switch {
		case titled && h.titled && h.sized(first):
			h.block.Level = 1
		case h.size >= second*sameRank || h.size == 0: // a number or an image
			h.block.Level = 2
		default:
			h.block.Level = 3
		}
	}
}

// first returns the heading that is the title of the mail, or as large as one.
func (r *ranks) first() (first ranked) {
	var largest ranked
	for _, h := range r.all {
		if h.size > largest.size {
			largest = h
		}
		if h.titled && h.opens && h.size > first.size {
			first = h
		}
	}
	if first.size < largest.size*.7 {
		return largest
	}
	return first
}

// sized reports whether a heading is of the size of another one.
func (h ranked) sized(as ranked) bool {
	return h.size >= as.size*sameRank && h.size*sameRank <= as.size
}

// isLogo reports whether the first heading is a name at the top: an image, a link, or alone in a band.
func (b *builder) isLogo(h ranked) bool {
	l := h.block
	if !h.opens || utf8.RuneCountInString(l.Text()) > logoLength {
		return false
	}
	in := b.positions[l.Order-1].in
	return l.Spans[0].Image > 0 || l.Spans[0].Link > 0 || in != nil && in.leaves == 1 && in.fill.Set
}

// find collects the headings in reading order. A title is in no list, and in no column unless only a short line, such
// as a date, is beside it.
func (r *ranks) find(blocks []*doc.Block, titled bool) {
	for _, l := range blocks {
		if len(l.Spans) > 0 {
			r.leaf(l, titled)
		}
		r.find(l.Children, titled && l.Kind != doc.List && l.Kind != doc.Quote && (l.Kind != doc.Row || r.titleRow(l)))
	}
}

// titleRow reports a row of a heading and a short line of ordinary text.
func (r *ranks) titleRow(row *doc.Block) bool {
	c := row.Children
	return len(c) == 2 && brief(c[0]) && brief(c[1]) && utf8.RuneCountInString(c[1].Text()) <= labelLength &&
		leafSize(c[1].Children[0]) < r.body*headingSize
}

func (r *ranks) leaf(l *doc.Block, titled bool) {
	size, text := leafSize(l), l.Text()
	length := utf8.RuneCountInString(text)
	least := r.body * headingSize
	if numeric(text) {
		least = r.body * numberSize
	}
	if l.Kind == doc.Paragraph && size >= least && length <= headingLength {
		l.Kind = doc.Heading
	}
	images := size == 0 && !slices.ContainsFunc(l.Spans, func(s doc.Span) bool { return s.Image == 0 })
	if fold(text) == "" || images || l.Kind == doc.Heading && size > 0 && size < least && (size < r.body || !isBold(l)) { // such as a quotation mark, a logo, or a label
		l.Kind = doc.Paragraph
	}
	if l.Kind != doc.Heading {
		r.begun = r.begun || length > labelLength
		r.strengthen(l)
		return
	}
	if numeric(text) { // however large, it is not a title
		l.Figure, size = size >= r.body*figureSize, 0
	}
	r.all = append(r.all, ranked{l, size, titled && size > 0 && length <= titleLength && (l.Spans[0].Link == 0 || length > logoLength), !r.begun})
}

// isBold reports whether all text of a leaf is bold.
func isBold(l *doc.Block) bool {
	return !slices.ContainsFunc(l.Spans, func(s doc.Span) bool { return !s.Style.Bold && s.Image == 0 && !empty(s.Text) })
}

// strengthen makes bold what is as large as a heading in a line with other text, such as a price.
func (r *ranks) strengthen(l *doc.Block) {
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Style.Size >= r.body*headingSize && !s.Button && s.Image == 0 && len(s.Text) <= headingLength {
			s.Style.Bold = true
		}
	}
}

// leafSize returns the size in px of the smallest text of a leaf, 0 if it has buttons or nothing but images.
func leafSize(l *doc.Block) (size float32) {
	for i := range l.Spans {
		switch s := &l.Spans[i]; {
		case s.Button:
			return 0
		case s.Image == 0 && strings.TrimSpace(s.Text) != "" && (size == 0 || s.Style.Size < size):
			size = s.Style.Size
		}
	}
	return size
}

// joinNumbers makes a unit of a large number and the line below it that says what it counts, or else the line above.
func joinNumbers(blocks []*doc.Block) {
	label := func(i int) bool { return i >= 0 && i < len(blocks) && isLabel(blocks[i]) && !counter(blocks[i]) }
	for i, l := range blocks {
		joinNumbers(l.Children)
		switch {
		case !counter(l):
		case label(i+1) && blocks[i+1].Kind == doc.Paragraph: // a heading begins something else
			l.Gap = l.Gap || i > 1 && counter(blocks[i-2]) // whose label is between them
			blocks[i+1].Gap = false
		case label(i - 1):
			l.Gap = false
		}
	}
}

// counter reports a large number.
func counter(l *doc.Block) bool { return l.Kind == doc.Heading && numeric(l.Text()) }

// isLabel reports whether a block is a line of a few words, such as what a number
// counts.
func isLabel(l *doc.Block) bool {
	if l.Kind > doc.Heading || leafSize(l) == 0 {
		return false
	}
	text := l.Text()
	return utf8.RuneCountInString(text) <= labelLength && !strings.ContainsAny(text, "\n,.!?:，。！？：")
}

// markFaint notes the colour of most of the text, and makes secondary what is fainter. Small print
// counts less: the footer of a short message is longer than its body.
func (b *builder) markFaint() {
	count := map[doc.Color]int{}
	strengths := map[doc.Color]float32{}
	common := 0
	for leaf := range b.doc.Leaves() {
		for _, s := range leaf.Spans {
			if s.Link > 0 || s.Image > 0 || s.Style.Background.Set {
				continue
			}
			c, n := s.Style.Color, len(s.Text)
			if s.Style.Size <= 12 {
				n /= 4
			}
			strengths[c] = max(strengths[c], b.strength(leaf, c))
			if count[c] += n; count[c] > common {
				common, b.doc.Color = count[c], c
			}
		}
	}
	most, body := strengths[b.doc.Color], b.bodySize()
	for leaf := range b.doc.Leaves() {
		for i := range leaf.Spans {
			s := &leaf.Spans[i].Style
			limit := max(min(faintBelow, most-.1), most-fainterBy)
			if s.Size <= body*.9 {
				limit = most - smallerBy
			}
			if leaf.Kind != doc.Heading && !s.Background.Set && s.Color.Grey() {
				if strength := b.strength(leaf, s.Color); strength > unseen && strength < limit {
					s.Role = doc.Secondary
				}
			}
		}
	}
}

// faintBelow is the strength below which a grey is faint: that of a contrast of 4.5:1 on white.
const faintBelow = .535

// fainterBy is how much weaker than the body text is that is faint beside it.
const fainterBy = .35

// smallerBy is how much weaker than the body smaller text is that is faint beside it.
const smallerBy = .09

// unseen is the strength up to which text cannot be read on what is behind it: an image must be.
const unseen = .1

// luma returns how bright a colour looks, 0 to 1.
func luma(c doc.Color) float32 { return (float32(c.R)*2 + float32(c.G)*5 + float32(c.B)) / (8 * 255) }

// strength returns how far the colour of text in a leaf is from what is behind it: 0 is invisible, 1
// is black or white. Where the background is that of the message, that is the page or a white
// sheet on it.
func (b *builder) strength(leaf *doc.Block, c doc.Color) float32 {
	on := func(back doc.Color) float32 {
		text, behind := luma(c), luma(back)
		if text > behind {
			return (text - behind) / (1 - behind)
		}
		return (behind - text) / max(behind, .01)
	}
	switch {
	case !c.Set:
		return 1
	case leaf.Background.Set:
		return on(leaf.Background)
	case b.canvas.Set && luma(b.canvas) > .3:
		return max(on(b.canvas), on(css.White))
	case b.canvas.Set:
		return on(b.canvas)
	}
	return on(css.White)
}
