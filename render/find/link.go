package find

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/find/lexicon"
)

// Scores, in points.
const (
	linkThreshold = 3.6
	linkTie       = 0.3 // with another link this close to the best, neither is chosen
)

// links returns the links worth showing, and whether the first is the one the message is about.
func (m *mail) links(hasCode bool) ([]Link, bool) {
	all, ok := m.linksOf(m.page, hasCode)
	if ok || m.text == nil {
		return all, ok
	}
	others, found := m.linksOf(m.text, hasCode)
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

func (m *mail) linksOf(p *page, hasCode bool) ([]Link, bool) {
	places := make([][]int, len(p.doc.Links)+1)
	for i, a := range p.links {
		if a.n >= 1 && a.n <= len(p.doc.Links) {
			places[a.n] = append(places[a.n], i)
		}
	}
	targets := make([]target, len(places))
	for n := 1; n < len(places); n++ {
		if len(places[n]) > 0 {
			targets[n] = behind(&p.doc.Links[n-1])
		}
	}
	contentLinks := p.contentLinks(targets)
	type judged struct {
		n int
		evidence
	}
	var all []judged
	for n := 1; n < len(places); n++ {
		if len(places[n]) == 0 {
			continue
		}
		if e, ok := m.judgeLink(p, targets[n], places[n], hasCode, contentLinks); ok && e.score > 0 {
			all = append(all, judged{n, e})
		}
	}
	var found []Link
	for _, j := range byScore(all, func(j judged) float64 { return j.score }) {
		l := &p.doc.Links[j.n-1]
		found = append(found, Link{N: j.n, URL: l.URL, Text: l.Text, Host: l.Host, Score: j.score, Reasons: j.words()})
	}
	if len(found) == 0 || found[0].Score < linkThreshold {
		return found, false
	}
	return found, len(found) == 1 || found[0].Score-found[1].Score >= linkTie
}

// contentLinks returns how many links are outside the footer and do not lead to a front page.
func (p *page) contentLinks(targets []target) int {
	seen := map[int]bool{}
	for _, a := range p.links {
		if a.n < 1 || a.n >= len(targets) || p.lines[a.line].footer {
			continue
		}
		if t := &targets[a.n]; !t.root && !t.social && !t.footer && !has(a.hits, lexicon.Footer) {
			seen[a.n] = true
		}
	}
	return len(seen)
}

// behind returns what the URL of a link says, or the URL in it if it is that of a click tracker.
func behind(l *doc.Link) target {
	t := inspect(l.URL)
	if l.Via != "" && l.Target != l.URL {
		scheme := t.scheme
		t = inspect(l.Target)
		t.scheme = scheme
	}
	return t
}

// judgeLink adds up the evidence for a link over all its places.
func (m *mail) judgeLink(p *page, t target, places []int, hasCode bool, contentLinks int) (evidence, bool) {
	switch t.scheme {
	case "mailto", "tel", "sms", "javascript", "data", "vbscript", "file", "cid", "about", "":
		return evidence{}, false
	}
	var e evidence
	if t.social {
		e.add(-6, "a social network or shop of applications")
	}
	w := m.wording(&e, p, places, t)
	m.weighURL(&e, t, w)
	if m.button(p, places) {
		e.add(1, "a button")
	}
	m.context(&e, w, t, hasCode)
	if p.meeting {
		e.add(-4, "the mail is about a meeting")
	}
	if contentLinks == 1 && !t.root && !t.footer && w.footer == 0 {
		e.add(0.7, "the only link of the text")
		if w.bare && t.token && !hasCode && w.near == 0 && m.purpose.subject&^onlyLogin != 0 {
			e.add(1, "the only answer to the subject")
		}
	}
	return e, true
}

// wording is what the text of a link, and the text around it, say.
type wording struct {
	own     set // purposes named by the link's own text
	near    set // purposes named in its sentence or right above
	footer  int // places in a footer
	places  int
	bare    bool // its text is the URL itself
	generic bool // "click here"
	ifNot   bool
}

func (m *mail) wording(e *evidence, p *page, places []int, t target) wording {
	w := wording{places: len(places)}
	var footerWord, tradeWord, tradeNear, refuses, copied, follow bool
	for _, i := range places {
		a := &p.links[i]
		l := &p.lines[a.line]
		own := asks(a.hits)
		if has(a.hits, lexicon.Password) {
			own |= 1 << lexicon.Reset
		}
		if l.footer {
			w.footer++
			if own == 0 {
				continue
			}
		}
		w.own |= own
		w.bare = w.bare || a.bare
		if a.bare {
			footerWord = footerWord || p.footerLabel(a)
			refuses = refuses || p.refusingLabel(a)
		} else {
			w.generic = w.generic || a.generic
			footerWord = footerWord || own == 0 && has(a.hits, lexicon.Footer)
			tradeWord = tradeWord || own&m.purpose.subject == 0 && has(a.hits, lexicon.Commerce)
			w.ifNot = w.ifNot || has(a.hits, lexicon.IfNot)
			refuses = refuses || has(a.hits, lexicon.Refuse)
		}
		near, ifNot, copying := p.around(a)
		w.near |= near
		follow = follow || has(l.outer, lexicon.Click)
		tradeNear = tradeNear || own == 0 && has(l.outer, lexicon.Commerce)
		w.ifNot = w.ifNot || ifNot
		copied = copied || a.bare && copying
	}
	switch {
	case w.own&m.purpose.subject != 0:
		e.add(4, "its text asks what the subject asks: %s", w.own&m.purpose.subject)
	case w.own&m.purpose.opening != 0:
		e.add(3.3, "its text asks what the mail opens with: %s", w.own&m.purpose.opening)
	case w.own != 0:
		e.add(2.5, "its text asks: %s", w.own)
	case w.bare || w.generic:
		e.add(1, "a bare or general text")
	case m.button(p, places):
	default:
		e.add(-0.7, "its text asks nothing")
	}
	if w.near == onlyLogin && w.own == 0 && !t.token && !(t.opaque && w.bare && follow && m.purpose.subject == onlyLogin) {
		e.add(-0.5, "no more than a word of signing in near it")
	} else if w.near != 0 {
		points := 1.2
		if w.near&(m.purpose.subject|m.purpose.opening|w.own) != 0 {
			points = 1.7
		}
		e.add(points, "its sentence asks: %s", w.near)
	} else if w.own == 0 && !t.forRequest() && !(follow && m.purpose.subject != 0) {
		e.add(-1, "nothing near it asks")
	}
	if follow && w.near == 0 && m.purpose.subject != 0 {
		e.add(0.7, "its sentence says to follow it")
	}
	if copied {
		e.add(1, "to be copied into a browser")
	}
	switch {
	case w.footer == w.places && w.own&m.purpose.subject != 0 && !t.footer:
		e.add(-1, "in what looks like the footer")
	case w.footer == w.places:
		e.add(-5, "in the footer")
	}
	if footerWord {
		e.add(-4, "named like the links of a footer")
	}
	if tradeWord {
		e.add(-2.5, "about an order, an offer or news")
	}
	if refuses {
		e.add(-4, "undoes or refuses")
	}
	if tradeNear && !(w.bare && m.purpose.subject != 0) {
		e.add(-1.5, "beside words of trade")
	}
	if w.ifNot && w.own&m.purpose.subject == 0 {
		e.add(-4, "for those who did not ask")
	}
	return w
}

// sameSentence reports whether no sentence ends between a phrase and an anchor of a line. Text
// after an anchor continues its sentence if it starts with a lower case letter.
func (l *line) sameSentence(h lexicon.Hit, a *anchor) bool {
	from, to := l.fold.Source(h.Start), l.fold.Source(h.End)
	between := ""
	switch {
	case to <= a.start:
		between = l.text[to:a.start]
	case from >= a.end:
		if r, _ := utf8.DecodeRuneInString(l.text[from:]); a.bare || !unicode.IsLower(r) {
			return false
		}
		between = l.text[a.end:from]
	}
	for i, r := range between {
		switch r {
		case '。', '！', '？', '।', '؟', '۔':
			return false
		case '.', '!', '?':
			if i+1 == len(between) || between[i+1] == ' ' {
				return false
			}
		}
	}
	return true
}

// footerLabel reports whether a bare URL is labelled like a link of a footer: "Unsubscribe:
// https://…".
func (p *page) footerLabel(a *anchor) bool {
	l := &p.lines[a.line]
	hits := before(l, a)
	if len(hits) == 0 && l.fold.At(a.start) == 0 && a.line > 0 {
		hits = p.lines[a.line-1].hits
	}
	return has(hits, lexicon.Footer) && asks(hits) == 0 && !has(hits, lexicon.Copy) && !has(hits, lexicon.Password)
}

// refusingLabel reports whether the sentence before a bare URL is about refusing.
func (p *page) refusingLabel(a *anchor) bool {
	l := &p.lines[a.line]
	if l.fold.At(a.start) > 0 {
		for _, h := range before(l, a) {
			if h.Class == lexicon.Refuse && l.sameSentence(h, a) {
				return true
			}
		}
		return false
	}
	return a.line > 0 && has(p.lines[a.line-1].hits, lexicon.Refuse)
}

// before returns the hits of a line before an anchor.
func before(l *line, a *anchor) []lexicon.Hit {
	from := l.fold.At(a.start)
	n := 0
	for n < len(l.hits) && l.hits[n].Start < from {
		n++
	}
	return l.hits[:n]
}

// around returns what the sentence of an anchor and the lines above it say.
func (p *page) around(a *anchor) (near set, ifNot, copying bool) {
	l := &p.lines[a.line]
	from, to := l.fold.At(a.start), l.fold.At(a.end)
	var beside []lexicon.Hit
	for _, h := range l.hits {
		if h.End <= from || h.Start >= to {
			beside = append(beside, h)
		}
	}
	near = asks(beside)
	if has(beside, lexicon.Password) {
		near |= 1 << lexicon.Reset
	}
	for _, h := range beside {
		ifNot = ifNot || h.Class == lexicon.IfNot && l.sameSentence(h, a)
	}
	copying = has(beside, lexicon.Copy)
	for d := 1; d <= 3 && a.line-d >= 0; d++ {
		above := &p.lines[a.line-d]
		if above.footer && !l.footer {
			break
		}
		copying = copying || d <= 2 && has(above.hits, lexicon.Copy)
		if !has(above.hits, lexicon.IfNot) {
			near |= asks(above.hits)
			if has(above.hits, lexicon.Password) {
				near |= 1 << lexicon.Reset
			}
		}
		if len(above.fold.Folded) > 60 && d >= 2 {
			break
		}
	}
	return near, ifNot, copying
}

// weighURL weighs what the URL says.
func (m *mail) weighURL(e *evidence, t target, w wording) {
	if t.token {
		e.add(1.3, "carries a secret")
	} else if t.opaque {
		e.add(0.7, "carries something that looks like a secret")
	}
	wanted := m.purpose.subject | m.purpose.opening | w.own
	switch {
	case t.asks == onlyLogin && !t.token:
	case t.asks&wanted != 0:
		e.add(1.2, "its path says so too: %s", t.asks&wanted)
	case t.asks != 0 && !t.footer:
		e.add(0.5, "its path asks: %s", t.asks)
	}
	if t.forRequest() {
		e.add(1, "asks by its path and carries a secret")
	}
	if t.root {
		e.add(-3, "leads to a front page")
	}
	if t.footer && t.asks == 0 {
		e.add(-3, "leads to what footers link to")
	}
	if t.refuse {
		e.add(-2.5, "its path undoes or refuses")
	}
	if t.campaign {
		e.add(-1.5, "carries the marks of a campaign")
	}
}

// onlyLogin is the set with just signing in, a purpose that many pages have.
const onlyLogin = set(1 << lexicon.Login)

func (m *mail) button(p *page, places []int) bool {
	for _, i := range places {
		if p.links[i].button {
			return true
		}
	}
	return false
}

// context weighs what the whole message is about.
func (m *mail) context(e *evidence, w wording, t target, hasCode bool) {
	p := &m.purpose
	asked := p.subject != 0
	switch {
	case !asked && p.notice >= 2 && w.own&^onlyLogin != 0 && (t.token || w.near&^onlyLogin != 0):
		e.add(-1.8, "the subject tells what has happened")
	case !asked && p.notice >= 2:
		e.add(-3, "the mail tells what has happened")
	case !asked && p.notice >= 1:
		e.add(-1.5, "the mail tells what has happened")
	case p.notice >= 2:
		e.add(-1, "the subject tells what has happened")
	}
	switch {
	case p.trade >= 2 && w.own&p.subject == 0 && !(w.bare && asked):
		e.add(-3, "the mail is about orders, offers or news")
	case p.trade >= 2:
		e.add(-0.8, "the mail is about orders, offers or news")
	case p.trade >= 1.5 && !asked:
		e.add(-1, "the mail is about orders, offers or news")
	}
	if w.own == 0 && asked && (p.subject != onlyLogin || t.token) {
		e.add(0.8, "the subject asks for something: %s", p.subject)
	}
	if w.own == onlyLogin && !t.token && !p.subject.has(lexicon.Login) {
		e.add(-4, "a mere way to sign in")
	}
	if hasCode && !t.token && t.asks == 0 {
		e.add(-1, "the mail has a code")
	}
}

// String names the classes in a set.
func (s set) String() string {
	var names []string
	for _, c := range purposes {
		if s.has(c) {
			names = append(names, c.String())
		}
	}
	return strings.Join(names, ", ")
}
