package find

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/find/candidate"
	"mayfly/render/lexicon"
)

// code is a candidate for the code at its place in a message, with what its features ask for.
type code struct {
	candidate.Candidate
	place
	mail     *mail
	body     *body
	line     *line
	row      int // index of the line
	from, to int // offsets in the folded line

	alone  bool // in its line
	listed bool // one of a list of such
	sole   bool // the only number of the body
	rival  bool // the body has other numbers
	among  bool // the body has other figures

	style                   doc.Style
	phrase                  phrase // the word for a code that weighs most; nowhere if none
	worth                   float64
	strong                  bool // a word means a one-time code and nothing else
	direct                  bool // nothing that matters is between a word and it
	marked                  bool // stands out, even if not much
	prominent               bool // alone, and stands out much
	near                    bool // a word is near, or nearer than far and it stands out
	linked                  bool // in a link that asks for something
	expiry                  bool // its line says that it expires, or not to share it
	other                   otherNumber
	besideOther, belowOther bool // word for a code of another kind
}

// codes returns the candidates worth showing, and whether the first is the code.
func (m *mail) codes() ([]Code, bool) {
	all := m.codeCandidates()
	found := make([]scored[*code], len(all))
	for i, c := range all {
		found[i] = scored[*code]{c, c.score()}
	}
	found, chosen := best(one(found), enoughForCode, tieOfCodes)
	codes := make([]Code, len(found))
	for i, f := range found {
		c := f.candidate
		codes[i] = Code{Value: c.Value, Score: f.score, Reasons: codeModel.reasons(c)}
		if c.worth > 0 {
			codes[i].Reasons = append(phraseModel.reasons(&c.phrase), codes[i].Reasons...)
		}
	}
	return codes, chosen
}

func (c *code) score() float64 { return c.worth + codeModel.score(c) }

// one keeps the best of the candidates with the same value, sorted by value.
func one(all []scored[*code]) []scored[*code] {
	best := map[string]scored[*code]{}
	for _, s := range all {
		key := s.candidate.Key()
		if old, ok := best[key]; !ok || s.score > old.score {
			best[key] = s
		}
	}
	kept := make([]scored[*code], 0, len(best))
	for _, key := range slices.Sorted(maps.Keys(best)) {
		kept = append(kept, best[key])
	}
	return kept
}

// codeCandidates returns the candidates of the bodies, and those that are only in the subject or
// the preheader.
func (m *mail) codeCandidates() []*code {
	var all []*code
	seen := map[string]bool{}
	for _, p := range m.bodies() {
		codes := p.codes(m)
		for i := range codes {
			c := &codes[i]
			seen[c.Key()] = true
			if c.alone || !c.word() {
				c.read()
				all = append(all, c)
			}
		}
	}
	for _, l := range []*line{&m.subject, &m.preheader} {
		for i, f := range l.found {
			if !seen[f.Key()] {
				c := &code{Candidate: f, mail: m, body: &body{lines: []line{*l}, size: 16}, line: l, place: l.places[i]}
				c.read()
				all = append(all, c)
			}
		}
	}
	return all
}

// codes returns the candidates of a body.
func (p *body) codes(m *mail) []code {
	var all []code
	for i := 0; i < len(p.lines) && len(all) < maxCandidates; i++ {
		l := &p.lines[i]
		if c, next, ok := p.cells(i); ok {
			all = append(all, code{Candidate: c, mail: m, body: p, line: l, row: i, alone: true})
			i = next - 1
			continue
		}
		if c, ok := candidate.Words(l.text); ok {
			all = append(all, code{Candidate: c, mail: m, body: p, line: l, row: i, alone: true})
			continue
		}
		for j, f := range l.found {
			c := code{Candidate: f, mail: m, body: p, line: l, row: i, place: l.places[j]}
			c.alone = bareAround(l.text[:f.Start]) && bareAround(l.text[f.End:])
			all = append(all, c)
		}
	}
	list(all)
	number, others := numbers(all)
	var figures []string
	if len(all) > 0 && !others && !m.purpose.mentionsCode && !m.asksForCode() {
		figures = p.figures()
	}
	for i := range all {
		c := &all[i]
		c.sole = number == c.Value && !others
		c.rival = number != "" && !c.sole
		c.among = slices.ContainsFunc(figures, func(f string) bool { return !strings.Contains(c.Value, f) })
	}
	return all
}

// bareAround reports whether the text beside a candidate is only spaces and punctuation.
func bareAround(s string) bool {
	return len(s) < 40 && strings.Trim(s, " \u00a0\t*_`\"'()[]<>«»“”„「」『』【】·•:.-–—=|#") == ""
}

// cells joins lines of one letter or digit each: some messages write a code in boxes.
func (p *body) cells(from int) (candidate.Candidate, int, bool) {
	var b strings.Builder
	i := from
	for ; i < len(p.lines) && b.Len() < 12; i++ {
		t := strings.TrimSpace(p.lines[i].text)
		r, size := utf8.DecodeRuneInString(t)
		c, ok := candidate.ASCII(r)
		if !ok || size != len(t) || p.lines[i].coverage > 0 || c >= 'a' {
			break
		}
		b.WriteByte(c)
	}
	c, ok := candidate.Join(b.String())
	c.End = len(p.lines[from].text)
	return c, i, ok
}

// list notes which candidates are in a list of four or more of one shape, such as backup codes, or
// of three on lines of their own.
func list(all []code) {
	for i := 0; i < len(all); {
		j := i + 1
		different, most := map[string]bool{all[i].Value: true}, 3
		for j < len(all) && all[j].Shape == all[i].Shape && len(all[j].Value) == len(all[i].Value) && all[j].row-all[j-1].row <= 2 {
			different[all[j].Value] = true
			j++
		}
		if slices.ContainsFunc(all[i:j], func(c code) bool { return !c.alone }) {
			most = 4
		}
		for k := i; k < j && len(different) >= most; k++ {
			all[k].listed = true
		}
		i = j
	}
}

// numbers returns the number among the candidates, or "", and whether there are others. Years
// and those beside one that is called a code do not count.
func numbers(all []code) (one string, others bool) {
	for i := range all {
		c := &all[i]
		if !c.numeric() || c.Year() || c.Value == one || c.lesser {
			continue
		}
		if one != "" {
			return one, true
		}
		one = c.Value
	}
	return one, false
}

// figures returns a few different figures of a body, without quantities, addresses and footers.
func (p *body) figures() []string {
	const most, mostLines = 32, 200
	var found []string
	for i := range min(len(p.lines), mostLines) {
		l := &p.lines[i]
		if l.footer || l.coverage > 0 {
			continue
		}
		candidate.Figures(l.text, func(value string, _, end int) {
			if len(found) < most && !slices.Contains(found, value) && !l.quantity(end) {
				found = append(found, value)
			}
		})
	}
	return found
}

// quantity reports whether there is a unit right after an offset in a line.
func (l *line) quantity(at int) bool {
	from := l.fold.At(at)
	return slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool {
		return h.Class == lexicon.Unit && h.Start >= from && h.Start-from <= 2
	})
}

// read notes what the features ask for.
func (c *code) read() {
	l := c.line
	c.from, c.to = l.fold.At(c.Start), l.fold.At(c.End)
	c.phrases(func(p *phrase) {
		c.direct = c.direct || p.direct(c)
		c.strong = c.strong || p.means()
		if worth := phraseModel.score(p); worth > c.worth {
			c.worth, c.phrase = worth, *p
		}
	})
	if c.phrase.where == nowhere {
		c.phrase.end = -1
	}
	c.stand()
	c.near = c.direct || c.marked && c.phrase.near()
	c.expiry = slices.ContainsFunc(l.hits, func(h lexicon.Hit) bool {
		return h.Class == lexicon.Expiry && (h.Start >= c.to || h.End <= c.from)
	})
	c.linked = c.inBody() && c.inLink()
	c.other = c.otherNumber()
	c.besideOther, c.belowOther = c.nearOtherCode()
}

// stand notes how the candidate stands out.
func (c *code) stand() {
	s := c.line.style(c.Start, c.End)
	set := s.Mono || s.Spacing > 0
	c.style = s
	c.marked = c.alone || set || s.Bold || s.Size >= c.body.size*1.2
	c.prominent = c.alone && (c.Shape == candidate.Joined || set || s.Size >= c.body.size*1.3)
}

// otherNumber says where the name of another number ("order", "phone") is.
type otherNumber uint8

const (
	noOther     otherNumber = iota
	rightBefore             // and nothing between
	onlyAbove               // at the end of the line above a candidate alone in its line
)

func (c *code) otherNumber() otherNumber {
	l := c.line
	nearest := lexicon.Hit{End: -1}
	for _, h := range l.hits {
		if h.Class == lexicon.Label && h.End <= c.from && c.from-h.End <= 14 && h.End >= nearest.End && !l.measures(h) {
			nearest = h
		}
	}
	switch {
	case nearest.End < 0:
		return c.labelAbove()
	case c.phrase.end >= nearest.End:
		return noOther
	}
	gap := strings.TrimSpace(l.text[l.fold.Source(nearest.End):c.Start])
	if strings.Trim(gap, "#.:№°º ") == "" {
		return rightBefore
	}
	return noOther
}

func (c *code) labelAbove() otherNumber {
	if !c.alone || c.row == 0 {
		return noOther
	}
	l := &c.body.lines[c.row-1]
	if has(l.hits, lexicon.Strong) || has(l.hits, lexicon.Code) || utf8.RuneCountInString(l.fold.Folded) > 40 {
		return noOther
	}
	for _, h := range l.hits {
		if h.Class == lexicon.Label && len(l.fold.Folded)-h.End <= 8 {
			return onlyAbove
		}
	}
	return noOther
}

// nearOtherCode reports where a word for a code of another kind (a coupon, a postcode) is.
func (c *code) nearOtherCode() (beside, above bool) {
	for _, h := range c.line.hits {
		if gap := max(c.from-h.End, h.Start-c.to); h.Class == lexicon.NotCode && gap <= 80 && !(c.strong && c.direct) {
			return true, false
		}
	}
	if c.strong && c.phrase.distance <= 40 || c.row == 0 {
		return false, false
	}
	hits := c.body.lines[c.row-1].hits
	return false, has(hits, lexicon.NotCode) && !has(hits, lexicon.Strong)
}

// asksForCode reports whether the subject mentions a code.
func (m *mail) asksForCode() bool {
	return has(m.subject.hits, lexicon.Strong) || has(m.subject.hits, lexicon.Code)
}
