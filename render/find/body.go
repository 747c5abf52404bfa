package find

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/find/candidate"
	"mayfly/render/lexicon"
)

// Bounds on what is searched. A message beyond them is not searched.
const (
	maxText       = 200 << 10 // bytes of text in a document
	maxLine       = 4 << 10   // bytes of a line
	lineCost      = 16        // bytes that a line counts as at least
	maxHeading    = 160       // bytes of a heading
	maxHits       = 20_000    // phrases in a document
	maxLinks      = 2_000     // different links
	maxCandidates = 400       // candidates for the code
)

// body is a document as lines of text.
type body struct {
	doc     *doc.Document
	lines   []line
	links   []anchor // occurrences of links, in order
	size    float32  // the most common size of its text
	hits    int
	short   bool // it has a few lines, footers aside
	meeting bool // it mentions a meeting to dial into
}

// line is a line in the message itself: a block, or the text between two breaks in one.
type line struct {
	text     string
	fold     lexicon.Text
	hits     []lexicon.Hit // in order, without those that mean something else
	outer    []lexicon.Hit // those outside links
	runs     []run
	anchors  []int                 // indices of body.links
	found    []candidate.Candidate // for the code
	places   []place               // of each of them
	block    *doc.Block
	footer   bool
	heading  bool
	quoted   bool
	coverage int // bytes in links
}

// run is a part of a line in one style.
type run struct {
	start, end int
	span       *doc.Span
}

// anchor is an occurrence of a link.
type anchor struct {
	n          int // number of the link
	line       int
	start, end int
	text       string
	button     bool
	bare       bool          // its text is a URL
	generic    bool          // its text is "here", "click here" or similar
	hits       []lexicon.Hit // in its own text
}

func newBody(d *doc.Document, langs languages) *body {
	p := &body{doc: d, size: 16}
	w := walker{body: p, budget: maxText, sizes: map[float32]int{}}
	for _, b := range d.Blocks {
		w.block(b, false, false)
	}
	most := 0
	for size, n := range w.sizes {
		if n > most || n == most && size < p.size {
			most, p.size = n, size
		}
	}
	for i := range p.lines {
		p.lines[i].hits = p.scan(p.lines[i].fold, langs)
		p.meeting = p.meeting || has(p.lines[i].hits, lexicon.Meeting)
	}
	p.short = p.isShort()
	p.seek()
	for i := range p.links {
		p.name(&p.links[i])
	}
	for i := range p.lines {
		p.lines[i].outer = p.outside(&p.lines[i])
	}
	return p
}

// isShort reports whether a body has just a few lines, footers aside.
func (p *body) isShort() bool {
	const mostLines, mostText = 4, 240
	lines, text := 0, 0
	for i := range p.lines {
		if l := &p.lines[i]; !l.footer {
			lines++
			text += len(l.text)
		}
	}
	return lines <= mostLines && text <= mostText
}

// seek finds the candidates for the code in each line.
func (p *body) seek() {
	n := 0
	for i := 0; i < len(p.lines) && n < maxCandidates; i++ {
		l := &p.lines[i]
		l.seek()
		n += len(l.found)
	}
}

// seek finds the candidates of a line. A word for a code, such as TOTP, is none.
func (l *line) seek() {
	l.found = slices.DeleteFunc(candidate.In(l.text), func(c candidate.Candidate) bool {
		from, to := l.fold.At(c.Start), l.fold.At(c.End)
		return slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool { return h.Class <= lexicon.Code && h.Start <= from && h.End >= to })
	})
	l.compare()
}

// aside reads a text outside the bodies as a line of its own.
func (p *body) aside(text string, langs languages) line {
	l := line{text: text, fold: lexicon.Fold(text)}
	l.hits = p.scan(l.fold, langs)
	l.seek()
	return l
}

// outside returns the hits of a line that do not begin in a link.
func (p *body) outside(l *line) []lexicon.Hit {
	if len(l.anchors) == 0 {
		return l.hits
	}
	var outer []lexicon.Hit
	next := 0
	for _, h := range l.hits {
		at := l.fold.Source(h.Start)
		for next < len(l.anchors) && p.links[l.anchors[next]].end <= at {
			next++
		}
		if next == len(l.anchors) || at < p.links[l.anchors[next]].start {
			outer = append(outer, h)
		}
	}
	return outer
}

// name sets the hits in an anchor's text. A URL as text says nothing.
func (p *body) name(a *anchor) {
	l := &p.lines[a.line]
	from, to := l.fold.At(a.start), l.fold.At(a.end)
	inside := func(h lexicon.Hit) bool { return h.Start >= from && h.End <= to }
	a.bare = strings.Contains(a.text, "://") || strings.HasPrefix(a.text, "www.")
	if a.bare {
		return
	}
	for _, h := range l.hits {
		if inside(h) {
			a.hits = append(a.hits, h)
		}
		if h.Start < to && h.End > from && (h.Class == lexicon.Click || h.Class == lexicon.Copy) {
			a.generic = true
		}
	}
}

type walker struct {
	body   *body
	budget int
	sizes  map[float32]int // bytes of text by size
}

func (w *walker) block(b *doc.Block, footer, quoted bool) {
	if w.budget <= 0 {
		return
	}
	footer = footer || b.Kind == doc.Footer || b.InFooter
	quoted = quoted || b.Kind == doc.Quote || b.Quoted > 0
	if len(b.Spans) > 0 {
		w.leaf(b, footer, quoted)
	}
	for _, c := range b.Children {
		w.block(c, footer, quoted)
	}
}

func (w *walker) leaf(b *doc.Block, footer, quoted bool) {
	var text strings.Builder
	var runs []run
	flush := func() {
		w.line(line{block: b, footer: footer, quoted: quoted, text: text.String(), runs: runs})
		text.Reset()
		runs = nil
	}
	for i := range b.Spans {
		s := &b.Spans[i]
		for part := range strings.Lines(s.Text) {
			content, broken := strings.CutSuffix(part, "\n")
			if room := maxLine - text.Len(); len(content) > room {
				content = cut(content, room)
			}
			if content != "" || s.Image > 0 {
				start := text.Len()
				text.WriteString(content)
				runs = append(runs, run{start, text.Len(), s})
			}
			if broken {
				flush()
			}
		}
		if s.Text == "" && s.Link > 0 {
			runs = append(runs, run{text.Len(), text.Len(), s})
		}
	}
	flush()
}

// cut shortens s to at most n bytes, between runes.
func cut(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// line adds a line, unless it shows nothing.
func (w *walker) line(l line) {
	if strings.TrimSpace(l.text) == "" && !slices.ContainsFunc(l.runs, func(r run) bool { return r.span.Link > 0 }) {
		return
	}
	w.budget -= len(l.text) + lineCost
	if w.budget < 0 {
		return
	}
	p := w.body
	l.fold, l.heading = lexicon.Fold(l.text), l.block.Kind == doc.Heading && len(l.text) < maxHeading
	for _, r := range l.runs {
		if r.span.Link == 0 {
			w.sizes[r.span.Style.Size] += r.end - r.start
			continue
		}
		l.coverage += r.end - r.start
		if k := len(l.anchors) - 1; k >= 0 && p.links[l.anchors[k]].n == r.span.Link && p.links[l.anchors[k]].end == r.start {
			a := &p.links[l.anchors[k]]
			a.end, a.text = r.end, l.text[a.start:r.end]
			a.button = a.button || r.span.Button
			continue
		}
		if len(p.links) < maxLinks {
			l.anchors = append(l.anchors, len(p.links))
			p.links = append(p.links, anchor{
				n: r.span.Link, line: len(p.lines), start: r.start, end: r.end,
				text: l.text[r.start:r.end], button: r.span.Button,
			})
		}
	}
	p.lines = append(p.lines, l)
}

// scan finds the phrases in a text, without those that are part of a longer phrase with another
// meaning.
func (p *body) scan(t lexicon.Text, langs languages) []lexicon.Hit {
	var hits []lexicon.Hit
	for _, l := range langs.likely {
		l.Scan(t, func(h lexicon.Hit) bool {
			hits = append(hits, h)
			p.hits++
			return p.hits < maxHits
		})
	}
	for _, l := range langs.possible {
		first := len(hits)
		l.Scan(t, func(h lexicon.Hit) bool {
			hits = append(hits, h)
			p.hits++
			return p.hits < maxHits
		})
		own := hits[first:]
		beside := len(own) > 1
		hits = append(hits[:first], slices.DeleteFunc(own, func(h lexicon.Hit) bool {
			_, rest, _ := strings.Cut(t.Folded[h.End:], " ")
			all := h.Start == 0 && (rest == "" || strings.HasPrefix(rest, "http"))
			return against[h.Class] && byChance(t.Folded[h.Start:h.End]) && !(h.Class == lexicon.Refuse && (beside || all))
		})...)
	}
	return sorted(hits)
}

// languages are those a message is likely in, and others it may be in.
type languages struct{ likely, possible []*lexicon.Language }

// detect returns the languages of a text. In one too short to be sure, those that have more words for what it says than
// the likely ones have are likely, too.
func detect(t lexicon.Text, hint string) (langs languages) {
	langs.likely, langs.possible = lexicon.Detect(t, hint)
	if len(langs.possible) == 0 {
		return langs
	}
	const some = 7 // letters
	best := some
	for _, l := range langs.likely {
		best = max(best, covered(l, t))
	}
	var leaders []*lexicon.Language
	for _, l := range langs.possible {
		switch n := covered(l, t); {
		case n > best:
			best, leaders = n, []*lexicon.Language{l}
		case n == best && leaders != nil:
			leaders = append(leaders, l)
		}
	}
	langs.likely = append(langs.likely, leaders...)
	langs.possible = slices.DeleteFunc(langs.possible, func(l *lexicon.Language) bool { return slices.Contains(leaders, l) })
	return langs
}

// covered returns how many letters of a text are in words of some length that a language has.
func covered(l *lexicon.Language, t lexicon.Text) (n int) {
	const long = 4 // letters
	end := 0
	l.Scan(t, func(h lexicon.Hit) bool {
		if runes := utf8.RuneCountInString(t.Folded[max(h.Start, end):max(h.End, end)]); h.Start >= end && runes >= long {
			n += runes
		}
		end = max(end, h.End)
		return true
	})
	return n
}

// byChance reports whether a phrase may occur in another language by chance: one short word.
func byChance(phrase string) bool {
	return utf8.RuneCountInString(phrase) < 7 && !strings.Contains(phrase, " ")
}

// against are the classes that speak against what is near them. Short words of languages that a
// message only may be in do not count: among so many, one would occur by chance. A refusal does beside other words of
// its language, since it is as short in all.
var against = map[lexicon.Class]bool{
	lexicon.NotCode: true, lexicon.Label: true, lexicon.Unit: true, lexicon.Footer: true, lexicon.Commerce: true,
	lexicon.Notice: true, lexicon.IfNot: true, lexicon.Refuse: true, lexicon.Meeting: true,
	lexicon.Is: true, lexicon.Enter: true,
}

// sorted sorts the hits, and drops the words that a name of another kind of code overlaps, such as "code" in
// "discount code", and the purposes that a notice overlaps in part: "change of" in "the change of … was made".
func sorted(hits []lexicon.Hit) []lexicon.Hit {
	slices.SortFunc(hits, func(a, b lexicon.Hit) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, int(a.Class)-int(b.Class))
	})
	hits = whole(slices.Compact(hits))
	other := slices.DeleteFunc(slices.Clone(hits), func(h lexicon.Hit) bool { return h.Class != lexicon.NotCode && h.Class != lexicon.Notice })
	if len(other) == 0 {
		return hits
	}
	return slices.DeleteFunc(hits, func(h lexicon.Hit) bool {
		return slices.ContainsFunc(other, func(o lexicon.Hit) bool {
			if o.Start >= h.End || h.Start >= o.End {
				return false
			}
			if o.Class == lexicon.Notice {
				return o.Start != h.Start && asks([]lexicon.Hit{h}) != 0
			}
			switch h.Class {
			case lexicon.Code, lexicon.Strong, lexicon.Reset, lexicon.Invite, lexicon.Confirm:
				return o.End-o.Start >= h.End-h.Start
			}
			return false
		})
	})
}

// whole drops the hits that are part of a longer one. The hits are sorted, longer ones first.
func whole(hits []lexicon.Hit) []lexicon.Hit {
	kept := hits[:0]
	var cover lexicon.Hit
	for _, h := range hits {
		part := h.End <= cover.End && h.End-h.Start < cover.End-cover.Start
		if part && !(h.Class == lexicon.Commerce && (cover.Class == lexicon.NotCode || cover.Class == lexicon.Label)) { // coupons and parcels are commerce
			continue
		}
		if h.End > cover.End {
			cover = h
		}
		kept = append(kept, h)
	}
	return kept
}

// has reports whether one of the hits is of a class.
func has(hits []lexicon.Hit, c lexicon.Class) bool {
	return slices.ContainsFunc(hits, func(h lexicon.Hit) bool { return h.Class == c })
}

func count(hits []lexicon.Hit, c lexicon.Class) int {
	n := 0
	for _, h := range hits {
		if h.Class == c {
			n++
		}
	}
	return n
}

// style returns the style of most bytes from start to end of a line.
func (l *line) style(start, end int) doc.Style {
	var best doc.Style
	most := -1
	for _, r := range l.runs {
		if n := min(end, r.end) - max(start, r.start); n > most {
			most, best = n, r.span.Style
		}
	}
	return best
}
