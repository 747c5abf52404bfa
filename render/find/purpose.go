package find

import (
	"mayfly/render/find/lexicon"
)

// purposes are what a mail can ask its reader to follow a link for.
var purposes = [...]lexicon.Class{
	lexicon.Confirm, lexicon.Login, lexicon.Reset, lexicon.Invite, lexicon.Unlock, lexicon.Change, lexicon.Delete,
}

// purpose is what a mail is for, as its subject and its text say.
type purpose struct {
	subject set     // asked for in the subject
	opening set     // asked for in headings and the first lines, links aside
	told    float64 // how much it tells that something has happened
	trade   float64 // how much it is about orders, offers or news
	vouched bool    // it has words that go with one-time codes
}

// set is a set of classes.
type set uint32

func (s set) has(c lexicon.Class) bool { return s&(1<<c) != 0 }

// asks are the purposes among the hits.
func asks(hits []lexicon.Hit) set {
	var s set
	for _, h := range hits {
		for _, c := range purposes {
			if h.Class == c {
				s |= 1 << c
			}
		}
	}
	return s
}

// openingLines are looked at for what the mail is for.
const openingLines = 6

func (m *mail) purposes() purpose {
	var p purpose
	p.subject = asks(m.subject.hits)
	if has(m.subject.hits, lexicon.Password) && !has(m.subject.hits, lexicon.Notice) {
		p.subject |= 1 << lexicon.Reset
	}
	p.told = 2 * float64(min(1, count(m.subject.hits, lexicon.Notice)))
	p.trade = 2 * float64(min(1, count(m.subject.hits, lexicon.Commerce)))
	seen := 0
	told, trade := 0, 0
	pages := []*page{m.page}
	if len(m.page.lines) == 0 && m.text != nil {
		pages = []*page{m.text}
	}
	for _, page := range pages {
		for i := range page.lines {
			l := &page.lines[i]
			if l.footer || has(l.hits, lexicon.Copy) {
				continue
			}
			if len(l.fold.Folded) > 12 && !l.restOf {
				seen++
			}
			if has(l.hits, lexicon.IfNot) {
				continue
			}
			if l.heading || seen <= openingLines {
				p.opening |= asks(l.outer)
				told += min(1, count(l.hits, lexicon.Notice))
			}
			trade += count(l.hits, lexicon.Commerce)
		}
	}
	p.vouched = p.opening != 0 || m.page.vouched() || m.text != nil && m.text.vouched()
	p.told += 0.5 * float64(min(told, 3))
	p.trade += 0.25 * float64(min(trade, 8))
	return p
}

// vouched says whether a page names a one-time code, how long one holds, or what to do if it was somebody else.
func (p *page) vouched() bool {
	for i := range p.lines {
		for _, h := range p.lines[i].hits {
			switch h.Class {
			case lexicon.Strong, lexicon.Expiry, lexicon.IfNot:
				return true
			}
		}
	}
	return false
}
