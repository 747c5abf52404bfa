package find

import (
	"strings"

	"mayfly/render/lexicon"
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

// requests returns the purposes among the hits. A word for a password means to reset one.
func requests(hits []lexicon.Hit) set {
	s := asks(hits)
	if has(hits, lexicon.Password) {
		s |= 1 << lexicon.Reset
	}
	return s
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

// openingLines is how many lines are read for what the message is about.
const openingLines = 6

func (m *mail) purposes() purpose {
	var p purpose
	p.subject = asks(m.subject.hits)
	if !has(m.subject.hits, lexicon.Notice) {
		p.subject = requests(m.subject.hits)
	}
	notices, trade := p.read(m.pages()[0])
	p.notice = 2*float64(min(1, count(m.subject.hits, lexicon.Notice))) + 0.5*float64(min(notices, 3))
	p.trade = 2*float64(min(1, count(m.subject.hits, lexicon.Commerce))) + 0.25*float64(min(trade, 8))
	p.mentionsCode = p.opening != 0
	for _, page := range m.pages() {
		p.mentionsCode = p.mentionsCode || page.mentionsCode()
	}
	return p
}

// read notes what a page opens with, and counts the lines that tell what has happened and the words
// of trade.
func (p *purpose) read(page *page) (notices, trade int) {
	seen := 0
	for i := range page.lines {
		l := &page.lines[i]
		if l.footer {
			continue
		}
		seen++
		if l.heading || seen <= openingLines {
			p.opening |= asks(l.outer)
			notices += min(1, count(l.hits, lexicon.Notice))
		}
		trade += count(l.hits, lexicon.Commerce)
	}
	return notices, trade
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
