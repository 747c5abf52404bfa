package find

import (
	"mayfly/render/find/lexicon"
)

// purposes are what a message may ask its reader to follow a link for.
var purposes = [...]lexicon.Class{
	lexicon.Confirm, lexicon.Login, lexicon.Reset, lexicon.Invite, lexicon.Unlock, lexicon.Change, lexicon.Delete,
}

// purpose is what a message is about, according to its subject and text.
type purpose struct {
	subject      set     // asked in the subject
	opening      set     // asked in headings and the first lines, outside links
	notice       float64 // how much it says that something has happened
	trade        float64 // how much it is about orders, offers or news
	mentionsCode bool    // it has words that accompany one-time codes
}

// set is a set of classes.
type set uint32

func (s set) has(c lexicon.Class) bool { return s&(1<<c) != 0 }

// asks returns the purposes among the hits.
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

// openingLines is how many lines are read for what the message is about.
const openingLines = 6

func (m *mail) purposes() purpose {
	var p purpose
	p.subject = asks(m.subject.hits)
	if has(m.subject.hits, lexicon.Password) && !has(m.subject.hits, lexicon.Notice) {
		p.subject |= 1 << lexicon.Reset
	}
	p.notice = 2 * float64(min(1, count(m.subject.hits, lexicon.Notice)))
	p.trade = 2 * float64(min(1, count(m.subject.hits, lexicon.Commerce)))
	seen := 0
	notices, trade := 0, 0
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
				notices += min(1, count(l.hits, lexicon.Notice))
			}
			trade += count(l.hits, lexicon.Commerce)
		}
	}
	p.mentionsCode = p.opening != 0 || m.page.mentionsCode() || m.text != nil && m.text.mentionsCode()
	p.notice += 0.5 * float64(min(notices, 3))
	p.trade += 0.25 * float64(min(trade, 8))
	return p
}

// mentionsCode reports whether a page names a one-time code, how long one is valid, or what to do
// if it was somebody else.
func (p *page) mentionsCode() bool {
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
