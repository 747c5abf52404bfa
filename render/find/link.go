package find

import (
	"slices"
	"strings"

	"mayfly/render/lexicon"
)

// link is a candidate for the link, with what its features ask for. It may occur several times.
type link struct {
	mail    *mail
	body    *body
	target  target
	n       int  // number in the document
	hasCode bool // the mail has a code, which the link does not carry
	only    bool // the only link of the text, footer and front pages aside

	own     set // purposes named by the link's own text
	near    set // purposes named in its sentence or right above
	button  bool
	bare    bool // its text is the URL itself
	says    set  // purposes named by the sentence before a bare URL
	generic bool // "click here"
	ifNot   bool // for those who did not ask
	footer  bool // named like the links of a footer
	refuses bool
	title   bool // its text is part of the subject, as the title of an issue is
	trade   bool // its text is about orders, offers or news
}

// links returns the links worth showing beside the code of the message, "" without one, and whether the first is the one the message is about.
func (m *mail) links(code string) ([]Link, bool) {
	all, ok := m.linksOf(m.body, code)
	if ok || m.text == nil {
		return all, ok
	}
	others, found := m.linksOf(m.text, code)
	if !found {
		return all, false
	}
	for i := range others {
		others[i].N = 0
		for _, l := range m.body.doc.Links {
			if l.URL == others[i].URL {
				others[i].N = l.N
			}
		}
	}
	return others, true
}

func (m *mail) linksOf(p *body, code string) ([]Link, bool) {
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

// candidates returns the links of a body that lead to a page of the web.
func (p *body) candidates(m *mail, code string) []link {
	occurrences := make([][]int, len(p.doc.Links)+1)
	for i, a := range p.links {
		if a.n >= 1 && a.n < len(occurrences) {
			occurrences[a.n] = append(occurrences[a.n], i)
		}
	}
	var all []link
	content := 0
	for n := 1; n < len(occurrences); n++ {
		if len(occurrences[n]) == 0 {
			continue
		}
		to := &p.doc.Links[n-1]
		l := link{mail: m, body: p, n: n, target: inspect(to.URL)}
		l.hasCode = code != "" && !strings.Contains(to.URL, code)
		if l.content(occurrences[n]) {
			content++
		}
		if l.target.web() {
			l.read(occurrences[n])
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
func (l *link) content(occurrences []int) bool {
	if l.target.root || l.target.footer {
		return false
	}
	for _, i := range occurrences {
		if a := &l.body.links[i]; !l.body.lines[a.line].footer && !has(a.hits, lexicon.Footer) {
			return true
		}
	}
	return false
}

// read notes what the features ask for, from every occurrence of the link.
func (l *link) read(occurrences []int) {
	for _, i := range occurrences {
		a := &l.body.links[i]
		line := &l.body.lines[a.line]
		l.button = l.button || a.button
		own := requests(a.hits)
		if line.footer && own == 0 {
			continue
		}
		l.own |= own
		l.readText(a, own)
		near, ifNot := l.body.around(a)
		l.near |= near
		l.ifNot = l.ifNot || ifNot
	}
}

// longestName is the most bytes of the name of a page; a longer text is a sentence.
const longestName = 48

// readText notes what the text of the link says, or for a bare URL the text before it.
func (l *link) readText(a *anchor, own set) {
	if a.bare {
		label := l.body.label(a)
		l.bare = true
		l.footer = l.footer || requests(label) == 0 && has(label, lexicon.Footer) && !has(label, lexicon.Copy)
		l.refuses = l.refuses || has(label, lexicon.Refuse)
		l.says |= asks(label)
		l.generic = l.generic || has(label, lexicon.Click) || has(label, lexicon.Copy)
		return
	}
	l.generic = l.generic || a.generic
	l.footer = l.footer || own == 0 && len(a.text) <= longestName && has(a.hits, lexicon.Footer)
	l.title = l.title || len(l.mail.subject.text) > len(a.text)+2 && strings.Contains(l.mail.subject.text, strings.TrimSpace(a.text))
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

// label returns the hits in the last sentence before a bare URL: "Unsubscribe: https://…".
func (p *body) label(a *anchor) []lexicon.Hit {
	l, end := &p.lines[a.line], a.start
	hits := l.before(a)
	if len(hits) == 0 && l.fold.At(a.start) == 0 && a.line > 0 {
		l = &p.lines[a.line-1]
		hits, end = l.hits, len(l.text)
	}
	text := strings.TrimRight(l.text[:end], " .!?。")
	n := len(hits)
	for n > 0 && !sentenceEnds(text[min(l.fold.Source(hits[n-1].Start), len(text)):]) {
		n--
	}
	return hits[n:]
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
func (p *body) around(a *anchor) (near set, ifNot bool) {
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
	ifNot = slices.ContainsFunc(beside, func(h lexicon.Hit) bool {
		if h.Class != lexicon.IfNot {
			return false
		}
		if h.Start >= to {
			return !sentenceEnds(l.text[a.end:l.fold.Source(h.Start)])
		}
		between := l.text[l.fold.Source(h.Start):a.start]
		return strings.ContainsAny(between, "?？؟") || !sentenceEnds(between) // "Not you? Reset your password"
	})
	return near, ifNot
}

// linkModel is what speaks for and against a candidate for the link.
var linkModel = model[*link]{
	// Its text.
	when("its text asks what the subject asks", 4, 4.90, func(l *link) bool { return l.answers() }).about((*link).names),
	when("its text asks what the mail opens with", 3.3, 3.43, func(l *link) bool {
		return !l.answers() && l.own&l.opening() != 0 && !(l.own == onlyLogin && l.reported() >= 2)
	}).about((*link).names),
	when("its text asks", 2.5, 2.34, func(l *link) bool { return l.own != 0 && l.own&(l.subject()|l.opening()) == 0 }).about((*link).names),
	when("a bare or general text", 1, 1.29, func(l *link) bool { return l.own == 0 && (l.bare || l.generic) }),
	when("a button", 1, 0.91, func(l *link) bool { return l.button }),
	when("named like the links of a footer", -4, -4.14, func(l *link) bool { return l.footer }),
	when("about an order, an offer or news", -2.5, -3.04, func(l *link) bool { return l.trade }),
	when("undoes or refuses", -4, -4.00, func(l *link) bool { return l.refuses }),
	when("a mere way to join", -2, -2.60, func(l *link) bool {
		return l.own == onlyInvite && (l.subject()|l.opening()|l.near)&onlyInvite == 0 && !l.isReply()
	}),

	// The text around it.
	when("its sentence asks", 1.2, 1.47, func(l *link) bool { return l.near&^onlyLogin != 0 || l.near != 0 && l.target.token }).about(func(l *link) string { return l.near.String() }),
	when("nothing in the mail asks", -2.5, -2.53, func(l *link) bool {
		return (l.near | l.subject() | l.own | l.target.asks | l.opening()&^onlyLogin) == 0
	}),
	when("for those who did not ask", -4, -4.81, func(l *link) bool { return l.ifNot && !l.answers() }),

	// Its URL.
	when("carries a secret", 1.3, 1.87, func(l *link) bool { return l.target.token }),
	when("carries what looks like a secret", 0.7, 1.71, func(l *link) bool { return l.target.opaque && !l.target.token }),
	when("its path says so too", 1.2, 1.77, func(l *link) bool { return !l.pathOfLogin() && l.target.asks&l.asked() != 0 }).about(func(l *link) string {
		return (l.target.asks & l.asked()).String()
	}),
	when("its path asks", 0.5, 2.14, func(l *link) bool {
		return !l.pathOfLogin() && l.target.asks != 0 && l.target.asks&l.asked() == 0 && !l.target.footer
	}).about(func(l *link) string { return l.target.asks.String() }),
	when("the only link, asks by its path and carries a secret", 2.2, 2.45, func(l *link) bool { return l.only && l.own == 0 && l.target.forRequest() }),
	when("asks nothing by its path, and carries nothing", -2, -3.11, func(l *link) bool {
		return !l.target.made() && !l.target.root && !(l.only && (l.answers() && !l.title || l.isRequested()))
	}),
	when("leads to a front page", -3, -2.41, func(l *link) bool { return l.target.root }),
	when("leads to what footers link to", -3, -3.07, func(l *link) bool {
		return l.target.footer && l.target.asks == 0 && !(l.target.token && (l.own|l.near != 0 || l.subject() == onlyLogin))
	}),
	when("its path undoes or refuses", -8, -8.00, func(l *link) bool {
		return l.target.refuse && !(l.answers() && (!l.refuses || l.mail.subjectHas(lexicon.Refuse)))
	}),
	when("carries the marks of a campaign and no secret", -7, -7.12, func(l *link) bool { return l.target.campaign && !l.target.token && !l.target.opaque }),

	// What the mail is about.
	when("the subject tells what has happened", -3, -2.75, func(l *link) bool { return l.reported() >= 2 && !l.asksDespite() }),
	when("the subject asks, and tells what has happened", -1, -1.41, func(l *link) bool { return l.subject() != 0 && l.mail.purpose.notice >= 2 }),
	when("the mail is about orders, offers or news", -3, -4.26, func(l *link) bool { return l.mail.purpose.trade >= 2 && !l.isReply() }),
	when("the subject asks for something", 0.8, 1.64, func(l *link) bool {
		return l.own == 0 && l.subject() != 0 && (l.near != 0 || l.mail.purpose.notice < 2) && (l.subject() != onlyLogin || l.target.token || l.target.opaque && l.bare)
	}).about(func(l *link) string { return l.subject().String() }),
	when("the mail has a code, which it does not carry", -3.5, -3.55, func(l *link) bool {
		return l.hasCode && !l.target.token && !l.target.opaque && !(l.button && l.target.asks&l.own != 0) && !(l.target.asks != 0 && (l.isReply() || l.only && l.bare && l.target.asks&l.near != 0))
	}),
	when("the mail is about a meeting", -4, -4.18, func(l *link) bool { return l.body.meeting }),
	when("the only link of a short mail, which asks for something", 1, 1.81, func(l *link) bool {
		asks := l.own&^onlyInvite&^onlyLogin != 0 || l.subject() != 0 && (l.own != 0 || l.bare || l.generic)
		return asks && (l.target.made() || l.isRequested()) && l.only && l.body.short && !l.hasCode && l.mail.purpose.trade+l.mail.purpose.notice == 0
	}),
}

// onlyLogin and onlyInvite are the sets with just signing in or joining, purposes that many pages
// have.
const (
	onlyLogin  = set(1 << lexicon.Login)
	onlyInvite = set(1 << lexicon.Invite)
)

func (l *link) subject() set { return l.mail.purpose.subject }
func (l *link) opening() set { return l.mail.purpose.opening }

// asked is what the mail or the link's text asks for.
func (l *link) asked() set { return l.subject() | l.opening() | l.own }

// answers reports whether the link's text asks what the subject asks.
func (l *link) answers() bool { return l.own&l.subject() != 0 }

// isReply reports whether a link is what the mail asks for, whatever else it is about.
func (l *link) isReply() bool {
	asked := l.near & l.target.asks
	return l.answers() || l.bare && l.subject() != 0 || !l.trade && (l.target.forRequest() && asked != 0 || asked&l.subject() != 0)
}

// isRequested reports whether the subject asks for something, and the text of the link, or before a bare one, only says
// to follow it.
func (l *link) isRequested() bool {
	return l.subject() != 0 && l.own == 0 && l.generic && !l.button && !(l.bare && l.target.title)
}

// names returns what the link's text asks, that of the subject first.
func (l *link) names() string {
	for _, of := range []set{l.subject(), l.opening()} {
		if l.own&of != 0 {
			return (l.own & of).String()
		}
	}
	return l.own.String()
}

// pathOfLogin reports whether the path leads to where one signs in, without a secret.
func (l *link) pathOfLogin() bool { return l.target.asks == onlyLogin && !l.target.token }

// reported is how much the mail tells what has happened, if its subject asks nothing.
func (l *link) reported() float64 {
	if l.subject() != 0 {
		return 0
	}
	return l.mail.purpose.notice
}

// asksDespite reports whether a link asks for more than signing in, and is more than a name, or is a URL with a
// secret after a sentence that asks to confirm or unlock. A lock is reported to be undone.
func (l *link) asksDespite() bool {
	if l.own&^onlyLogin == 0 {
		return l.target.token && (l.says.has(lexicon.Confirm) || l.says.has(lexicon.Unlock)) && !l.ifNot
	}
	return l.target.token || l.near&^onlyLogin != 0 || l.own.has(lexicon.Unlock)
}
