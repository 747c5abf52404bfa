// Package find finds the one-time code and the link that a reader would take from a message.
// Candidates are found by shape (package candidate). Features say what holds for each: the words near
// it in the language of the message (package lexicon), how it stands out, where else it occurs. A
// table of weights, fitted to the fixtures, says what each feature is worth. Below a threshold
// nothing is found.
package find

import (
	"strings"

	"mayfly/render/doc"
	"mayfly/render/lexicon"
)

// Input is a message as its reader sees it.
type Input struct {
	Subject, Preheader string
	Doc                *doc.Document // the body that is shown
	Text               *doc.Document // the text part beside it; nil if there is none
}

// Code is a one-time code, or a candidate for it.
type Code struct {
	Value   string // as it is entered: groups of digits are joined, since forms expect that
	Score   float64
	Reasons []Reason
}

// Link is the link that the message is about, or a candidate for it.
type Link struct {
	N               int // number in the document; 0 if it is only in the text part
	URL, Text, Host string
	Score           float64
	Reasons         []Reason
}

// Result is what was found, the best first. Only if CodeOK or LinkOK is true is the first one the
// code or the link.
type Result struct {
	Codes  []Code
	CodeOK bool
	Links  []Link
	LinkOK bool
}

// Parts is what was found in a message, and in each of its bodies as if it were the only one.
// Without a second body all three are the same.
type Parts struct {
	Result
	Doc, Text Result
}

// Find finds the code and the link of a message, and reads each of its bodies once. It takes
// bounded time, linear in the size of the message.
func Find(in Input) Parts {
	m := read(in)
	all := m.find()
	if m.text == nil {
		return Parts{all, all, all}
	}
	return Parts{Result: all, Doc: m.alone(m.body, m.preheader), Text: m.alone(m.text, line{})}
}

// alone searches one body as if it were the only one.
func (m *mail) alone(p *body, preheader line) Result {
	one := *m
	one.preheader, one.body, one.text = preheader, p, nil
	one.purpose = one.purposes()
	return one.find()
}

func (m *mail) find() (r Result) {
	r.Codes, r.CodeOK = m.codes()
	code := ""
	if r.CodeOK {
		code = r.Codes[0].Value
	}
	r.Links, r.LinkOK = m.links(code)
	return r
}

// mail is the message that both searches read.
type mail struct {
	subject   line
	preheader line
	body      *body
	text      *body // nil if there is none
	purpose   purpose
}

// bodies returns the bodies, the one that is shown first.
func (m *mail) bodies() []*body {
	switch {
	case m.text == nil:
		return []*body{m.body}
	case len(m.body.lines) == 0:
		return []*body{m.text}
	}
	return []*body{m.body, m.text}
}

func read(in Input) *mail {
	d := in.Doc
	if d == nil {
		d = &doc.Document{}
	}
	preheader := in.Preheader
	if preheader == "" {
		preheader = d.Preheader
	}
	subject := cut(in.Subject, 1000)
	langs := detect(lexicon.Fold(sample(subject, preheader, d, in.Text)), d.Lang)
	m := &mail{body: newBody(d, langs)}
	if in.Text != nil {
		m.text = newBody(in.Text, langs)
	}
	m.subject = m.body.aside(subject, langs)
	m.preheader = m.body.aside(cut(preheader, 1000), langs)
	m.purpose = m.purposes()
	return m
}

// sample returns the text by which to detect the language: subject, preheader and the beginning of
// the bodies.
func sample(subject, preheader string, docs ...*doc.Document) string {
	const most = 12 << 10
	var b strings.Builder
	b.WriteString(subject)
	b.WriteByte('\n')
	b.WriteString(preheader)
	for _, d := range docs {
		if d == nil {
			continue
		}
		for leaf := range d.Leaves() {
			for _, s := range leaf.Spans {
				b.WriteByte(' ')
				b.WriteString(cut(s.Text, most))
			}
			if b.Len() > most {
				return b.String()
			}
		}
	}
	return b.String()
}

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
	notices, trade := p.read(m.bodies()[0])
	p.notice = 2*float64(min(1, count(m.subject.hits, lexicon.Notice))) + 0.5*float64(min(notices, 3))
	p.trade = 2*float64(min(1, count(m.subject.hits, lexicon.Commerce))) + 0.25*float64(min(trade, 8))
	p.mentionsCode = p.opening != 0
	for _, body := range m.bodies() {
		p.mentionsCode = p.mentionsCode || body.mentionsCode()
	}
	return p
}

// read notes what a body opens with, and counts the lines that tell what has happened and the words
// of trade.
func (p *purpose) read(body *body) (notices, trade int) {
	seen := 0
	for i := range body.lines {
		l := &body.lines[i]
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

// mentionsCode reports whether a body names a one-time code, how long one is valid, or what to do
// if it was somebody else.
func (p *body) mentionsCode() bool {
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
