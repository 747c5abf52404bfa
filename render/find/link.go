package find

import (
	"strings"

	"mayfly/render/lexicon"
)

// link is a candidate for the link, with what its features ask for. It may be at several places.
type link struct {
	mail    *mail
	page    *page
	target  target
	n       int  // number in the document
	hasCode bool // the mail has a code, which the link does not carry
	only    bool // the only link of the text, footer and front pages aside

	own     set // purposes named by the link's own text
	near    set // purposes named in its sentence or right above
	button  bool
	bare    bool // its text is the URL itself
	generic bool // "click here"
	ifNot   bool // for those who did not ask
	footer  bool // named like the links of a footer
	refuses bool
	trade   bool // its text is about orders, offers or news
}

// links returns the links worth showing beside the code of the message, "" without one, and whether the first is the one the message is about.
func (m *mail) links(code string) ([]Link, bool) {
	all, ok := m.linksOf(m.page, code)
	if ok || m.text == nil {
		return all, ok
	}
	others, found := m.linksOf(m.text, code)
	if !found {
		return all, false
	}
	for i := range others {
		others[i].N = 0
		for _, l := range m.page.doc.Links {
			if l.URL == others[i].URL {
				others[i].N = l.N
			}
		}
	}
	return others, true
}

func (m *mail) linksOf(p *page, code string) ([]Link, bool) {
	all := p.candidates(m, code)
	judged := make([]scored[*link], len(all))
	for i := range all {
		judged[i] = scored[*link]{&all[i], linkModel.score(&all[i])}
	}
	judged, chosen := best(judged, enoughForLink, tieOfLinks)
	found := make([]Link, len(judged))
	for i, j := range judged {
		l := &p.doc.Links[j.candidate.n-1]
		found[i] = Link{N: j.candidate.n, URL: l.URL, Text: l.Text, Host: l.Host, Score: j.score, Reasons: linkModel.reasons(j.candidate)}
	}
	return found, chosen
}

// candidates returns the links of a page that lead to a page of the web.
func (p *page) candidates(m *mail, code string) []link {
	places := make([][]int, len(p.doc.Links)+1)
	for i, a := range p.links {
		if a.n >= 1 && a.n < len(places) {
			places[a.n] = append(places[a.n], i)
		}
	}
	var all []link
	content := 0
	for n := 1; n < len(places); n++ {
		if len(places[n]) == 0 {
			continue
		}
		to := &p.doc.Links[n-1]
		l := link{mail: m, page: p, n: n, target: inspect(to.URL)}
		l.hasCode = code != "" && !strings.Contains(to.URL, code)
		if l.content(places[n]) {
			content++
		}
		if l.target.web() {
			l.read(places[n])
			all = append(all, l)
		}
	}
	for i := range all {
		l := &all[i]
		l.only = content == 1 && !l.target.root && !l.target.footer
	}
	return all
}

// content reports whether a link is outside the footer and leads neither to a front page nor to
// what footers link to.
func (l *link) content(places []int) bool {
	if l.target.root || l.target.footer {
		return false
	}
	for _, i := range places {
		if a := &l.page.links[i]; !l.page.lines[a.line].footer && !has(a.hits, lexicon.Footer) {
			return true
		}
	}
	return false
}

// read notes what the features ask for, from all places of the link.
func (l *link) read(places []int) {
	for _, i := range places {
		a := &l.page.links[i]
		line := &l.page.lines[a.line]
		l.button = l.button || a.button
		own := requests(a.hits)
		if line.footer && own == 0 {
			continue
		}
		l.own |= own
		l.readText(a, own)
		near, ifNot := l.page.around(a)
		l.near |= near
		l.ifNot = l.ifNot || ifNot
	}
}

// longestName is the most bytes of the name of a page; a longer text is a sentence.
const longestName = 48

// readText notes what the text of the link at a place says, or for a bare URL the text before it.
func (l *link) readText(a *anchor, own set) {
	if a.bare {
		l.bare = true
		l.footer = l.footer || l.page.footerLabel(a)
		return
	}
	l.generic = l.generic || a.generic
	l.footer = l.footer || own == 0 && len(a.text) <= longestName && has(a.hits, lexicon.Footer)
	l.trade = l.trade || own&l.mail.purpose.subject == 0 && has(a.hits, lexicon.Commerce)
	l.ifNot = l.ifNot || has(a.hits, lexicon.IfNot)
	l.refuses = l.refuses || has(a.hits, lexicon.Refuse)
}

// sentenceEnds reports whether a sentence ends in a text.
func sentenceEnds(s string) bool {
	for i, r := range s {
		switch r {
		case '。', '！', '？', '।', '؟', '۔', '።', '။':
			return true
		case '.', '!', '?':
			if i+1 == len(s) || s[i+1] == ' ' {
				return true
			}
		}
	}
	return false
}

// footerLabel reports whether a bare URL is labelled like a link of a footer: "Unsubscribe:
// https://…".
func (p *page) footerLabel(a *anchor) bool {
	l := &p.lines[a.line]
	hits := l.before(a)
	if len(hits) == 0 && l.fold.At(a.start) == 0 && a.line > 0 {
		hits = p.lines[a.line-1].hits
	}
	return has(hits, lexicon.Footer) && requests(hits) == 0 && !has(hits, lexicon.Copy)
}

// before returns the hits of a line before an anchor.
func (l *line) before(a *anchor) []lexicon.Hit {
	from := l.fold.At(a.start)
	n := 0
	for n < len(l.hits) && l.hits[n].Start < from {
		n++
	}
	return l.hits[:n]
}

// around returns what the line of an anchor, outside its own text, and the line above ask for, and whether
// the former is for those who did not ask.
func (p *page) around(a *anchor) (near set, ifNot bool) {
	l := &p.lines[a.line]
	from, to := l.fold.At(a.start), l.fold.At(a.end)
	var beside []lexicon.Hit
	for _, h := range l.hits {
		if h.End <= from || h.Start >= to {
			beside = append(beside, h)
		}
	}
	near = requests(beside)
	if a.line > 0 {
		near |= requests(p.lines[a.line-1].hits)
	}
	return near, has(beside, lexicon.IfNot)
}
