package html

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// How much larger than the body a heading is, and how many characters it has at most.
const (
	headingSize   = 1.2
	boldSize      = 1.1 // the same of bold text
	mixedSize     = 1.3 // of a line with both, in which only some words stand out, and of one that is faint
	figureSize    = 2   // of a number that dominates
	headingLength = 120
	titleLength   = 80
	labelLength   = 40 // of a line above or below a number that says what it counts
	logoLength    = 24
)

// Sizes that differ by less than a tenth are one rank. The first rank has a few headings at most, each with room
// for a line under it: titles of many equal parts are of the second.
const (
	sameRank    = .9
	muchSmaller = .7
	maxTitles   = 2
)

// ranks finds the headings of a message and their ranks. The size of their text counts, not their elements: templates
// use those as they please.
type ranks struct {
	body  float32
	all   []ranked
	above float32 // the largest of those above all running text
	begun bool    // there is running text above

	figures []*doc.Block // numbers that are much larger than the body
}

// ranked is a heading and the size of its text in px.
type ranked struct {
	block *doc.Block
	size  float32
	title bool // there is room for a line under it
}

// headings makes headings of short lines that are much larger than the body, and sets the rank of each. Of rank 1 is
// the largest, down to those above all text that are not much smaller, if they are few; 2 is the next size, 3 all others.
func (b *builder) headings() {
	r := ranks{body: b.bodySize()}
	r.find(b, b.doc.Blocks, true)
	if len(r.figures) == 1 {
		r.figures[0].Figure = true
	}
	slices.SortStableFunc(r.all, func(a, b ranked) int { return cmp.Compare(b.size, a.size) })
	if len(r.all) == 0 {
		return
	}
	least := r.all[0].size
	if r.above >= least*muchSmaller {
		least = min(least, r.above)
	}
	level := 1
	for i, h := range r.all {
		if h.size >= least*sameRank && (!h.title || i == maxTitles) || least < r.body*headingSize {
			level = 2
		}
	}
	for _, h := range r.all {
		if h.size < least*sameRank {
			level, least = min(level+1, 3), h.size
		}
		h.block.Level = level
	}
}

// find collects the headings in reading order. A title is in no column unless only a short line, such
// as a date, is beside it.
func (r *ranks) find(b *builder, blocks []*doc.Block, title bool) {
	for _, l := range blocks {
		if len(l.Spans) > 0 {
			r.leaf(b, l, title)
		}
		r.find(b, l.Children, title && (l.Kind != doc.Row || r.titleRow(l)))
	}
}

// titleRow reports a row of a heading and a short line of ordinary text.
func (r *ranks) titleRow(row *doc.Block) bool {
	c := row.Children
	return len(c) == 2 && brief(c[0]) && brief(c[1]) && utf8.RuneCountInString(c[1].Text()) <= labelLength &&
		leafSize(c[1].Children[0]) < r.body*headingSize
}

// leaf makes a heading of a short line of large text. A number is one, but however large no title.
func (r *ranks) leaf(b *builder, l *doc.Block, title bool) {
	size, text := leafSize(l), l.Text()
	length := utf8.RuneCountInString(text)
	least := r.body * leastSize(l)
	if l.Kind != doc.Paragraph || size < least || length > headingLength || fold(text) == "" { // such as a quotation mark
		r.begun = r.begun || length > labelLength
		strengthen(l, least)
		return
	}
	if l.Kind = doc.Heading; numeric(text) {
		if size >= r.body*figureSize {
			r.figures = append(r.figures, l)
		}
		return
	}
	if len(r.all) == 1 && !r.begun && size >= r.all[0].size*sameRank && b.isLogo(r.all[0].block) {
		r.all[0].block.Kind = doc.Paragraph
		strengthen(r.all[0].block, 0)
		r.all = r.all[:0]
	}
	title = title && length <= titleLength && strings.ContainsFunc(text, unicode.IsLetter)
	if title && !r.begun {
		r.above = max(r.above, size)
	}
	r.all = append(r.all, ranked{l, size, title})
}

// leastSize returns how much larger than the body a leaf is as a heading, by its weight.
func leastSize(l *doc.Block) float32 {
	bold, plain, faint := false, false, false
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Image == 0 && !empty(s.Text) {
			bold, plain, faint = bold || s.Style.Bold, plain || !s.Style.Bold, faint || s.Style.Role == doc.Secondary
		}
	}
	switch {
	case bold && plain, faint:
		return mixedSize
	case bold:
		return boldSize
	}
	return headingSize
}

// isLogo reports whether the first heading is a name at the top: an image, a link, or alone in a band.
func (b *builder) isLogo(l *doc.Block) bool {
	if utf8.RuneCountInString(l.Text()) > logoLength {
		return false
	}
	in := b.positions[l.Order-1].in
	return l.Spans[0].Image > 0 || l.Spans[0].Link > 0 || in != nil && in.leaves == 1 && in.fill.Set
}

// strengthen makes bold the runs of a size, such as a price in a line with other text.
func strengthen(l *doc.Block, from float32) {
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Style.Size >= from && !s.Button && s.Image == 0 && len(s.Text) <= headingLength {
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

// joinNumbers makes a unit of a large number and the line below it that says what it counts.
func joinNumbers(blocks []*doc.Block) {
	counter := func(i int) bool {
		return i >= 0 && blocks[i].Kind == doc.Heading && numeric(blocks[i].Text())
	}
	for i, l := range blocks {
		joinNumbers(l.Children)
		if counter(i-1) && l.Kind == doc.Paragraph && isLabel(l) {
			l.Gap = false
			blocks[i-1].Gap = blocks[i-1].Gap || counter(i-3) // whose label is between them
		}
	}
}

// isLabel reports whether a block is a line of a few words, such as what a number
// counts.
func isLabel(l *doc.Block) bool {
	if l.Kind > doc.Heading || leafSize(l) == 0 {
		return false
	}
	text := l.Text()
	return utf8.RuneCountInString(text) <= labelLength && !strings.ContainsAny(text, "\n,.!?:，。！？：")
}

// markFaint notes the colour of most of the text, and makes secondary what is fainter, and soft what is weaker than headings.
// Small print and colours count less: the footer of a short message is longer than its body, and so is an alert.
func (b *builder) markFaint() {
	count, plain := map[doc.Color]int{}, map[doc.Color]int{} // plain is outside of fills
	strengths := map[doc.Color]float32{}
	common, body := 0, b.bodySize()
	for leaf := range b.doc.Leaves() {
		for _, s := range leaf.Spans {
			if s.Link > 0 || s.Image > 0 || s.Style.Background.Set {
				continue
			}
			c, n, strength := s.Style.Color, len(s.Text), b.strength(leaf, s.Style.Color)
			if s.Style.Size < body*.95 || !c.Grey() || strength < paleBelow {
				n /= 4
			}
			if c.Grey() && !leaf.Background.Set {
				plain[c] += n
			}
			strengths[c] = max(strengths[c], strength)
			if count[c] += n; count[c] > common {
				common, b.doc.Color = count[c], c
			}
		}
	}
	most := strengths[b.doc.Color]
	strongest := most
	for c, n := range plain {
		if n*rareText >= common {
			strongest = max(strongest, strengths[c])
		}
	}
	for leaf := range b.doc.Leaves() {
		for i := range leaf.Spans {
			s := &leaf.Spans[i].Style
			limit := max(min(faintBelow, most-.1), most-fainterBy)
			if s.Size <= body*.9 {
				limit = most - smallerBy
			}
			strength := b.strength(leaf, s.Color)
			switch {
			case s.Background.Set || !s.Color.Grey() || strength <= unseen:
			case strength < limit:
				s.Role = doc.Secondary
			case strength < softBelow && strength < strongest-softBy:
				s.Role = doc.Soft
			}
		}
	}
}

// faintBelow is the strength below which a grey is faint: that of a contrast of 5:1 on white.
const faintBelow = .55

// paleBelow is the same of what is hardly the body.
const paleBelow = .3

// fainterBy is how much weaker than the body text is that is faint beside it.
const fainterBy = .35

// softBelow is the strength below which the text of a mail is soft if it is weaker by softBy than the strongest, which is that of
// its headings or more than one part in rareText of the rest.
const (
	softBelow = .69
	softBy    = .2
	rareText  = 20
)

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
