package find

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/find/lexicon"
)

// Scores, in points.
const (
	codeThreshold = 3.6 // below it a code is not found
	nearTie       = 0.6 // with another candidate this close to the best, neither is chosen
)

// candidate is a place that may have a code.
type candidate struct {
	token
	line  int
	alone bool // alone in its line
	among bool // the page has other figures
	rival bool // the page has other numbers
	sole  bool // the only number
	of    *page
}

// codes returns the candidates worth showing, and whether the first is the code.
func (m *mail) codes() ([]Code, bool) {
	best := map[string]verdict{}
	for _, p := range []*page{m.page, m.text} {
		if p == nil {
			continue
		}
		all := p.candidates()
		listed := p.lists(all)
		number, others := numbers(all)
		var figures []string
		if len(all) > 0 && !others && !m.purpose.mentionsCode && !m.asksForCode() {
			figures = p.figures()
		}
		for i := range all {
			c := &all[i]
			c.sole = number == c.value && !others
			c.rival = number != "" && !c.sole
			c.among = slices.ContainsFunc(figures, func(f string) bool { return !strings.Contains(c.value, f) })
			e := m.judge(c)
			if listed[i] {
				e.add(-4, "one of a list of such")
			}
			if c.sole && m.asksForCode() {
				e.add(0.4, "the only number")
			}
			key := strings.ReplaceAll(c.value, "-", "")
			if old, ok := best[key]; !ok || e.score > old.score {
				best[key] = verdict{c.value, e}
			}
		}
	}
	m.aside(best, m.subject, "in the subject only")
	m.aside(best, m.preheader, "in the preheader only")
	verdicts := make([]verdict, 0, len(best))
	for _, key := range slices.Sorted(maps.Keys(best)) {
		if best[key].score > 0 {
			verdicts = append(verdicts, best[key])
		}
	}
	var codes []Code
	for _, v := range byScore(verdicts, func(v verdict) float64 { return v.score }) {
		codes = append(codes, Code{Value: v.value, Score: v.score, Reasons: v.words()})
	}
	if len(codes) == 0 || codes[0].Score < codeThreshold {
		return codes, false
	}
	return codes, len(codes) == 1 || codes[0].Score-codes[1].Score >= nearTie
}

// verdict is the evidence for a value.
type verdict struct {
	value string
	evidence
}

// aside adds the codes in a line outside the bodies, if they are nowhere else.
func (m *mail) aside(best map[string]verdict, l line, where string) {
	for _, t := range tokens(l.text) {
		key := strings.ReplaceAll(t.value, "-", "")
		if _, ok := best[key]; ok {
			continue
		}
		p := &page{lines: []line{l}, size: 16}
		c := candidate{token: t, of: p}
		e := m.judge(&c)
		e.add(-0.5, "%s", where)
		best[key] = verdict{t.value, e}
	}
}

// candidates returns the places of a page that may have a code.
func (p *page) candidates() []candidate {
	var all []candidate
	for i := 0; i < len(p.lines) && len(all) < maxCandidates; i++ {
		if c, next, ok := p.cells(i); ok {
			all = append(all, c)
			i = next - 1
			continue
		}
		l := &p.lines[i]
		for _, t := range tokens(l.text) {
			alone := bareAround(l.text[:t.start]) && bareAround(l.text[t.end:])
			all = append(all, candidate{token: t, line: i, alone: alone, of: p})
		}
	}
	return all
}

// bareAround reports whether the text beside a candidate is only spaces and punctuation.
func bareAround(s string) bool {
	return len(s) < 40 && strings.Trim(s, " \u00a0\t*_`\"'()[]<>«»“”„「」『』【】·•:.-–—=|#") == ""
}

// cells joins lines of one letter or digit each: some messages write a code in boxes.
func (p *page) cells(from int) (candidate, int, bool) {
	var b strings.Builder
	i := from
	for ; i < len(p.lines) && b.Len() < 12; i++ {
		t := strings.TrimSpace(p.lines[i].text)
		if t == "-" || t == "–" || t == "•" || t == "·" {
			continue
		}
		r, size := utf8.DecodeRuneInString(t)
		c, ok := ascii(r)
		if !ok || size != len(t) || p.lines[i].coverage > 0 || c >= 'a' {
			break
		}
		b.WriteByte(c)
	}
	s := b.String()
	if len(s) < 4 || len(s) > 10 || ascending(s) {
		return candidate{}, 0, false
	}
	if !strings.ContainsAny(s, "0123456789") && len(s) < 5 {
		return candidate{}, 0, false
	}
	return candidate{token: token{value: s, end: len(p.lines[from].text), shape: joined}, line: from, alone: true, of: p}, i, true
}

// lists reports which candidates are in a list of four or more of one kind, such as backup codes,
// or of three on lines of their own.
func (p *page) lists(all []candidate) []bool {
	listed := make([]bool, len(all))
	for i := 0; i < len(all); {
		j := i + 1
		different, most := map[string]bool{all[i].value: true}, 4
		if all[i].alone {
			most = 3
		}
		for j < len(all) && all[j].shape == all[i].shape && len(all[j].value) == len(all[i].value) && all[j].line-all[j-1].line <= 2 {
			different[all[j].value] = true
			if !all[j].alone {
				most = 4
			}
			j++
		}
		if len(different) >= most {
			for k := i; k < j; k++ {
				listed[k] = true
			}
		}
		i = j
	}
	return listed
}

// numbers returns the number among the candidates, or "", and whether there are others. Years do
// not count.
func numbers(all []candidate) (one string, others bool) {
	for i := range all {
		if all[i].shape > spaced || all[i].year || all[i].value == one {
			continue
		}
		if one != "" {
			return one, true
		}
		one = all[i].value
	}
	return one, false
}

// figures returns a few different figures of a page, without quantities, addresses and footers.
func (p *page) figures() []string {
	const most, mostLines = 32, 200
	var found []string
	for i := range min(len(p.lines), mostLines) {
		l := &p.lines[i]
		if l.footer || l.coverage > 0 || !strings.ContainsAny(l.text, "0123456789") {
			continue
		}
		hidden := masks(l.text)
		for _, a := range split(l.text) {
			if a.digits == 0 || slices.Contains(found, a.text) || covered(hidden, a.start, a.end) || l.quantity(a.end) {
				continue
			}
			if found = append(found, a.text); len(found) == most {
				return found
			}
		}
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

// judge adds up the evidence for a candidate.
func (m *mail) judge(c *candidate) evidence {
	var e evidence
	l := &c.of.lines[c.line]
	words := m.words(&e, c)
	m.shape(&e, c, words)
	m.looks(&e, c)
	m.surroundings(&e, c, words)
	if e.score > 0 {
		m.elsewhere(&e, c)
	}
	if l.footer {
		e.add(-2.5, "in the footer")
	}
	if l.quoted {
		e.add(-3.5, "quoted")
	}
	if c.of.link(l, c.start) > 0 {
		e.add(-1.5, "part of a link")
	}
	return e
}

// words says how near the words for a code are.
type words struct {
	points float64
	strong bool // they mean a one-time code and nothing else
	direct bool // nothing that matters is between
	before int  // where they end in the folded line if they are before it in the same line, else -1
}

// The weight of words near a candidate, by where they are.
const (
	strongPoints  = 4.0
	codePoints    = 3.0
	farther       = 0.7 // subtracted for each line between
	claimedPoints = 1.5 // subtracted for a word that is nearer to another number
	reach         = 3   // lines
)

func (m *mail) words(e *evidence, c *candidate) words {
	best := words{before: -1}
	why, phrase := "", ""
	consider := func(w words, format, found string) {
		direct, strong := best.direct || w.direct && w.points > 1.5, best.strong || w.strong && w.points > 1.5
		if w.points > best.points {
			best, why, phrase = w, format, found
		}
		best.direct, best.strong = direct, strong
	}
	lines := c.of.lines
	l := &lines[c.line]
	from, to := l.fold.At(c.start), l.fold.At(c.end)
	for _, h := range l.hits {
		points, ok := wordPoints(h)
		if !ok {
			continue
		}
		if h.Class == lexicon.Code && l.purposeful(h) {
			points += 0.4
		}
		word := l.fold.Folded[h.Start:h.End]
		switch {
		case h.End <= from:
			gap := utf8.RuneCountInString(l.fold.Folded[h.End:from])
			w := words{points: points - float64(min(gap, 160))/50, strong: h.Class == lexicon.Strong, direct: gap <= 26, before: h.End}
			switch {
			case gap <= 2:
				w.points += 0.5
			case gap <= 8: // "is"
				w.points += 0.3
			}
			if c.of.claimed(l, h.End, from) {
				w.points -= claimedPoints
			}
			consider(w, "%q before it", word)
		case h.Start >= to:
			gap := utf8.RuneCountInString(l.fold.Folded[to:h.Start])
			w := words{points: points - 0.2 - float64(min(gap, 160))/45, strong: h.Class == lexicon.Strong, direct: gap <= 26, before: -1}
			if c.of.claimed(l, h.End, min(h.End+40, len(l.fold.Folded))) {
				w.points -= claimedPoints
			}
			switch {
			case from <= 1 || gap <= 2: // "482913 is …"
				w.points += 0.5
			case gap <= 8:
				w.points += 0.3
			}
			consider(w, "%q after it", word)
		}
	}
	// Words in the lines above and below count for a candidate alone in its line, or at its start
	// or end.
	begins := from <= 1
	for d, i := 1, c.line-1; d <= reach && i >= 0; d, i = d+1, i-1 {
		for _, h := range lines[i].hits {
			points, ok := wordPoints(h)
			if !ok || !c.alone && !(begins && d == 1) {
				continue
			}
			tail := utf8.RuneCountInString(lines[i].fold.Folded[h.End:])
			w := words{
				points: points - 0.2 - farther*float64(d-1) - float64(min(tail, 200))/150, strong: h.Class == lexicon.Strong,
				direct: c.alone && d <= 2, before: -1,
			}
			if lines[i].footer {
				w.points--
			}
			consider(w, "%q above it", lines[i].fold.Folded[h.Start:h.End])
		}
	}
	for d, i := 1, c.line+1; d <= 2 && i < len(lines) && c.alone; d, i = d+1, i+1 {
		for _, h := range lines[i].hits {
			points, ok := wordPoints(h)
			if !ok || lines[i].footer {
				continue
			}
			head := utf8.RuneCountInString(lines[i].fold.Folded[:h.Start])
			w := words{
				points: points - 0.8 - farther*float64(d-1) - float64(min(head, 200))/80, strong: h.Class == lexicon.Strong,
				direct: d == 1, before: -1,
			}
			consider(w, "%q below it", lines[i].fold.Folded[h.Start:h.End])
		}
	}
	for _, h := range m.subject.hits {
		if points, ok := wordPoints(h); ok && (c.alone || c.sole && asks(l.hits) != 0) && c.line < 40 {
			consider(words{points: points - 1.2, strong: h.Class == lexicon.Strong, before: -1}, "%q in the subject", m.subject.fold.Folded[h.Start:h.End])
		}
	}
	best.points = max(best.points, 0)
	if why != "" {
		e.add(best.points, why, phrase)
	}
	switch {
	case l.block == nil || best.points == 0:
	case has(m.subject.hits, lexicon.Strong):
		e.add(0.8, "the subject speaks of it")
	case has(m.subject.hits, lexicon.Code):
		e.add(0.4, "the subject speaks of a code")
	}
	return best
}

// purposeful reports whether a phrase is followed by what the code is for: "the code to sign in".
func (l *line) purposeful(code lexicon.Hit) bool {
	for _, h := range l.hits {
		if asks([]lexicon.Hit{h}) != 0 && h.Start-code.End <= 24 && code.Start-h.End <= 24 {
			return true
		}
	}
	return false
}

// claimed reports whether there is a number between two offsets of a folded line, which a word
// before it refers to.
func (p *page) claimed(l *line, from, to int) bool {
	if from >= to {
		return false
	}
	for _, t := range tokens(l.text[l.fold.Source(from):l.fold.Source(to)]) {
		if t.shape != uppercase && t.shape != lowercase {
			return true
		}
	}
	return false
}

func wordPoints(h lexicon.Hit) (float64, bool) {
	switch h.Class {
	case lexicon.Strong:
		return strongPoints, true
	case lexicon.Code:
		return codePoints, true
	}
	return 0, false
}

// shape weighs how much the candidate looks like a code. The less it does, the nearer the words
// must be.
func (m *mail) shape(e *evidence, c *candidate, w words) {
	l := &c.of.lines[c.line]
	style := l.style(c.start, c.end)
	marked := c.alone || style.Bold || style.Mono || style.Spacing > 0 || style.Size >= c.of.size*1.2 || c.quotedByMarks(l.text) || c.bracketed(l, w)
	prominent := c.alone && (style.Mono || style.Spacing > 0 || style.Size >= c.of.size*1.3 || l.block.Boxed || style.Background.Set)
	near := w.direct || marked && w.points >= 2.5 // standing out makes up for distance
	switch c.shape {
	case digits, spaced:
		switch n := len(c.value); {
		case c.year && w.direct:
			e.add(-1, "looks like a year")
		case c.year:
			e.add(-2.5, "looks like a year")
		case n == mostDigits && !(w.strong && near):
			e.add(-5, "as long as a telephone number")
		case n == 6:
			e.add(0.7, "six digits")
		default:
			e.add(0.2, "%d digits", n)
		}
	case joined:
		e.add(2, "one to a cell")
	case hyphened:
		if !near {
			e.add(-1.5, "%s, no word for it near", shapeNames[c.shape])
		}
	case prefixed:
		if !near || numbered[strings.ToLower(c.value[:strings.IndexByte(c.value, '-')])] {
			e.add(-1.5, "%s, no word for it near", shapeNames[c.shape])
		}
	case mixed:
		switch {
		case !near:
			e.add(-3, "%s, no word for it near", shapeNames[c.shape])
		case coupon(c.value) && !w.strong && !m.asksForCode():
			e.add(-2.5, "a word and a number, as coupons are")
		case !marked && c.before != ':' && !scrambled(c.value):
			e.add(-0.5, "%s, not marked", shapeNames[c.shape])
		}
		if len(c.value) > 10 && !c.alone {
			e.add(-1, "long")
		}
	case uppercase:
		switch {
		case w.direct && unpronounceable(c.value):
			e.add(-0.5, "%s", shapeNames[c.shape])
		case !w.direct || !marked && c.before != ':':
			e.add(-4, "%s, not marked", shapeNames[c.shape])
		default:
			e.add(-0.7, "%s", shapeNames[c.shape])
		}
		if has(m.wordHits(l, c), lexicon.Confirm) {
			e.add(-4, "is a word")
		}
	case worded:
		number := strings.ContainsAny(c.value, "0123456789")
		strong := w.strong || c.alone && number && m.asksForCode()
		switch {
		case !strong:
			e.add(-8, "%s", shapeNames[c.shape])
		case w.direct && c.alone && (prominent || w.points >= 3.6 || c.introduced()):
			e.add(-0.5, "%s", shapeNames[c.shape])
		case !c.alone && number && (near || c.before == ':' && w.before >= 0):
			e.add(-1, "%s, within a line", shapeNames[c.shape])
		default:
			e.add(-8, "%s", shapeNames[c.shape])
		}
	case lowercase:
		switch {
		case !w.direct || !w.strong || !prominent:
			e.add(-8, "%s", shapeNames[c.shape])
		default:
			e.add(-1.2, "%s", shapeNames[c.shape])
		}
	}
	if w.direct && w.points > 0 && !c.alone {
		e.add(0.8, "directly")
		if c.before == ':' && w.before >= 0 {
			e.add(0.3, "after a colon")
		}
	}
}

// introduced reports whether the line above ends in a colon.
func (c *candidate) introduced() bool {
	return c.line > 0 && strings.HasSuffix(strings.TrimRight(strings.ReplaceAll(c.of.lines[c.line-1].text, "：", ":"), " \u00a0"), ":")
}

// scrambled reports whether letters and digits alternate as if at random, unlike in SAVE20.
func scrambled(s string) bool {
	changes := 0
	for i := 1; i < len(s); i++ {
		if (s[i] <= '9') != (s[i-1] <= '9') {
			changes++
		}
	}
	return changes >= 2
}

// coupon reports whether a word precedes a number, as in SAVE20.
func coupon(s string) bool {
	word := strings.TrimRight(s, "0123456789")
	return len(word) >= 4 && len(word) < len(s) && !strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "AEIOUaeiou")
}

// numbered are the prefixes of numbers that are not codes: orders, invoices, tickets.
var numbered = map[string]bool{
	"inv": true, "ord": true, "po": true, "sku": true, "ref": true, "tkt": true, "rma": true, "case": true, "id": true,
	"no": true, "nr": true, "rg": true, "re": true, "so": true, "pr": true, "cve": true, "iso": true, "rfc": true, "bug": true, "art": true,
}

// unpronounceable reports whether letters hardly make a word.
func unpronounceable(s string) bool {
	vowels, run, most := 0, 0, 0
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("AEIOUY", s[i]) >= 0 {
			vowels++
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most >= 5 || vowels*5 < len(s)
}

// wordHits returns the phrases that a candidate is part of.
func (m *mail) wordHits(l *line, c *candidate) []lexicon.Hit {
	from, to := l.fold.At(c.start), l.fold.At(c.end)
	var hits []lexicon.Hit
	for _, h := range l.hits {
		if h.Start < to && h.End > from {
			hits = append(hits, lexicon.Hit{Class: lexicon.Confirm, Start: h.Start, End: h.End})
		}
	}
	return hits
}

// quotedByMarks reports whether the candidate is in quotation marks or brackets.
func (c *candidate) quotedByMarks(text string) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:c.start])
	after, _ := utf8.DecodeRuneInString(text[c.end:])
	return strings.ContainsRune("\"'`*[(<«“”„‘’「『【", before) && strings.ContainsRune("\"'`*])>»“”’」』】", after)
}

// bracketed reports whether the candidate and the word for it are in brackets: "(Code QWMKTZ)".
func (c *candidate) bracketed(l *line, w words) bool {
	after, _ := utf8.DecodeRuneInString(l.text[c.end:])
	return w.before >= 0 && l.fold.At(c.start)-w.before <= 3 && strings.ContainsRune(")]）】", after)
}

// looks weighs how the candidate stands out from the text around it.
func (m *mail) looks(e *evidence, c *candidate) {
	l := &c.of.lines[c.line]
	if l.block == nil {
		return // outside the bodies
	}
	if c.alone && c.shape != joined {
		e.add(1.3, "alone in its line")
	}
	s := l.style(c.start, c.end)
	points := 0.0
	var how []string
	note := func(p float64, what string) {
		points += p
		how = append(how, what)
	}
	if c.of.size > 0 && s.Size >= c.of.size*1.25 {
		note(0.9, "large")
	}
	if s.Spacing >= 1 {
		note(0.8, "spaced")
	}
	if s.Mono {
		note(0.5, "monospaced")
	}
	if s.Bold {
		note(0.4, "bold")
	}
	if l.block.Boxed || s.Background.Set {
		note(0.5, "in a box")
	}
	if l.heading && c.alone {
		note(0.4, "a heading")
	}
	if len(how) > 0 {
		e.add(min(points, 2), "%s", strings.Join(how, ", "))
	}
	if c.alone && points >= 0.9 && m.purpose.subject != 0 {
		e.add(0.6, "the subject asks for something: %s", m.purpose.subject)
	}
}

// elsewhere weighs whether the same value is in the subject, the preheader or the other body.
func (m *mail) elsewhere(e *evidence, c *candidate) {
	l := &c.of.lines[c.line]
	switch {
	case l.block == nil:
		return
	case m.numbered(c.value):
		e.add(-4, "the number of something in the subject")
	case holds(m.subject.text, c.value):
		e.add(1.5, "in the subject too")
	}
	if holds(m.preheader.text, c.value) && len(c.value) > 3 {
		e.add(0.8, "in the preheader too")
	}
	if m.text != nil {
		other := m.text
		if c.of == m.text {
			other = m.page
		}
		if other.holds(c.value) {
			e.add(0.5, "in both bodies")
		}
	}
}

// numbered reports whether the subject has the value as the number of something: "Order 482913".
func (m *mail) numbered(value string) bool {
	for _, t := range tokens(m.subject.text) {
		if t.value != value {
			continue
		}
		if t.hash {
			return true
		}
		from := m.subject.fold.At(t.start)
		for _, h := range m.subject.hits {
			if h.Class == lexicon.Label && h.End <= from && from-h.End <= 3 {
				return true
			}
		}
	}
	return false
}

func holds(text, value string) bool {
	for _, t := range tokens(text) {
		if strings.EqualFold(t.value, value) {
			return true
		}
	}
	return false
}

func (p *page) holds(value string) bool {
	for i := range p.lines {
		if strings.Contains(p.lines[i].text, value) {
			return true
		}
	}
	return false
}

// surroundings weighs what is around the candidate: names of other numbers, units, other kinds of
// codes.
func (m *mail) surroundings(e *evidence, c *candidate, w words) {
	l := &c.of.lines[c.line]
	if c.hash {
		e.add(-4, "numbered with # or №")
	}
	c.label(e, w)
	from, to := l.fold.At(c.start), l.fold.At(c.end)
	for _, h := range l.hits {
		if h.Class == lexicon.Unit && h.Start >= to && h.Start-to <= 2 && strings.Trim(l.text[c.end:l.fold.Source(h.Start)], " \u00a0-") == "" {
			e.add(-5, "a quantity of %q", l.fold.Folded[h.Start:h.End])
			break
		}
	}
	c.otherCodes(e, w)
	if c.of.meeting {
		e.add(-5, "the mail is about a meeting")
	}
	expiry := ""
	for _, h := range l.hits {
		if h.Class == lexicon.Expiry && (h.Start >= to || h.End <= from) {
			expiry = l.fold.Folded[h.Start:h.End]
			break
		}
	}
	switch {
	case m.purpose.subject != 0 || m.asksForCode():
	case m.purpose.trade >= 2 && !(w.strong && (c.alone || expiry != "")):
		e.add(-3, "the mail is about orders, offers or news")
	case w.strong || m.purpose.mentionsCode:
	case m.purpose.trade > 0:
		e.add(-2, "nothing in the mail says what it opens, but some of it is about trade")
	case c.rival:
		e.add(-1.7, "nothing in the mail says which of its numbers is the code")
	case c.among:
		e.add(-1.6, "nothing in the mail says what it opens, and there are other figures")
	}
	switch {
	case m.purpose.notice < 2 || m.purpose.subject != 0 || c.alone:
	case has(l.hits, lexicon.Notice):
		e.add(-3, "subject and line tell what has happened")
	case !w.strong && !m.asksForCode():
		e.add(-2, "the subject tells what has happened")
	}
	weak := !w.strong && !has(m.subject.hits, lexicon.Strong)
	if n := count(l.hits, lexicon.Commerce); n > 0 && weak {
		e.add(-min(float64(n), 3), "among words of trade")
	}
	if strings.Contains(l.text, "%") && weak {
		e.add(-2, "beside a percentage")
	}
	if expiry != "" {
		e.add(0.4, "%q beside it", expiry)
	}
}

// asksForCode reports whether the subject mentions a code.
func (m *mail) asksForCode() bool {
	return has(m.subject.hits, lexicon.Strong) || has(m.subject.hits, lexicon.Code)
}

// label weighs the name of another number right before the candidate: in its line, the line above
// or the cell to the left.
func (c *candidate) label(e *evidence, w words) {
	l := &c.of.lines[c.line]
	from := l.fold.At(c.start)
	var nearest *lexicon.Hit
	for i, h := range l.hits {
		if h.Class == lexicon.Label && h.End <= from && from-h.End <= 14 && (nearest == nil || h.End >= nearest.End) {
			nearest = &l.hits[i]
		}
	}
	if c.renamed(w) {
		e.add(-2, "a later sentence before it names another number")
	}
	if nearest != nil {
		name := l.fold.Folded[nearest.Start:nearest.End]
		between := strings.TrimSpace(l.text[l.fold.Source(nearest.End):c.start])
		near := strings.Trim(between, "#.:№°º ") == ""
		switch {
		case w.before >= 0 && w.before >= nearest.End:
			return // a word for a code is between
		case w.before >= 0 && w.strong && strings.HasSuffix(between, ":"):
			e.add(-0.7, "%q before it", name)
		case w.before >= 0 && nearest.Start-w.before <= 40 && strings.HasSuffix(between, ":"):
			e.add(-1.5, "%q before it", name)
		case near:
			e.add(-5, "%q right before it", name)
		case w.before < 0:
			e.add(-2.5, "%q before it", name)
		default:
			e.add(-1, "%q before it", name)
		}
		return
	}
	if !c.alone || c.line == 0 {
		return
	}
	above := &c.of.lines[c.line-1]
	if has(above.hits, lexicon.Strong) || has(above.hits, lexicon.Code) {
		return
	}
	for _, h := range above.hits {
		if h.Class == lexicon.Label && len(above.fold.Folded)-h.End <= 8 && utf8.RuneCountInString(above.fold.Folded) <= 40 {
			e.add(-4, "%q above it", above.fold.Folded[h.Start:h.End])
			return
		}
	}
}

// renamed reports whether a sentence between the word for a code and the candidate names another
// number.
func (c *candidate) renamed(w words) bool {
	if w.before < 0 {
		return false
	}
	l := &c.of.lines[c.line]
	from := l.fold.At(c.start)
	for _, h := range l.hits {
		if h.Class == lexicon.Label && h.Start > w.before && h.End <= from &&
			strings.ContainsAny(l.text[l.fold.Source(w.before):l.fold.Source(h.Start)], ".!?。") {
			return true
		}
	}
	return false
}

// otherCodes weighs codes of another kind that are mentioned near the candidate: coupons,
// postcodes, backup codes.
func (c *candidate) otherCodes(e *evidence, w words) {
	lines := c.of.lines
	l := &lines[c.line]
	from := l.fold.At(c.start)
	for _, h := range l.hits {
		if h.Class != lexicon.NotCode {
			continue
		}
		gap := from - h.End
		if gap < 0 {
			gap = h.Start - from
		}
		if gap <= 80 && !(w.strong && w.direct) {
			e.add(-4, "%q beside it", l.fold.Folded[h.Start:h.End])
			return
		}
	}
	for d := 1; d <= 2 && c.line-d >= 0; d++ {
		above := &lines[c.line-d]
		for _, h := range above.hits {
			if h.Class == lexicon.NotCode && !(w.strong && w.points >= strongPoints-0.8) {
				e.add(-4/float64(d), "%q above it", above.fold.Folded[h.Start:h.End])
				return
			}
		}
	}
}
